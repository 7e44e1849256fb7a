"""Renewing the versions: what is kept of metadata, what is asked, what is written. No network."""

from pathlib import Path

import pytest
import renew_versions
from packaging.version import Version
from renew_versions import Row, _between, _kept, _ranked, read_known, written

OLD, NEW = Row(">=3.8", ("torch==2.4.0",)), Row(">=3.9", ("torch==2.5.0",))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("torch==2.5.0", "torch==2.5.0"),
        ("torch (==2.1.0+cpu)", "torch==2.1.0"),
        ("Tokenizers<0.22,>=0.21", "tokenizers<0.22,>=0.21"),
        ("huggingface_hub>=0.24", "huggingface-hub>=0.24"),
        ("torch", ""),
        ("requests>=2", ""),
        ("torch>=2; extra == 'test'", ""),
        ("triton==3.1.0; platform_system == 'Linux'", "triton==3.1.0"),
        ("triton==3.1.0; platform_system == 'Windows'", ""),
        ("numpy>=1.26; python_version >= '3.12'", 'numpy>=1.26; python_version >= "3.12"'),
    ],
)
def test_a_requirement_is_kept_as_far_as_it_tells(text: str, kept: str) -> None:
    """Of packages of the list, for every use on Linux; what asks for a Python stays with it."""
    assert _kept(text) == kept


@pytest.mark.parametrize(
    ("name", "version", "rank"),
    [
        ("peft-0.15.0-py3-none-any.whl", "0.15.0", 0),
        ("torch-2.5.0-cp310-cp310-manylinux1_x86_64.whl", "2.5.0", 1),
        ("deepspeed-0.16.0.tar.gz", "0.16.0", 2),
        ("torch-2.5.0-cp310-none-macosx_11_0_arm64.whl", "2.5.0", 3),
        ("peft-0.15.0.zip", None, 9),
    ],
)
def test_the_best_file_is_read(name: str, version: str | None, rank: int) -> None:
    """Wheels for any machine, then for Linux, then sources."""
    assert _ranked(name) == (version and Version(version), rank)


def test_what_lies_between_equal_ends_is_not_asked() -> None:
    """And where the ends differ, the change is found by halving."""
    versions = [Version(f"1.0.{patch}") for patch in range(9)]
    asked: list[Version] = []

    def ask(version: Version) -> Row:
        asked.append(version)
        return NEW if version >= Version("1.0.3") else OLD

    rows = _between(versions, ask)
    assert [rows[one] for one in versions] == [OLD] * 3 + [NEW] * 6
    asked.clear()
    _between(versions[3:], ask)
    assert len(asked) == 2


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    """Neighbours that ask the same share a row; what was withdrawn says so."""
    rows = {
        Version("0.19.0"): OLD,
        Version("0.19.1"): OLD,
        Version("0.20.0"): NEW._replace(is_withdrawn=True),
    }
    file = tmp_path / "versions.json"
    file.write_text(written({"torchvision": rows}), encoding="utf-8")
    assert read_known(file) == {"torchvision": rows}
    assert file.read_text(encoding="utf-8").count('"versions"') == 2
    assert read_known(tmp_path / "none.json") == {}


def test_the_list_is_that_of_the_file() -> None:
    """Each package of the list stands in the file."""
    assert set(read_known(renew_versions.FILE)) == set(renew_versions.SINCE)
