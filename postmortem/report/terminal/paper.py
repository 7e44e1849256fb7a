"""Writes paragraphs, headings and code within a width, in colour or plain.

In: texts. Out: lines. Not here: the content (`terminal.whole`, `terminal.screen`). Log text is only
ever put into `Text` objects after `core.visible`, so that neither Rich's markup nor the terminal
interprets it.
"""

from io import StringIO
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from postmortem.core.visible import escape_control_characters
from postmortem.report.terminal.wrap import wrap_paragraph
from postmortem.report.words import Words

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
