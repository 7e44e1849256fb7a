"""Writes the table of wheels in docs/installing.md and its Chinese twin.

For each run-time dependency, platform and Python: is there a wheel, or is a compiler needed?

    python tools/wheel_table.py [--python 3.10 3.11 …]

In: the dependencies of pyproject.toml, and pip, which asks its index as `pip download
--only-binary :all: --no-deps --platform …` would, without loading the wheels (`pip install
--dry-run`). Out: the tables between their marks. Not here: whether the wheels work.
"""

import argparse
import importlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement

ROOT: Final = Path(__file__).resolve().parents[1]
PAGES: Final = (ROOT / "docs" / "installing.md", ROOT / "docs" / "installing.zh.md")
PYTHONS: Final = ("3.10", "3.11", "3.12", "3.13")
PLATFORMS: Final = {
    "Linux x86_64": ("x86_64", ("manylinux_2_28_x86_64", "manylinux2014_x86_64")),
    "Linux aarch64": ("aarch64", ("manylinux_2_28_aarch64", "manylinux2014_aarch64")),
    "macOS arm64": ("arm64", ("macosx_14_0_arm64",)),
    "macOS x86_64": ("x86_64", ("macosx_14_0_x86_64",)),
    "Windows x86_64": ("AMD64", ("win_amd64",)),
}
"""The machine, for the markers of requirements, and the tags of wheels that fit."""

_TABLE: Final = re.compile(r"(<!-- wheels[^\n]*-->\n).*?(?=\n\n|\Z)", re.DOTALL)


def main() -> None:
    """Ask for every wheel, and write both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", nargs="+", default=PYTHONS, help="versions, such as 3.12")
    found = rows(requirements(), parser.parse_args().python)
    table = "\n".join(lines(found))
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        page.write_text(_TABLE.sub(lambda mark: mark[1] + table, text), encoding="utf-8")


def requirements() -> list[Requirement]:
    """Give the run-time dependencies."""
    reader = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    value = reader.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [Requirement(text) for text in value["project"]["dependencies"]]


def rows(
    requirements: Sequence[Requirement], pythons: Sequence[str]
) -> dict[str, dict[str, list[str]]]:
    """Give, for each dependency and platform on which it is needed, the Pythons with a wheel."""
    found: dict[str, dict[str, list[str]]] = {requirement.name: {} for requirement in requirements}
    for platform, (machine, tags) in PLATFORMS.items():
        needed = [requirement for requirement in requirements if is_needed(requirement, machine)]
        for python in pythons:
            there = {*with_wheel(needed, tags, python)}
            for requirement in needed:
                found[requirement.name].setdefault(platform, []).extend(
                    [python] if requirement.name in there else []
                )
    return found


def is_needed(requirement: Requirement, machine: str) -> bool:
    """Whether a platform needs it, by its marker."""
    return requirement.marker is None or requirement.marker.evaluate({"platform_machine": machine})


def with_wheel(
    requirements: Sequence[Requirement], tags: Sequence[str], python: str
) -> Iterator[str]:
    """Give the names of those for which the index has a wheel; all at once if all have one."""
    if _is_found(requirements, tags, python):
        yield from (requirement.name for requirement in requirements)
    elif len(requirements) > 1:
        for requirement in requirements:
            yield from with_wheel([requirement], tags, python)


def _is_found(requirements: Sequence[Requirement], tags: Sequence[str], python: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--no-deps"),
                *("--ignore-installed", "--only-binary", ":all:", "--target", folder),
                *("--python-version", python, "--implementation", "cp"),
                *(part for tag in tags for part in ("--platform", tag)),
                *("--report", str(Path(folder) / "report.json")),
                *(f"{requirement.name}{requirement.specifier}" for requirement in requirements),
            ],
            capture_output=True,
            check=False,
        )
        if done.returncode:
            return False
        report = json.loads((Path(folder) / "report.json").read_text(encoding="utf-8"))
        return len(report["install"]) == len(requirements)


def lines(found: dict[str, dict[str, list[str]]]) -> Iterator[str]:
    """Give the table: the Pythons with a wheel, `-` where the dependency is not needed."""
    yield "| | " + " | ".join(PLATFORMS) + " |"
    yield "|---|" + "---|" * len(PLATFORMS)
    for name, platforms in found.items():
        cells = (_cell(platforms.get(platform)) for platform in PLATFORMS)
        yield f"| `{name}` | " + " | ".join(cells) + " |"


def _cell(pythons: list[str] | None) -> str:
    if pythons is None:
        return "–"
    if (*pythons,) == PYTHONS:
        return f"{PYTHONS[0]}–{PYTHONS[-1]}"
    return ", ".join(pythons) or "✗"


if __name__ == "__main__":
    main()
