"""What tests of the web room share."""

import pytest

pytest.importorskip("fastapi", reason="the extra `web` is not installed")

from served import build, serving, visiting

from wayfare import Index


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "news.index"
    build(path).close()
    return path


@pytest.fixture(scope="session")
def index(folder):
    with Index.open(folder, read_only=True) as opened:
        yield opened


@pytest.fixture(scope="session")
def client(index):
    with visiting(index) as one:
        yield one


@pytest.fixture(scope="session")
def address(folder):
    with serving(folder) as (url, _):
        yield url
