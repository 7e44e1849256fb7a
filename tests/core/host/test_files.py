"""A file is written whole or not at all, under the name that the user gave."""

import contextlib
import os
import resource
import signal
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from postmortem.core.host import files
from postmortem.core.host.files import replace


@contextlib.contextmanager
def small_files() -> Iterator[None]:
    """Files may grow to 4 KiB only, as on a disk that is full then.

    No fixture, since the limit holds for what pytest writes too.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    """As it was, and nothing beside it."""
    report = tmp_path / "report.html"
    report.write_text("the old one")
    with pytest.raises(OSError, match="too large"), small_files():
        replace(report, b"x" * 10_000)
    assert report.read_text() == "the old one"
    assert list(tmp_path.iterdir()) == [report]


def test_what_does_not_fit_is_not_begun(tmp_path: Path) -> None:
    """Half a report is no report."""
    with pytest.raises(OSError, match="too large"), small_files():
        replace(tmp_path / "report.html", b"x" * 10_000)
    assert list(tmp_path.iterdir()) == []


def _new(folder: Path) -> Path:
    return folder / "report.html"


def _old(folder: Path) -> Path:
    path = folder / "report.html"
    path.write_text("a longer text than the new one")
    return path


def _linked(folder: Path) -> Path:
    (folder / "real").mkdir()
    (folder / "real" / "report.html").write_text("old")
    (folder / "first").symlink_to(Path("real") / "report.html")
    (folder / "link.html").symlink_to("first")
    return folder / "link.html"


def _dangling(folder: Path) -> Path:
    (folder / "link.html").symlink_to("report.html")
    return folder / "link.html"


def _long(folder: Path) -> Path:
    return folder / ("n" * 250 + ".html")


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(_new, id="a new file"),
        pytest.param(_old, id="one that was there"),
        pytest.param(_linked, id="a link to a link"),
        pytest.param(_dangling, id="a link to nothing"),
        pytest.param(_long, id="the longest name there is"),
    ],
)
def test_the_name_leads_to_the_new_text(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    """Links stay links, and nothing is left beside."""
    path = make(tmp_path)
    is_link, before = path.is_symlink(), {one for one in tmp_path.rglob("*") if one.exists()}
    replace(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.is_symlink() == is_link
    assert len({*tmp_path.rglob("*")} - before - {path, path.resolve()}) == 0


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_permissions_stay(tmp_path: Path, mode: int) -> None:
    """Those of the old file are those of the new one."""
    path = _old(tmp_path)
    path.chmod(mode)
    replace(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    """Those that any program's file would have."""
    (tmp_path / "usual").touch()
    replace(tmp_path / "report.html", b"new")
    assert (tmp_path / "report.html").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    """It stays a pipe."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    said: list[bytes] = []
    reader = threading.Thread(target=lambda: said.append(path.read_bytes()))
    reader.start()
    replace(path, b"new")
    reader.join(60)
    assert said == [b"new"]
    assert path.is_fifo()


def test_a_device_is_written_to() -> None:
    """And is one afterwards."""
    replace(Path("/dev/null"), b"new")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(OSError, match="No space left"):
        replace(Path("/dev/full"), b"new")


@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}", "{folder}/link"])
def test_an_open_file_is_written_to_where_it_stands(tmp_path: Path, name: str) -> None:
    """As /dev/stdout is: what is in it already stays, and it stays the same file."""
    path = tmp_path / "all.txt"
    with path.open("wb") as out:
        out.write(b"before ")
        out.flush()
        (tmp_path / "link").symlink_to(f"/dev/fd/{out.fileno()}")
        replace(Path(name.format(out.fileno(), folder=tmp_path)), b"new")
        out.seek(0, os.SEEK_END)
        out.write(b" after")
    assert path.read_bytes() == b"before new after"


@pytest.mark.parametrize("code", sorted(files._NO_NEW_FILE))
def test_a_file_in_a_folder_that_takes_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """It is written to itself: a file that a container has mounted cannot be replaced."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    path = _old(tmp_path)
    identity = path.stat().st_ino
    monkeypatch.setattr(files.Path, "replace", refuse)
    replace(path, b"new")
    assert (path.read_bytes(), path.stat().st_ino) == (b"new", identity)
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_may_not_be_written_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Renaming another file over it would not ask."""
    path = _old(tmp_path)
    monkeypatch.setattr(files.os, "access", lambda *_: False)
    with pytest.raises(PermissionError):
        replace(path, b"new")
    assert path.read_text().startswith("a longer")
