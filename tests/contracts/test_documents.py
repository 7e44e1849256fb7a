"""Paths and names that the documents for contributors give exist, so that they age with the code."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("docs/ARCHITECTURE.md", "docs/GLOSSARY.md", "CONTRIBUTING.md")
BASES = (ROOT, ROOT / "postmortem")
QUOTED = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w.<>*-]+(?:/[\w.<>*-]+)*/?")
ENDINGS = (".py", ".yaml", ".json", ".j2", ".txt", ".yml")


def iter_paths(line: str) -> Iterator[tuple[str, str]]:
    """Yield the paths in a line with the function that follows a colon, if any."""
    for quoted in QUOTED.findall(line):
        path, _, name = quoted.partition(": ")
        if PATH.fullmatch(path) and ("/" in path or path.endswith(ENDINGS)):
            yield path, name


def find(path: str, folders: list[Path]) -> list[Path]:
    """Find what a path may mean: below the root, the package, or a folder named before it."""
    pattern = re.sub(r"<[^>]*>", "*", path.rstrip("/"))
    return [found for folder in folders for found in folder.glob(pattern)]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_exist(document: str) -> None:
    """A bare file name stands in the folder of a path before it on its line."""
    missing, seen = [], 0
    for line in (ROOT / document).read_text(encoding="utf-8").splitlines():
        folders = [*BASES]
        for path, name in iter_paths(line):
            if re.search(r"/\d+$", path):  # the name of a format, `postmortem.report/1`
                continue
            seen += 1
            found = find(path, folders)
            folders += [one if one.is_dir() else one.parent for one in found]
            texts = (one.read_text(encoding="utf-8") for one in found if one.is_file())
            if not found or (name and not any(name in text for text in texts)):
                missing.append(f"{path}: {name}" if name else path)
    assert seen
    assert missing == []


def test_the_names_of_the_steps_exist() -> None:
    """Functions that ARCHITECTURE names in its table stand in a file named on the same line."""
    missing = []
    for line in (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines():
        files = [found for path, _ in iter_paths(line) for found in find(path, [*BASES])]
        texts = [one.read_text(encoding="utf-8") for one in files if one.suffix == ".py"]
        names = re.findall(r"`(_?[A-Za-z]+(?:_[A-Za-z]+)+)`", line)
        missing += [name for name in names if not any(name in text for text in texts)]
    assert missing == []


def test_make_runs_what_there_is() -> None:
    """The fast tests of `make check` exist, and `make test` takes the README's test command."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    fast = re.search(r"^FAST := (.*)$", makefile, re.MULTILINE)
    assert fast
    given = [
        prefix + name
        for prefix, names in re.findall(r"\$\(addprefix (\S+), ([^)]*)\)", fast[1])
        for name in names.split()
    ]
    given += [path for path in fast[1].split() if path.startswith("tests/") and path[-3:] == ".py"]
    assert len(given) > 10
    assert [path for path in given if not (ROOT / path).is_file()] == []
    assert "<!-- test command -->" in makefile
