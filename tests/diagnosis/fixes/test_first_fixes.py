"""The fix that solves what a log prints stands among the first, for the messages of many stacks."""

import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

import postmortem

ROWS: Final = yaml.safe_load(
    (Path(__file__).resolve().parents[2] / "data" / "first_fixes.yaml").read_text(encoding="utf-8")
)
SHOWN: Final = 3


def write_log(row: dict[str, Any]) -> str:
    """Write the log of a row: its exception behind the user's statement and a library's frame."""
    if "log" in row:
        return f"{row['log']}\n"
    path, _, function = str(row.get("at", "")).partition(":")
    library = f'  File "/env/lib/python3.10/site-packages/{path}", line 90, in {function}\n'
    return (
        f"{row.get('before', '$ python train.py')}\nTraceback (most recent call last):\n"
        f'  File "/ws/train.py", line 41, in main\n    {row["code"]}\n'
        f"{library if path else ''}{row['raised']}\n"
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_the_solution_is_among_the_first(row: dict[str, Any]) -> None:
    """It is named in the words of the stack that printed the message."""
    log = postmortem.Stream("run.log", write_log(row).encode())
    fixes = postmortem.analyze(log).causes[0].fixes
    texts = [f"{fix.title}\n{fix.why}\n{fix.snippet}" for fix in fixes]
    assert any(re.search(row["first"], text, re.IGNORECASE) for text in texts[:SHOWN])
    never = row.get("never")
    assert not never or not any(re.search(never, text) for text in texts[:SHOWN])


def test_the_table_is_large_and_names_its_rows() -> None:
    """Each row has a name of its own."""
    assert len({row["name"] for row in ROWS}) == len(ROWS) >= 120
