"""Opening: told by magic bytes, whatever the name; half an archive is half a log and says so.

A file, the same bytes in memory and a stream that gives them are one log.
"""

import bz2
import contextlib
import functools
import gc
import gzip
import io
import lzma
import os
import random
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xxhash
import zstandard

from postmortem.core.errors import InputError
from postmortem.reading.opener import Opened, open_log
from postmortem.reading.sources import Origin, Stream, Unpacking

Pack = Callable[[bytes], bytes]
Give = Callable[..., Origin]
PACKED = [
    pytest.param(functools.cache(gzip.compress), "gz", id="gz"),
    pytest.param(functools.cache(bz2.compress), "bz2", id="bz2"),
    pytest.param(functools.cache(lzma.compress), "xz", id="xz"),
    pytest.param(functools.cache(zstandard.ZstdCompressor().compress), "zst", id="zst"),
]
RANDOM = random.Random(5)
LOG = "".join(f"line {number} {RANDOM.random()}\n" for number in range(40_000)).encode()


def read_all(opened: Opened, size: int = 1 << 20) -> bytes:
    """Everything that an opened log gives."""
    chunks = []
    while chunk := opened.read(size):
        assert len(chunk) <= size
        chunks.append(chunk)
    return b"".join(chunks)


def write(folder: Path, content: bytes, name: str = "run.log") -> str:
    """A file with this content."""
    path = folder / name
    path.write_bytes(content)
    return str(path)


class Drops:
    """A stream that gives less than it is asked for, as a connection does."""

    def __init__(self, content: bytes) -> None:
        """Take all that it gives."""
        self._content = io.BytesIO(content)

    def read(self, size: int, /) -> bytes:
        """Give some thousand bytes at most."""
        return self._content.read(min(size, 5003))


@pytest.fixture(params=["path", "bytes", "stream", "drops"])
def give(request: pytest.FixtureRequest, tmp_path: Path) -> Give:
    """Make a log of bytes: a file, the bytes themselves, or a stream of them."""

    def origin(content: bytes, name: str = "run.log") -> Origin:
        makers: dict[str, Callable[[], Origin]] = {
            "path": lambda: write(tmp_path, content, name),
            "bytes": lambda: Stream(name, content),
            "stream": lambda: Stream(name, io.BytesIO(content)),
            "drops": lambda: Stream(name, Drops(content)),
        }
        return makers[request.param]()

    return origin


def test_a_plain_file_comes_as_it_is(give: Give) -> None:
    """No magic bytes, no decompression."""
    opened = open_log(give(LOG))
    assert read_all(opened) == LOG
    assert (opened.compression, opened.fault, opened.bytes_read) == (None, None, len(LOG))
    opened.close()


@pytest.mark.parametrize("name", ["run.log", "run.gz", "run", "run.txt.zst"])
@pytest.mark.parametrize(("pack", "kind"), PACKED)
def test_compression_is_told_by_magic_bytes(give: Give, pack: Pack, kind: str, name: str) -> None:
    """The suffix says nothing."""
    opened = open_log(give(pack(LOG), name))
    assert read_all(opened) == LOG
    assert (opened.compression, opened.fault, opened.bytes_read) == (kind, None, len(LOG))
    opened.close()


def test_a_plain_file_may_be_called_gz(give: Give) -> None:
    """A wrong suffix is no error."""
    opened = open_log(give(b"RuntimeError: x\n", "run.log.gz"))
    assert read_all(opened) == b"RuntimeError: x\n"
    opened.close()


@pytest.mark.parametrize(("pack", "kind"), PACKED)
def test_archives_behind_one_another_are_one_log(give: Give, pack: Pack, kind: str) -> None:
    """Rotated and concatenated archives are read to the end."""
    opened = open_log(give(pack(b"one\n") + pack(b"two\n")))
    assert read_all(opened) == b"one\ntwo\n"
    assert (opened.compression, opened.fault) == (kind, None)
    opened.close()


@pytest.mark.parametrize("share", [0.6, 0.95])
@pytest.mark.parametrize(("pack", "kind"), [one for one in PACKED if one.id != "bz2"])
def test_a_cut_archive_gives_what_is_there(give: Give, pack: Pack, kind: str, share: float) -> None:
    """What was unpacked before the break is kept, and the fault names where it broke off."""
    packed = pack(LOG)
    opened = open_log(give(packed[: int(len(packed) * share)]))
    got = read_all(opened)
    assert LOG.startswith(got)
    assert len(got) > (share - 0.45) * len(LOG)
    assert str(opened.fault).startswith(f"{kind} breaks off after {len(got)} bytes")
    assert opened.read(100) == b""
    opened.close()


@pytest.mark.parametrize(("pack", "kind"), PACKED)
def test_a_missing_last_byte_is_a_fault(give: Give, pack: Pack, kind: str) -> None:
    """Even the shortest cut is told, although the text may be whole."""
    opened = open_log(give(pack(b"abc\n" * 100_000)[:-1]))
    got = read_all(opened)
    assert got == b"abc\n" * 100_000 or (b"abc\n" * 100_000).startswith(got)
    assert opened.fault
    opened.close()


def test_a_cut_bz2_of_several_blocks_gives_the_whole_ones(give: Give) -> None:
    """bz2 unpacks block by block of 900 kB: the finished ones are kept."""
    packed = bz2.compress(LOG * 3)
    opened = open_log(give(packed[: len(packed) * 9 // 10]))
    got = read_all(opened)
    assert got
    assert (LOG * 3).startswith(got)
    assert opened.fault
    opened.close()


@pytest.mark.parametrize(("pack", "kind"), [one for one in PACKED if one.id not in {"gz", "bz2"}])
def test_a_garbled_archive_gives_what_stands_before(give: Give, pack: Pack, kind: str) -> None:
    """Wrong bytes in the middle end the reading, not the diagnosis."""
    packed = bytearray(
        pack(LOG) if kind != "xz" else lzma.compress(LOG[:400_000]) + lzma.compress(LOG[400_000:])
    )
    middle = len(packed) * 3 // 4
    packed[middle : middle + 60] = b"\xff" * 60
    opened = open_log(give(bytes(packed)))
    got = read_all(opened)
    assert got
    assert LOG.startswith(got)
    assert opened.fault
    opened.close()


def test_garbage_behind_a_gzip_is_a_fault_and_costs_nothing(give: Give) -> None:
    """What stands before the garbage is whole."""
    opened = open_log(give(gzip.compress(LOG) + b"garbage, no archive"))
    assert read_all(opened) == LOG
    assert opened.fault
    opened.close()


@pytest.mark.parametrize(("pack", "kind"), PACKED)
def test_an_archive_of_which_nothing_can_be_read_is_an_error(
    give: Give, pack: Pack, kind: str
) -> None:
    """The message names the kind, the file and what to do."""
    opened = open_log(give(pack(LOG)[:8]))
    with pytest.raises(InputError) as caught:
        opened.read(1000)
    assert kind in str(caught.value.what)
    assert caught.value.mend
    opened.close()


def test_a_hostile_frame_is_unpacked_in_pieces(give: Give) -> None:
    """A small archive of many zeros never stands in memory as a whole."""
    opened = open_log(give(zstandard.ZstdCompressor().compress(b"\0" * (100 << 20))))
    assert len(opened.read(1 << 16)) <= 1 << 16
    assert opened.bytes_read <= 1 << 16
    opened.close()


def test_an_empty_file_is_an_empty_log(give: Give) -> None:
    """Nothing is read, nothing is wrong."""
    opened = open_log(give(b""))
    assert (opened.read(100), opened.fault, opened.compression) == (b"", None, None)
    opened.close()


@pytest.mark.parametrize(
    ("name", "what"),
    [
        pytest.param("missing.log", "cannot be opened", id="missing"),
        pytest.param(".", "this is a folder", id="folder"),
        pytest.param("run.log/inside", "cannot be opened", id="a file used as a folder"),
    ],
)
def test_what_cannot_be_opened_is_an_input_error(tmp_path: Path, name: str, what: str) -> None:
    """The error names the path and how to mend it."""
    write(tmp_path, b"x")
    with pytest.raises(InputError) as caught:
        open_log(str(tmp_path / name))
    assert str(caught.value.what).startswith(what)
    assert str(tmp_path) in str(caught.value.where)
    assert caught.value.mend


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
)
def test_an_unreadable_file_is_an_input_error(tmp_path: Path) -> None:
    """Missing permission is told as such."""
    path = write(tmp_path, b"x")
    Path(path).chmod(0)
    with pytest.raises(InputError, match="cannot be opened"):
        open_log(path)


@pytest.mark.parametrize(
    ("content", "compression"),
    [
        pytest.param(b"a\nb\n", None, id="plain"),
        pytest.param(gzip.compress(b"a\nb\n"), "gz", id="packed"),
    ],
)
def test_standard_input_is_a_log(
    monkeypatch: pytest.MonkeyPatch, content: bytes, compression: str | None
) -> None:
    """`-` reads what is piped in, packed or not."""

    class Stdin:
        buffer = io.BytesIO(content)

    monkeypatch.setattr(sys, "stdin", Stdin)
    opened = open_log("-")
    assert read_all(opened) == b"a\nb\n"
    assert (opened.path, opened.compression) == ("-", compression)
    opened.close()


@pytest.mark.parametrize(("pack", "kind"), [one for one in PACKED if one.id != "gz"])
def test_an_archive_too_dense_for_a_log_is_read_no_further(
    give: Give, pack: Pack, kind: str
) -> None:
    """Many megabytes of nothing in a few bytes.

    What was read up to the limit counts, and the rest is told.
    """
    opened = open_log(give(pack(b"\0" * (20 << 20))), Unpacking(free=4 << 20))
    got = read_all(opened)
    assert 4 << 20 < len(got) < 20 << 20
    assert (
        str(opened.fault)
        == f"{kind} unpacks to more than 1,000 times its size, as no log does; only its first"
        f" {len(got):,} bytes were read"
    )
    assert opened.fault is not None
    assert f"{len(got):,} 字节" in opened.fault.text("zh")
    opened.close()


def test_an_archive_that_unpacks_to_more_than_can_be_read_is_cut(give: Give) -> None:
    """However it is packed."""
    opened = open_log(give(gzip.compress(LOG)), Unpacking(400_000, free=10_000))
    assert 400_000 < len(read_all(opened, 1000)) < len(LOG)
    assert str(opened.fault) == "gz unpacks to more than 400,000 bytes; the rest was not read"
    opened.close()


@pytest.mark.parametrize(("pack", "kind"), [one for one in PACKED if one.id != "gz"])
def test_packed_streams_share_what_they_may_unpack_to(pack: Pack, kind: str) -> None:
    """What the first has used is not there for the second, and whoever shared it out sees it."""
    shared = Unpacking(most=3 * len(LOG) // 2, free=len(LOG))
    first, second = (open_log(Stream(name, pack(LOG)), shared) for name in ("a", "b"))
    assert read_all(first) == LOG
    assert not shared.is_exceeded
    read_all(second, 1000)
    assert shared.is_exceeded
    assert str(second.fault).startswith(f"{kind} unpacks to more than")


def test_a_log_that_repeats_itself_is_no_bomb(give: Give) -> None:
    """As dense as it likes, as long as it is not large."""
    opened = open_log(
        give(
            zstandard.ZstdCompressor().compress(b"waiting for the other ranks\n" * 1_000_000),
        )
    )
    assert len(read_all(opened)) == 28_000_000
    assert opened.fault is None
    opened.close()


def test_a_file_that_shrinks_while_it_is_read_is_told(tmp_path: Path) -> None:
    """What was there is given."""
    path = write(tmp_path, LOG)
    opened = open_log(path)
    got = opened.read(1000)
    os.truncate(path, 500_000)
    got += read_all(opened)
    assert len(got) == 500_000
    assert (
        str(opened.fault)
        == f"it was shortened while it was read: {len(LOG):,} bytes before, 500,000 read"
    )
    opened.close()


@pytest.mark.parametrize(
    "pack", [pytest.param(bytes, id="plain"), pytest.param(gzip.compress, id="gz")]
)
def test_a_file_that_is_replaced_while_it_is_read_is_told(tmp_path: Path, pack: Pack) -> None:
    """The old one is read to its end; another one now bears its name."""
    path = write(tmp_path, pack(LOG))
    opened = open_log(path)
    got = opened.read(1000)
    Path(write(tmp_path, b"a new run\n", "new")).replace(path)
    assert got + read_all(opened) == LOG
    assert str(opened.fault) == "another file took its name while it was read; this is the old one"
    opened.close()


def test_a_file_that_is_removed_or_grows_while_it_is_read_is_read(tmp_path: Path) -> None:
    """Nothing of it is missing."""
    path = write(tmp_path, LOG)
    opened = open_log(path)
    got = opened.read(1000)
    with Path(path).open("ab") as file:
        file.write(b"more\n")
    Path(path).unlink()
    assert got + read_all(opened) == LOG + b"more\n"
    assert opened.fault is None
    opened.close()


@pytest.mark.parametrize(
    ("path", "what"),
    [
        pytest.param("/dev/zero", "a device, not a file", id="a device without end"),
        pytest.param("/dev/random", "a device, not a file", id="another"),
        pytest.param("socket", "a socket, not a file", id="a socket"),
        pytest.param(
            "pipe", "this is a pipe to which no program writes", id="a pipe without a writer"
        ),
        pytest.param("a\0b", "cannot be opened", id="a name with a NUL"),
    ],
)
def test_what_is_no_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, what: str
) -> None:
    """Instead of reading for ever, or waiting for ever."""
    monkeypatch.setattr("postmortem.reading.opener._PATIENCE", 0.2)
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
        os.mkfifo("pipe")
        with pytest.raises(InputError) as caught:
            open_log(path)
    assert str(caught.value.what).startswith(what)
    assert caught.value.mend


def test_the_empty_device_is_an_empty_log() -> None:
    """It is what scripts name where there is nothing."""
    opened = open_log(os.devnull)
    assert read_all(opened) == b""
    opened.close()


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(LOG, id="a log"),
        pytest.param(gzip.compress(LOG), id="packed"),
        pytest.param(b"", id="nothing"),
    ],
)
@pytest.mark.parametrize("is_named", [True, False])
def test_a_pipe_with_a_writer_is_read_to_its_end(
    tmp_path: Path, content: bytes, *, is_named: bool
) -> None:
    """Also one whose writer comes late, and the shell's `<(command)`, which is a number."""
    if is_named:
        path = str(tmp_path / "pipe")
        os.mkfifo(path)
        writer = threading.Thread(target=lambda: (time.sleep(0.2), Path(path).write_bytes(content)))
    else:
        reading, writing = os.pipe()
        path = f"/dev/fd/{reading}"

        def write_slowly() -> None:
            with os.fdopen(writing, "wb") as file:
                time.sleep(0.2)
                file.write(content)

        writer = threading.Thread(target=write_slowly)
    writer.start()
    opened = open_log(path)
    assert read_all(opened) == (LOG if content else b"")
    assert opened.fault is None
    opened.close()
    writer.join()
    if not is_named:
        os.close(reading)


@pytest.mark.parametrize(("device", "is_refused"), [("/dev/zero", True), (os.devnull, False)])
def test_a_device_as_standard_input(
    monkeypatch: pytest.MonkeyPatch, device: str, *, is_refused: bool
) -> None:
    """One without end is refused there too."""
    with Path(device).open(encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        with (
            pytest.raises(InputError, match="a device") if is_refused else contextlib.nullcontext()
        ):
            opened = open_log("-")
            assert read_all(opened) == b""
            opened.close()


@pytest.mark.parametrize(
    "pack", [pytest.param(bytes, id="plain"), *(one.values[0] for one in PACKED)]
)
def test_the_digest_is_that_of_the_stored_bytes(give: Give, pack: Pack) -> None:
    """However the log comes in, and in however many pieces it is read; known at its end only."""
    content = pack(LOG)
    opened = open_log(give(content))
    assert opened.read(100)
    assert opened.digest is None
    read_all(opened, 70_001)
    assert opened.digest == f"xxh3-128:{xxhash.xxh3_128_hexdigest(content)}"
    opened.close()


def test_one_byte_makes_another_digest(give: Give) -> None:
    """Also where nothing is left of it when it is read: a hole, a mark of an encoding."""
    digests = set()
    for content in (LOG, LOG + b"\0", b"\xef\xbb\xbf" + LOG, b""):
        opened = open_log(give(content))
        read_all(opened)
        digests.add(opened.digest)
        opened.close()
    assert len(digests) == 4


def test_an_archive_that_is_not_read_to_its_end_has_no_digest(give: Give) -> None:
    """Of a bomb only the beginning is read."""
    opened = open_log(give(bz2.compress(b"\0" * (20 << 20)) * 3), Unpacking(free=4 << 20))
    read_all(opened)
    assert opened.fault
    assert opened.digest is None
    opened.close()


@pytest.mark.parametrize("content", [LOG, gzip.compress(LOG)], ids=["plain", "packed"])
def test_a_lent_stream_stays_open(content: bytes) -> None:
    """Whoever opened it closes it, whether it was read to its end or not."""
    for is_whole in (False, True):
        lent = io.BytesIO(content)
        opened = open_log(Stream("run.log", lent))
        assert opened.read(100)
        if is_whole:
            read_all(opened)
        opened.close()
        del opened
        gc.collect()
        assert not lent.closed


def test_a_stream_is_read_from_where_it_stands() -> None:
    """What the caller has read of it is the caller's."""
    lent = io.BytesIO(b"a header\nRuntimeError: x\n")
    lent.readline()
    opened = open_log(Stream("run.log", lent))
    assert read_all(opened) == b"RuntimeError: x\n"
    opened.close()


def test_nothing_is_opened_by_the_name_of_a_stream(tmp_path: Path) -> None:
    """A file of that name is another log."""
    path = write(tmp_path, b"another log\n")
    opened = open_log(Stream(path, b"this log\n"))
    assert read_all(opened) == b"this log\n"
    assert (opened.path, opened.fault) == (path, None)
    opened.close()


class Waiting:
    """A stream that does not block, and has nothing yet."""

    def read(self, _size: int, /) -> bytes:
        """Give nothing, not even an end."""
        return None  # type: ignore[return-value]  # as raw files do


@pytest.mark.parametrize(
    ("stream", "kind"),
    [
        pytest.param(io.StringIO("text\n"), "str", id="text"),
        pytest.param(Waiting(), "NoneType", id="not blocking"),
    ],
)
def test_a_stream_that_gives_no_bytes_is_refused(stream: Any, kind: str) -> None:
    """The message says what it gives and how to open it."""
    with pytest.raises(InputError, match=f"the stream gives {kind}, not bytes") as caught:
        open_log(Stream("run.log", stream))
    assert caught.value.where == "run.log"
    assert "binary mode" in caught.value.mend
