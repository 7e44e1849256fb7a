"""The same tests on a file and on a server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from postmortem.fleet.store import open_store
from postmortem.fleet.store.opened_store import Store


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """What names an empty store."""
    if request.param == "sqlite":
        return str(tmp_path / "store.sqlite")
    return str(request.getfixturevalue("postgresql").new_schema())


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """An opened one."""
    with open_store(url) as opened:
        yield opened
