"""The commands that pages tell people to type, as shell scripts.

In: a page of Markdown. Out: its fenced blocks with what stands in comments above them, and of each
the script that is run or the reason why not. Not here: where they are run, and what the reasons
mean (tests/contracts/test_documented_commands.py).

A comment on a line of its own above a block speaks of that block:

    <!-- not run: cluster -->                      none of it, and why
    <!-- not run: installs: pip install -->        not the lines that begin so
    <!-- played: kubectl sbatch -->                programs that a stand-in plays
    <!-- file: my-rules/io.yaml -->                the block is this file

A block whose first line is `# some/file.yaml` is that file as well.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SHELL: Final = frozenset({"bash", "console", "sh", "shell"})
_FENCE: Final = re.compile(r"^( *)```(\w*)\s*$")
_COMMENT: Final = re.compile(r"^ *<!-- (.+) -->\s*$")
_ROW: Final = re.compile(r"^postmortem [a-z]+\b.*$", re.MULTILINE)
_FILE: Final = re.compile(r"\A# ([\w.-][\w./-]*\.(?:ya?ml|toml))\n")


@dataclass(frozen=True)
class CodeBlock:
    """A fenced block of a page."""

    place: str
    """The page and the line of the fence."""
    language: str
    text: str
    notes: tuple[str, ...]

    def noted(self, kind: str) -> list[str]:
        """Give what the comments above say of a kind."""
        return [
            note.removeprefix(f"{kind}: ") for note in self.notes if note.startswith(f"{kind}: ")
        ]

    @property
    def file(self) -> str:
        """The path that the block is the content of, below the folder of the page; else empty."""
        named = self.noted("file")
        first = _FILE.match(self.text)
        return named[0] if named else first[1] if first else ""

    @property
    def played(self) -> frozenset[str]:
        """The programs that are played."""
        return frozenset(name for note in self.noted("played") for name in note.split())

    @property
    def reasons(self) -> list[tuple[str, str]]:
        """Why something is not run, and how the lines begin that are not; empty: no line is."""
        parted = [note.partition(": ") for note in self.noted("not run")]
        return [(reason, beginning) for reason, _, beginning in parted]

    @property
    def commands(self) -> str:
        """What the block tells to type; a table of commands in plain text has one in each row."""
        if self.language in SHELL:
            return re.sub(r"^\$ ", "", self.text, flags=re.MULTILINE)
        rows = _ROW.findall(self.text) if self.language == "text" else []
        return "".join(re.split(r" {2,}", row)[0] + "\n" for row in rows)

    @property
    def script(self) -> str:
        """What is run: the commands without those that have a reason against it."""
        left_out = [beginning for _, beginning in self.reasons]
        return "".join(
            line + "\n"
            for line in self.commands.splitlines()
            if not any(line.startswith(beginning) for beginning in left_out)
        )


def list_code_blocks(page: Path) -> Iterator[CodeBlock]:
    """Give the blocks of a page, in order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        if (fence := _FENCE.match(lines[number])) is None:
            number += 1
            continue
        end = next(
            at for at in range(number + 1, len(lines)) if lines[at].strip() == "```"
        )  # a block that never ends is a fault of the page
        text = "".join(line.removeprefix(fence[1]) + "\n" for line in lines[number + 1 : end])
        notes = tuple(reversed([*_comments_above(lines, number)]))
        yield CodeBlock(f"{page.name}:{number + 1}", fence[2], text, notes)
        number = end + 1


def _comments_above(lines: list[str], number: int) -> Iterator[str]:
    while number > 0 and (comment := _COMMENT.match(lines[number - 1])):
        yield comment[1]
        number -= 1


def without_remarks(script: str) -> str:
    """Give a script as it counts: two that differ only in their comments do the same."""
    return re.sub(r"(?m)(?:^|\s+)#(?: .*)?$", "", script)
