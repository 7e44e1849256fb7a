"""Writes docs/messages.md.

Which of the messages that programs print the rules know, and what they make of them.

    python tools/messages.py

In: `tests/data/messages/<program>.yaml`, lists of messages as the programs' sources print them
(fields: `Message`). Out: the page. Not here: the rules (`patterns/`); that the page is up to date
and every message is known is held by tests/contracts/test_messages.py.
"""

import collections
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from postmortem import pipeline

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDER: Final = ROOT / "tests" / "data" / "messages"
PAGE: Final = ROOT / "docs" / "messages.md"
FAILURES: Final = frozenset({"cause", "consequence", "warning"})
_MOST_TEXT: Final = 160


@dataclass(frozen=True)
class Message:
    """What a program prints."""

    program: str
    text: str
    """The line or lines as printed, with numbers and names of our own."""
    source: str
    """The file or function that prints it, and in which versions."""
    condition: str
    """What brings it about, in a few words."""
    left_out: str = ""
    """Why no rule knows it; empty for a message that one knows."""
    role: str = ""
    """`harmless`, `warning` or `context` where the message is no failure; empty for a failure."""

    @property
    def roles(self) -> frozenset[str]:
        """The roles that a rule for this message may have."""
        return frozenset({self.role}) if self.role else FAILURES


@dataclass(frozen=True)
class Judged:
    """What the program makes of a message that is a whole log."""

    signatures: dict[str, str]
    """The rules that fire, in the order of the lines, with their roles."""
    cause: str
    """The first of the ranked causes."""
    is_verdict: bool
    """False where the program would rather abstain."""


def messages() -> list[Message]:
    """Read all messages, program by program."""
    return [
        Message(path.stem, **entry)
        for path in sorted(FOLDER.glob("*.yaml"))
        for entry in yaml.safe_load(path.read_text(encoding="utf-8"))
    ]


def judged(message: Message) -> Judged:
    """Give the message to the program as if it were the whole log."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "run.log"
        log.write_text(message.text + "\n", encoding="utf-8")
        found = pipeline.run_pipeline(log, model=None)
    rules = pipeline.get_matcher(()).knowledge.by_id
    return Judged(
        {hit.id: rules[hit.id].role for hit in found.signatures},
        found.causes[0].id,
        is_verdict=found.verdict.cause is not None,
    )


def _code(text: str) -> str:
    """The beginning of a message as code in a table's cell."""
    line = " ⏎ ".join(part.strip() for part in text.strip().splitlines())
    line = line if len(line) <= _MOST_TEXT else line[: _MOST_TEXT - 1] + "…"
    escaped = line.replace("|", "\\|")
    return f"`` {escaped} ``" if "`" in escaped else f"`{escaped}`"


def _row(message: Message) -> str:
    """A message's line of the table."""
    found = judged(message)
    signatures = ", ".join(
        f"{name} ({role})" if role != "cause" else name
        for name, role in found.signatures.items()
        if role in message.roles
    )
    cause = (
        f"left out: {message.left_out}"
        if message.left_out
        else (
            ""
            if message.role in {"harmless", "context"}
            else found.cause
            if found.is_verdict
            else f"({found.cause})"
        )
    )
    return f"| {_code(message.text)} | {signatures} | {cause} |"


def page() -> str:
    """Write the checklist."""
    programs: dict[str, list[Message]] = collections.defaultdict(list)
    for message in messages():
        programs[message.program].append(message)
    count, left = (
        sum(map(len, programs.values())),
        sum(bool(message.left_out) for rows in programs.values() for message in rows),
    )
    parts = [
        "# Messages that are known",
        "",
        "Written by `python tools/messages.py` from `tests/data/messages/`; do not edit.",
        "",
        (
            "What the program makes of a message that is the whole log: the signatures that fire,"
            " and the cause that stands first; in brackets where one line is too little and it"
            " abstains."
        ),
        "",
        f"{count} messages of {len(programs)} programs: {count - left} known, {left} left out.",
        "",
    ]
    for program, rows in programs.items():
        known = sum(not message.left_out for message in rows)
        parts += [
            f"## {program}: {known} of {len(rows)}",
            "",
            "| message | signatures | cause |",
            "|---|---|---|",
            *map(_row, rows),
            "",
        ]
    return "\n".join(parts)


def main() -> None:
    """Write the page."""
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
