"""Markers that need a tool.

Skipped with a reason where it is missing, failed where the setting demands it.
"""

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest
from harness import venvs

if TYPE_CHECKING:
    from tests.postgresql_server import PostgresqlServer

ROOT = Path(__file__).resolve().parents[1]
# How fast texts are made up says more of what else the machine does than of a test.
# A change is judged by what it changes: only who runs the tests by hand looks for new examples.
hypothesis.settings.register_profile(
    "shared-machine",
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("shared-machine")
os.environ.setdefault("POSTMORTEM_MODEL", "none")  # tests of rules ask the rules alone


def _chromium() -> str | None:
    return next(
        (
            path
            for name in ("chromium", "chromium-browser", "google-chrome")
            if (path := shutil.which(name))
        ),
        None,
    )


def _postgresql() -> Path | None:
    """The folder of PostgreSQL's programs; Debian keeps them off the path, one folder a version."""
    found = shutil.which("initdb")
    folders = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name)
    )
    return Path(found).resolve().parent if found else next(reversed(folders), None)


def _lab_is_ready() -> bool:
    """The environments of the quick sample are there, or this run demands that they be made."""
    return "frameworks" in os.environ.get("POSTMORTEM_REQUIRE", "") or all(
        venvs.ready(name) for name in ("torch", "transformers")
    )


NEEDS = {
    "wheel": (
        "building a wheel needs the module `build`",
        lambda: __import__("importlib.util").util.find_spec("build") is not None,
    ),
    "site": (
        "needs the extra docs",
        lambda: __import__("importlib.util").util.find_spec("material") is not None,
    ),
    "browser": ("needs Chromium on the path", lambda: _chromium() is not None),
    "postgres": (
        "needs the programs of PostgreSQL and psycopg",
        lambda: (
            _postgresql() is not None
            and __import__("importlib.util").util.find_spec("psycopg") is not None
        ),
    ),
    "frameworks": (
        "needs the lab's environments: python sample_logs/lab environments torch transformers",
        _lab_is_ready,
    ),
    "cluster": (
        "needs Ray",
        lambda: __import__("importlib.util").util.find_spec("ray") is not None,
    ),
    "slurm": (
        "needs slurmctld and slurmd on the path, and to be root",
        lambda: (
            os.geteuid() == 0
            and all(shutil.which(name) for name in ("slurmctld", "slurmd", "sbatch", "unshare"))
        ),
    ),
    "gpu": ("needs an NVIDIA GPU", lambda: shutil.which("nvidia-smi") is not None),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, or fail with POSTMORTEM_REQUIRE=name,name, what this machine lacks."""
    required = set(os.environ.get("POSTMORTEM_REQUIRE", "").split(","))
    for name, (reason, is_there) in NEEDS.items():
        marked = [item for item in items if item.get_closest_marker(name)]
        if not marked or is_there():
            continue
        for item in marked:
            item.add_marker(
                pytest.mark.skip(reason=reason)
                if name not in required or name == "gpu"
                else pytest.mark.usefixtures("missing_tool")
            )


@pytest.fixture
def missing_tool() -> None:
    """Fail: this run demands the tool."""
    pytest.fail("POSTMORTEM_REQUIRE demands a tool that this machine lacks")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's path."""
    path = _chromium()
    assert path is not None
    return path


@pytest.fixture(scope="session")
def postgresql() -> Iterator["PostgresqlServer"]:
    """A throwaway server of this process of tests, started when a test first asks for it."""
    from tests.postgresql_server import PostgresqlServer

    programs = _postgresql()
    assert programs is not None
    with PostgresqlServer(programs) as server:
        yield server


@pytest.fixture(scope="session")
def command() -> list[str]:
    """The program as a command of the Python that runs the tests."""
    return [sys.executable, "-m", "postmortem"]


@pytest.fixture(scope="session")
def usual_signals() -> Callable[[], None]:
    """What a process that is sent signals does before it becomes the program.

    Tests that a plain shell has put in the background ignore some, and what they start inherits
    that.
    """

    def restore() -> None:
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)

    return restore
