"""Write paragraphs, headings, code and commands within a width, in colour or plain.

In: texts and a width in terminal cells. Out: lines; of a paragraph (start, end) positions; of a
command lines to copy: as they are, a shell command folded by a backslash where it is too long, none
where it cannot be shown whole. Not here: the content (`terminal.whole`, `terminal.screen`). Log
text is only ever put into `Text` objects after `core.log_text`, so that neither Rich's markup nor
the terminal interprets it.

Lines break at blanks and between Chinese characters, never in a Latin word that fits on a line. The
rules are those of CLREQ and UAX #14, as far as a report needs them.
"""

import re
from collections.abc import Iterable
from io import StringIO
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from postmortem.core.log_text import compile_lazily, escape_control_characters
from postmortem.report.words import Words

_CLOSING: Final = "）》」』】〕〉”’，。、；：！？…—·％～ー々)]},.;:!?%"
"""Never at the start of a line."""
_OPENING: Final = "（《「『【〔〈“‘([{"
"""Never at the end of a line."""
_WIDE: Final = compile_lazily(
    r"[\u2e80-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)


def wrap_paragraph(text: str, width: int) -> list[tuple[int, int]]:
    """Break a paragraph into lines of at most `width` cells.

    Blanks at a break belong to no line.
    """
    lines: list[tuple[int, int]] = []
    start = end = 0
    for first, last in _split_pieces(text):
        if cell_len(text[start:last]) <= width:
            end = last
            continue
        if end > start:
            lines.append((start, end))
        start = first
        folds = _split_long_piece(text, first, last, width)
        lines += folds[:-1]
        start, end = folds[-1]
    return [*lines, (start, end)]


def _split_pieces(text: str) -> list[tuple[int, int]]:
    """Give what may stand on one line with the next piece or on another.

    Words, and Chinese characters with their punctuation.
    """
    pieces: list[tuple[int, int]] = []
    for word in re.finditer(r"\S+", text):
        start = word.start()
        if pieces and _is_glued(text[pieces[-1][1] - 1], text[start], is_spaced=True):
            start = pieces.pop()[0]
        for index in range(word.start() + 1, word.end()):
            if _may_part(text[index - 1], text[index]):
                pieces.append((start, index))
                start = index
        pieces.append((start, word.end()))
    if pieces:
        pieces[0] = (0, pieces[0][1])  # an indent within the text is kept
    return pieces


def _may_part(before: str, after: str) -> bool:
    """Say whether a line may end between two characters that no blank parts."""
    return bool(_WIDE.match(before) or _WIDE.match(after)) and not _is_glued(before, after)


def _is_glued(before: str, after: str, *, is_spaced: bool = False) -> bool:
    """Say whether punctuation holds two characters together.

    Behind a blank only that of full width does.
    """
    if is_spaced:
        return (after in _CLOSING and bool(_WIDE.match(after))) or (
            before in _OPENING and bool(_WIDE.match(before))
        )
    return after in _CLOSING or before in _OPENING


def _split_long_piece(text: str, first: int, last: int, width: int) -> list[tuple[int, int]]:
    """Cut a piece longer than a line where the line is full, but not before a closing mark."""
    folds = []
    while cell_len(text[first:last]) > width:
        cut = first + 1
        while cell_len(text[first : cut + 1]) <= width:
            cut += 1
        while cut > first + 1 and text[cut] in _CLOSING and not text[cut].isascii():
            cut -= 1
        folds.append((first, cut))
        first = cut
    return [*folds, (first, last)]


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


MOODS: Final = {"good": "bold green", "bad": "bold red", "open": "bold yellow"}
_WIDEST: Final = 116
_NARROWEST: Final = 40
_MORE: Final = "…"


class Paper:
    """Collects lines.

    Prose is wrapped here, so that no line ends in blanks and code is never broken.
    """

    def __init__(self, width: int, words: Words, *, color: bool) -> None:
        self._width = max(width, _NARROWEST)
        self._color = color
        self._lines: list[Text] = []
        self.measure = min(self._width, _WIDEST)
        self.words = words

    def __len__(self) -> int:
        """Count the lines so far."""
        return len(self._lines)

    def say(
        self, text: Text | str, label: Text | str = "", indent: int = 0, most: int | None = None
    ) -> None:
        """Write a paragraph `indent` columns in, a label before its first line.

        Of more than `most` lines the rest is cut.
        """
        body = Text(text) if isinstance(text, str) else text
        head = Text().append_text(
            Text(label) if isinstance(label, str) else label
        )  # a line without a style of its own
        if head.cell_len >= indent and indent:
            self._line(head)
            head = Text("")
        width = max(10, self.measure - indent)
        lines = [
            part[start:end]
            for part in body.split("\n", allow_blank=True)
            for start, end in wrap_paragraph(part.plain, width)
        ]
        for line in (
            lines
            if most is None or len(lines) <= most
            else [*lines[: most - 1], truncate_line(lines[most - 1], width)]
        ):
            head.append(" " * (indent - head.cell_len))
            head.append_text(line)
            head.rstrip()
            self._line(head)
            head = Text("")

    def heading(self, key: str, note: str = "") -> None:
        """Begin a section."""
        self._line(Text(""))
        self.say(
            Text.assemble((self.words(key), "bold cyan"), (f"  {note}" if note else "", "dim"))
        )

    def code(self, snippet: str) -> None:
        """Write a snippet from the first column on, as it is, so that it can be copied."""
        for line in escape_control_characters(snippet).strip("\n").split("\n"):
            self._line(Text(line.rstrip(), style="green"))

    def _line(self, text: Text) -> None:
        """Keep one line; the last guard against a control character that a caller let through."""
        plain = escape_control_characters(text.plain)
        self._lines.append(text if plain == text.plain else Text(plain))

    def finished(self) -> str:
        """Give what was written."""
        out = StringIO()
        console = Console(
            file=out,
            width=self._width,
            color_system="standard" if self._color else None,
            force_terminal=self._color,
            no_color=not self._color,
            markup=False,
            highlight=False,
            emoji=False,
            legacy_windows=False,
            _environ={},
        )
        for line in self._lines:
            console.print(line, soft_wrap=True)
        return out.getvalue()


def truncate_line(line: Text, width: int) -> Text:
    """End a line with an ellipsis, whatever has to go for it."""
    kept = line.copy()
    while cell_len(kept.plain) > width - cell_len(_MORE):
        kept.right_crop(1)
    kept.rstrip()
    return kept.append(_MORE)
