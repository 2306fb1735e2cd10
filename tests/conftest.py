"""What tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared real data; the test is skipped where it is not there."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("WAYFARE_SHARED", beside))
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}; set WAYFARE_SHARED")
    return folder
