"""A zip or tar becomes a folder, whatever it says of itself."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from postmortem.core.errors import InputError
from postmortem.reading.bundles import is_bundle, make_plain_path, unpack_bundle
from postmortem.reading.sources import Unpacking
from tests.made_archives import tarred, zipped

Bundle = Callable[[dict[str, bytes]], bytes]


def packed(files: dict[str, bytes]) -> bytes:
    """A tar in gzip."""
    return gzip.compress(tarred(files))


EVERY = pytest.mark.parametrize("bundle", [zipped, tarred, packed])


def laid(folder: Path, content: bytes, unpacking: Unpacking, most: int = 10) -> dict[str, bytes]:
    """The files that come out."""
    below = folder / "out"
    below.mkdir()
    unpack_bundle("all", content, below, unpacking, most)
    return {
        str(path.relative_to(below)): path.read_bytes()
        for path in sorted(below.rglob("*"))
        if path.is_file()
    }


@EVERY
def test_the_files_are_laid_out(tmp_path: Path, bundle: Bundle) -> None:
    """With their folders and their bytes."""
    files = {"job/rank0.log": b"loss 1\n", "job/node1/rank1.log": b"loss 2\n"}
    content = bundle(files)
    assert is_bundle("all", content)
    assert laid(tmp_path, content, Unpacking()) == files


@EVERY
def test_no_file_lies_elsewhere(tmp_path: Path, bundle: Bundle) -> None:
    """Whatever its name says; two that would be one are two."""
    names = ("../../up.log", "/etc/up.log", "up.log", "..\\up.log", "a/../up.log")
    found = laid(tmp_path, bundle(dict.fromkeys(names, b"x")), Unpacking())
    assert sorted(found) == ["a/up.log", "etc/up.log", "up-2.log", "up-3.log", "up.log"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_only_files_are_laid_out(tmp_path: Path) -> None:
    """Neither links, nor devices, nor files that are mostly holes."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as made:
        for kind, name in ((tarfile.SYMTYPE, "link"), (tarfile.CHRTYPE, "null")):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            made.addfile(entry)
        made.addfile(tarfile.TarInfo("run.log"))
    assert laid(tmp_path, target.getvalue(), Unpacking()) == {"run.log": b""}
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as bundle:
        bundle.writestr(link, "/etc/passwd")
        bundle.writestr("run.log", "x")
    (tmp_path / "more").mkdir()
    assert laid(tmp_path / "more", target.getvalue(), Unpacking()) == {"run.log": b"x"}


@pytest.mark.parametrize("bundle", [zipped, packed])
@pytest.mark.parametrize(
    "unpacking",
    [
        pytest.param(Unpacking(most=1 << 20), id="in all"),
        pytest.param(Unpacking(free=1 << 20, times=2), id="for its size"),
    ],
)
def test_no_more_is_laid_out_than_may_be(
    tmp_path: Path, bundle: Bundle, unpacking: Unpacking
) -> None:
    """What comes out counts, not what the bundle says."""
    limit = Unpacking(unpacking.most, unpacking.times, unpacking.free)
    found = laid(tmp_path, bundle({"a": bytes(4 << 20), "b": bytes(4 << 20)}), limit)
    assert limit.is_exceeded
    assert sum(map(len, found.values())) < 4 << 20


@EVERY
def test_too_many_files_are_refused(tmp_path: Path, bundle: Bundle) -> None:
    """However small they are."""
    files = {f"{place}.log": b"" for place in range(4)}
    with pytest.raises(InputError, match="more than 3 files"):
        laid(tmp_path, bundle(files), Unpacking(), most=3)


@pytest.mark.parametrize("keep", [30, 200])
@EVERY
def test_a_broken_bundle_is_told(tmp_path: Path, bundle: Bundle, keep: int) -> None:
    """Or gives what was whole; nothing else is raised."""
    content = bundle({"a.log": bytes(range(256)) * 40, "b.log": b"loss 1\n"})[:-keep]
    with suppress(InputError):
        laid(tmp_path, content, Unpacking())


@pytest.mark.parametrize(
    "content",
    [b"", b"loss 1\n", gzip.compress(b"loss 1\n"), b"PK", b"\x1f\x8b"],
    ids=["nothing", "a log", "a packed log", "half a zip", "half a gzip"],
)
def test_other_bytes_are_none(content: bytes) -> None:
    """A log, a packed log, the beginning of something."""
    assert not is_bundle("run.log", content)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("a/b.log", "a/b.log"),
        ("../..", "log"),
        ("", "log"),
        ("a" * 500, "a" * 120),
        ("/".join("abcdefghijklmnopqrstuvwxyz"), "/".join("klmnopqrstuvwxyz")),
        ("a\0b\nc", "a_b_c"),
        ("日志/训练.log", "日志/训练.log"),
    ],
)
def test_a_name_becomes_a_plain_path(name: str, plain: str) -> None:
    """Short, below, without what steers."""
    assert make_plain_path(name) == plain
