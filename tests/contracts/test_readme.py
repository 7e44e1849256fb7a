"""The README tells the truth, in both languages.

Its commands exist, its sample is what is printed, its numbers are those of the rules and of the
recorded samples, its test command is what CI runs. UPDATE_README=1 writes what is printed and
counted.
"""

import collections
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from postmortem.interfaces.cli import COMMANDS
from postmortem.rules.base import load_compiled_rules

ROOT = Path(__file__).resolve().parents[2]
READMES = {"en": ROOT / "README.md", "zh": ROOT / "README.zh.md"}
SAMPLE_LINES = 24
IMAGE_BYTES = 200_000

languages = pytest.mark.parametrize("language", list(READMES))


def read(language: str) -> str:
    """The README in a language."""
    return READMES[language].read_text(encoding="utf-8")


def block(marker: str, text: str) -> str:
    """The fenced block behind a marker."""
    found = re.search(rf"<!-- {marker} -->\n```\w*\n(.*?)```", text, re.DOTALL)
    assert found, f"no block behind <!-- {marker} -->"
    return found[1]


def hold(language: str, wanted: str) -> None:
    """The README is as it should be, or is written so if UPDATE_README is set."""
    if os.environ.get("UPDATE_README"):
        READMES[language].write_text(wanted, encoding="utf-8")
    assert read(language) == wanted


@languages
def test_every_command_is_in_the_readme(language: str) -> None:
    """A command that a user cannot read about does not exist for him."""
    assert [name for name in COMMANDS if f"postmortem {name}" not in read(language)] == []


@languages
def test_the_sample_report_is_what_is_printed(language: str, command: list[str]) -> None:
    """The beginning of the sample's report stands in the README, word for word."""
    sample = ROOT / "sample_logs" / "deepspeed" / "scale-exhausted-yi.log"
    dump = sample.with_suffix(".env")
    done = subprocess.run(
        [*command, "analyze", str(sample), "--env", str(dump), "--lang", language],
        capture_output=True,
        check=True,
        env={**os.environ, "COLUMNS": "100"},
    )
    lines = done.stdout.decode().splitlines()[:SAMPLE_LINES]
    printed = "".join(line.rstrip() + "\n" for line in lines)
    text = read(language)
    begin = "<!-- sample report -->\n```text\n"
    hold(language, text.replace(begin + block("sample report", text), begin + printed))


def areas(entries: Any) -> collections.Counter[str]:
    """How many entries an area has."""
    return collections.Counter(str(name).split(".")[0] for name in entries)


@languages
def test_the_areas_are_those_of_the_rules(language: str) -> None:
    """Each area stands in the table with its numbers; `context` alone explains no failure."""
    rules = load_compiled_rules()
    causes = areas(rules["taxonomy"]["causes"])
    messages = areas(rule["id"] for rule in rules["signatures"])
    text = read(language)
    rows = re.findall(r"^\| `(\w+)` \| \d+ \| \d+ \|", text, re.MULTILINE)
    assert set(rows) == {*causes, *messages} - {"context"}
    hold(
        language,
        re.sub(
            r"^\| `(\w+)` \| \d+ \| \d+ \|",
            lambda row: f"| `{row[1]}` | {causes[row[1]]} | {messages[row[1]]} |",
            text,
            flags=re.MULTILINE,
        ),
    )


@languages
def test_every_stack_is_named(language: str) -> None:
    """By the name that reports give it, without its versions and what stands in parentheses."""
    names = [
        re.split(r" \(| [vV]?\d", str(stack["title"]))[0].removeprefix("PyTorch ")
        for stack in load_compiled_rules()["stacks"]
    ]
    assert [name for name in names if name not in read(language)] == []


@languages
def test_the_accuracy_is_that_of_the_reference(language: str) -> None:
    """docs/causes.md is written by a measurement of all samples."""
    page = (ROOT / "docs" / "causes.md").read_text(encoding="utf-8")
    found = re.search(r"All samples: (\d+) of (\d+) right", page)
    assert found
    said = {
        "en": (r"\d+ of \d+ right", f"{found[1]} of {found[2]} right"),
        "zh": (r"\d+ 个中答对 \d+ 个", f"{found[2]} 个中答对 {found[1]} 个"),
    }
    pattern, right = said[language]
    hold(language, re.sub(pattern, right, read(language)))
    assert right in read(language)


@languages
def test_what_is_linked_is_there(language: str) -> None:
    """Files of the project; pictures are small."""
    links = re.findall(r'\]\(([^)#]+)\)|src="([^"]+)"', read(language))
    paths = [ROOT / (link or picture) for link, picture in links]
    assert [path for path in paths if not path.is_file()] == []
    assert all(p.stat().st_size <= IMAGE_BYTES for p in paths if p.suffix == ".png")


def test_ci_runs_the_readmes_test_command() -> None:
    """.ci/run takes the command from here, so that both are one."""
    assert "pytest" in block("test command", read("en"))
    assert "<!-- test command -->" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
