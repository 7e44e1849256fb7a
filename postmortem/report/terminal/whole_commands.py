"""Fit a command into a width so that it can be copied, or leave it out.

In: the code of a fix or of what to collect next, its language, a width. Out: lines to copy: as they
are, a shell command folded by a backslash where it is too long; none where it cannot be shown
whole. Not here: how many of them a screen has room for (`terminal.screen`).
"""

from collections.abc import Iterable
from typing import Final

from rich.cells import cell_len

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.visible import escape_control_characters

SHELL: Final = frozenset({"bash", "sh", "shell", "console"})
_MOST_LINES: Final = 3
_MOST_FOLDS: Final = 4
_LONGEST: Final = 1200
_COMMENT: Final = compile_lazily(r"(?<!\s)\s{2,}(?:#|//).*")
_IS_COMMENT: Final = compile_lazily(r"\s*(?:#|//)")
_HEREDOC: Final = compile_lazily(r"<<-?\s*['\"]?\w")
_WORD: Final = compile_lazily(r"(?:[^\s'\"\\]|\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\")+|\S+")
_INDENT: Final = "  "


def wrap_command(code: str, language: str, width: int) -> list[str]:
    """Give the lines of a command within a width.

    Of a shell script that is its first command, of anything else all of it, if it is short.
    """
    lines = [
        line.rstrip()
        for line in escape_control_characters(code).strip("\n").split("\n")
        if line.strip()
    ]
    if not lines or len(code) > _LONGEST:
        return []
    if language in SHELL:
        return _fold_command(_extract_first_command(lines), width)
    for kept in (lines, [_COMMENT.sub("", line) for line in lines if not _IS_COMMENT.match(line)]):
        if 0 < len(kept) <= _MOST_LINES and _fit(kept, width):
            return kept
    return []


def _extract_first_command(lines: list[str]) -> str:
    """Give the first command of a script, its folds undone; none where it reads what follows."""
    if any(_HEREDOC.search(line) for line in lines):
        return ""
    command = ""
    for line in lines:
        if _IS_COMMENT.match(line):
            continue
        command += _COMMENT.sub("", line).strip()
        if not command.endswith("\\"):
            return command
        command = command[:-1].rstrip() + " "
    return ""


def _fold_command(command: str, width: int) -> list[str]:
    """Fold a shell command between its words; none where a word is too long."""
    if cell_len(command) <= width:
        return [command] if command else []
    lines = [""]
    for word in _WORD.findall(command):
        longer = f"{lines[-1]} {word}" if lines[-1].strip() else lines[-1] + word
        if cell_len(longer) + 2 <= width:
            lines[-1] = longer
        else:
            lines[-1:] = _split_before_word(lines[-1], word)
    folded = [f"{line} \\" for line in lines[:-1]] + lines[-1:]
    return folded if len(folded) <= _MOST_FOLDS and _fit(folded, width) and lines[0] else []


def _split_before_word(line: str, word: str) -> tuple[str, str]:
    """Begin a line with a word; an option goes with its value."""
    rest, _, option = line.rpartition(" ")
    if rest.strip() and option.startswith("-") and "=" not in option and word[0] != "-":
        return rest, f"{_INDENT}{option} {word}"
    return line, _INDENT + word


def _fit(lines: Iterable[str], width: int) -> bool:
    return all(cell_len(line) <= width for line in lines)
