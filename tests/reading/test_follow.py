"""A file is followed as it grows, is emptied or is replaced under its name."""

import gzip
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from postmortem.core.errors import InputError
from postmortem.reading.follow import Change, FollowedFile


@pytest.fixture
def follow() -> Iterator[Callable[[Path], FollowedFile]]:
    """Follow files, and let go of them in the end."""
    known: list[FollowedFile] = []

    def one(path: Path) -> FollowedFile:
        known.append(FollowedFile(str(path)))
        return known[-1]

    yield one
    for followed in known:
        followed.close()


def text_of(followed: FollowedFile) -> str:
    """What was added, as text."""
    return b"".join(piece for piece in followed.read_news() if isinstance(piece, bytes)).decode()


def test_a_file_may_come_later_and_grow(
    tmp_path: Path, follow: Callable[[Path], FollowedFile]
) -> None:
    """Nothing is there, then a line, then half a line and its end: each byte is given once."""
    log = tmp_path / "run.log"
    followed = follow(log)
    assert list(followed.read_news()) == []
    assert not followed.is_there
    log.write_text("step 1\n")
    assert list(followed.read_news()) == [Change.FOUND, b"step 1\n"]
    with log.open("a") as out:
        out.write("ste")
        out.flush()
        assert list(followed.read_news()) == [b"ste"]
        out.write("p 2\n")
    assert list(followed.read_news()) == [b"p 2\n"]
    assert list(followed.read_news()) == []


def test_a_replaced_file_is_read_to_its_end_first(
    tmp_path: Path, follow: Callable[[Path], FollowedFile]
) -> None:
    """What was written between the last look and the rotation is not lost.

    Then the new file is read from its beginning.
    """
    log = tmp_path / "run.log"
    log.write_text("step 1\n")
    followed = follow(log)
    list(followed.read_news())
    with log.open("a") as out:
        out.write("step 2\n")
    log.rename(tmp_path / "run.log.1")
    assert list(followed.read_news()) == [b"step 2\n"]  # nothing bears the name yet
    log.write_text("step 3\n")
    assert list(followed.read_news()) == [Change.ROTATED, Change.FOUND, b"step 3\n"]


@pytest.mark.parametrize(
    "now", ["a new run\n", "a new run that has written more than the old one had already\n" * 2]
)
def test_an_emptied_file_is_read_anew(
    tmp_path: Path, follow: Callable[[Path], FollowedFile], now: str
) -> None:
    """It is shorter than before, or has grown beyond where we stood."""
    log = tmp_path / "run.log"
    log.write_text("the old run wrote this line\n")
    followed = follow(log)
    list(followed.read_news())
    with log.open("r+") as out:
        out.truncate(0)
        out.write(now)
    assert list(followed.read_news()) == [Change.TRUNCATED, now.encode()]


def test_a_hole_left_by_a_truncation_is_no_text(
    tmp_path: Path, follow: Callable[[Path], FollowedFile]
) -> None:
    """A program that goes on writing at its old place leaves zeros before it."""
    log = tmp_path / "run.log"
    with log.open("w") as out:
        out.write("step 1\n" * 20)
        out.flush()
        followed = follow(log)
        list(followed.read_news())
        os.truncate(log, 0)
        out.write("step 2\n")
    assert text_of(followed) == "step 2\n"


def test_utf16_is_followed_as_utf8(tmp_path: Path, follow: Callable[[Path], FollowedFile]) -> None:
    """A transcript of PowerShell; a character may be cut between two looks."""
    log = tmp_path / "run.log"
    raw = "第 1 步 loss 2.5\n".encode("utf-16")
    followed = follow(log)
    log.write_bytes(raw[:31])
    first = text_of(followed)
    log.write_bytes(raw)
    assert first + text_of(followed) == "第 1 步 loss 2.5\n"


@pytest.mark.parametrize(
    ("content", "what"),
    [(gzip.compress(b"step 1\n", mtime=0), "gz archive"), (bytes(range(256)) * 4, "binary")],
)
def test_what_does_not_grow_line_by_line_is_refused(
    tmp_path: Path, follow: Callable[[Path], FollowedFile], content: bytes, what: str
) -> None:
    """With what it is, and what to do instead."""
    log = tmp_path / "run.log"
    log.write_bytes(content)
    with pytest.raises(InputError, match=what) as caught:
        list(follow(log).read_news())
    assert str(log) in str(caught.value.where)
    assert caught.value.mend


def test_a_folder_is_refused(tmp_path: Path, follow: Callable[[Path], FollowedFile]) -> None:
    """A folder is listed by the watcher, not followed."""
    with pytest.raises(InputError, match="folder"):
        list(follow(tmp_path).read_news())
