"""The README tells the truth.

Its commands exist, its sample is what is printed, its test command is what CI runs.
"""

import os
import re
import subprocess
from pathlib import Path

from postmortem.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SAMPLE_LINES = 24


def block(marker: str) -> str:
    """The fenced block behind a marker."""
    found = re.search(rf"<!-- {marker} -->\n```\w*\n(.*?)```", README, re.DOTALL)
    assert found, f"README.md has no block behind <!-- {marker} -->"
    return found[1]


def test_every_command_is_in_the_readme() -> None:
    """A command that a user cannot read about does not exist for him."""
    assert [name for name in COMMANDS if f"postmortem {name}" not in README] == []


def test_the_sample_report_is_what_is_printed(command: list[str]) -> None:
    """The beginning of the sample's report stands in the README, word for word.

    UPDATE_README=1 writes it.
    """
    sample = ROOT / "sample_logs" / "deepspeed" / "scale-exhausted-yi.log"
    done = subprocess.run(
        [*command, "analyze", str(sample), "--env", str(sample.with_suffix(".env"))],
        capture_output=True,
        check=True,
        env={**os.environ, "COLUMNS": "100"},
    )
    printed = (
        "\n".join(line.rstrip() for line in done.stdout.decode().splitlines()[:SAMPLE_LINES]) + "\n"
    )
    if os.environ.get("UPDATE_README"):
        (ROOT / "README.md").write_text(
            README.replace(
                f"<!-- sample report -->\n```text\n{block('sample report')}```",
                f"<!-- sample report -->\n```text\n{printed}```",
            ),
            encoding="utf-8",
        )
        return
    assert block("sample report") == printed


def test_ci_runs_the_readmes_test_command() -> None:
    """.ci/run takes the command from here, so that both are one."""
    assert "pytest" in block("test command")
    assert "<!-- test command -->" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
