"""What tests of every room share."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples each time: what fails here fails everywhere. HYPOTHESIS_PROFILE=explore goes further.
settings.register_profile(
    "house", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", settings.get_profile("house"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Third-party data: beside the checkout, or where WAYFARE_SHARED says."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("WAYFARE_SHARED", beside))
    if not folder.is_dir():
        pytest.skip("the shared data are not beside this checkout, and WAYFARE_SHARED is not set")
    return folder


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the cache of whoever runs it."""
    monkeypatch.setenv("WAYFARE_CACHE", str(tmp_path_factory.mktemp("cache")))
