"""The copy of a command's output loses at most what finds no room."""

import os
from pathlib import Path

import pytest

from postmortem.core.host import files as module
from postmortem.core.host.files import KeptLog


class Disk:
    """Stands for `os.write`: takes bytes while it has room."""

    def __init__(self, room: int) -> None:
        """Begin with so much room."""
        self.room = room
        self._write = os.write

    def __call__(self, number: int, data: bytes) -> int:
        """Write what fits."""
        piece = bytes(data)[: self.room]
        if not piece:
            raise OSError(28, "No space left on device")
        self.room -= len(piece)
        return self._write(number, piece)


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other place takes anything."""
    monkeypatch.setattr(module.tempfile, "gettempdir", lambda: "/nowhere")
    monkeypatch.setattr(module, "_MEMORY", "/nowhere/either")


def test_a_disk_that_is_full_for_a_while_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nowhere: None
) -> None:
    """What waited is written once there is room, in order."""
    disk = Disk(10)
    kept = KeptLog(tmp_path / "a.log")
    monkeypatch.setattr(module.os, "write", disk)
    for number in range(10):
        kept.write(f"line {number}\n".encode())
    disk.room = 1000
    kept.write(b"end\n")
    kept.close()
    assert (tmp_path / "a.log").read_text() == "".join(
        f"line {number}\n" for number in range(10)
    ) + "end\n"
    assert kept.problem() == ""


def test_of_too_much_the_oldest_lines_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nowhere: None
) -> None:
    """Whole lines, so that none is pieced together of two; how many bytes is said."""
    disk = Disk(10)
    kept = KeptLog(tmp_path / "a.log", most=20)
    monkeypatch.setattr(module.os, "write", disk)
    text = "".join(f"line {number}\n" for number in range(10))
    for piece in (text[start : start + 3] for start in range(0, len(text), 3)):
        kept.write(piece.encode())
    disk.room = 1000
    kept.close()
    written = (tmp_path / "a.log").read_text()
    assert written == "line 0\nlin\nline 8\nline 9\n"
    assert kept.lost == len(text) - len(written) + 1  # the line's end that was put in
    assert f"{kept.lost} bytes are lost" in kept.problem()


def test_the_end_goes_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a file whose name tells whose end it is."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setattr(module.tempfile, "gettempdir", lambda: str(tmp_path / "elsewhere"))
    kept = KeptLog(tmp_path / "a.log")
    monkeypatch.setattr(module.os, "write", Disk(4))
    kept.write(b"one\ntwo\n")
    kept.write(b"three\n")
    monkeypatch.undo()
    monkeypatch.setattr(module.tempfile, "gettempdir", lambda: str(tmp_path / "elsewhere"))
    full = kept.number
    assert full is not None
    # the disk stays full; other places are not
    os.dup2(os.open("/dev/full", os.O_WRONLY), full)
    kept.close()
    assert (tmp_path / "a.log").read_bytes() == b"one\n"
    assert [path.read_bytes() for path in kept.elsewhere] == [b"two\nthree\n"]
    assert kept.elsewhere[0].name.startswith("a-end-")
    assert "No space left on device; its end is in" in kept.problem()


def test_nothing_is_lost_where_all_fits(tmp_path: Path, nowhere: None) -> None:
    """The usual case: the same bytes, and nothing to say."""
    kept = KeptLog(tmp_path / "a.log")
    data = bytes(range(256)) * 300
    for start in range(0, len(data), 1000):
        kept.write(data[start : start + 1000])
    kept.close()
    assert kept.paths == [tmp_path / "a.log"]
    assert (tmp_path / "a.log").read_bytes() == data
    assert kept.problem() == ""
