"""What is held against an answer of the program: its schema, its parser, its alphabet.

In: a text in one form. Out: what is wrong with it, or an empty string. Not here: secrets in it
(`trials`).
"""

import functools
import json
import re
import unicodedata
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any, Final

import jsonschema  # type: ignore[import-untyped]
from corpus import ROOT

from postmortem.report.lossless import from_json, to_json
from postmortem.report.markdown_text import LONGEST, count_utf16_units
from postmortem.report.wire import read_schema

_VOID: Final = frozenset(
    {
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    }
)
_COMMAND: Final = re.compile(
    r"::(?:error|warning|notice) [a-z]+=[^:,\r\n]*(?:,[a-z]+=[^:,\r\n]*)*::[^\r\n]*"
)
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")


def encodable(text: str) -> str:
    """Refuse what no file can hold."""
    text.encode("utf-8")
    return ""


def terminal(text: str) -> str:
    """Refuse what steers a terminal."""
    encodable(text)
    steering = sorted(
        {
            hex(ord(char))
            for char in text
            if char != "\n" and unicodedata.category(char) in {"Cc", "Cs"}
        }
    )
    return f"steering characters {steering}" if steering else ""


def colours(text: str) -> str:
    """Refuse what steers a terminal, but for colours."""
    return terminal(_COLOURS.sub("", text))


def json_report(text: str) -> str:
    """Refuse what is no strict JSON, or names no schema."""
    encodable(text)
    _parsed(text)
    return ""


def _parsed(text: str) -> Any:
    return json.loads(text, parse_constant=_refused)


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


@functools.cache
def _validators() -> tuple[Any, Any]:
    sarif = json.loads(
        (ROOT / "tests" / "data" / "sarif-2.1.0.schema.json").read_text(encoding="utf-8")
    )
    return jsonschema.Draft202012Validator(json.loads(read_schema())), jsonschema.Draft4Validator(
        sarif, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER
    )


def _valid(validator: Any, value: Any) -> str:
    error = next(validator.iter_errors(value), None)
    return (
        f"schema: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
        if error is not None
        else ""
    )


def report_text(text: str) -> str:
    """Refuse what is no report by the schema that the program prints."""
    encodable(text)
    return _valid(_validators()[0], _parsed(text)) or (
        "more than one line"
        if text.endswith("}\n") and "\n" in text[:-1] and not text.startswith("{\n")
        else ""
    )


def _sarif(text: str) -> str:
    encodable(text)
    return _valid(_validators()[1], _parsed(text))


def _github(text: str) -> str:
    terminal(text)
    return next(
        (
            f"no command: {line[:100]!r}"
            for line in text.splitlines()
            if not _COMMAND.fullmatch(line)
        ),
        "",
    )


def _markdown(text: str) -> str:
    encodable(text)
    if count_utf16_units(text) > LONGEST:
        return f"{count_utf16_units(text)} units are more than {LONGEST}"
    return "" if text.count("<details") == text.count("</details>") else "details are not closed"


class _Page(HTMLParser):
    """Follows the elements of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.faults: list[str] = []
        self.scripts: list[str] = []
        self._is_data = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        if tag not in _VOID:
            self.open.append(tag)
        self._is_data = tag == "script" and dict(attrs).get("type") == "application/json"
        if self._is_data:
            self.scripts.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Let one go that closes itself."""

    def handle_endtag(self, tag: str) -> None:
        """Close the last one."""
        self._is_data = False
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing, line {self.getpos()[0]}")

    def handle_data(self, data: str) -> None:
        """Keep what the page's script reads."""
        if self._is_data:
            self.scripts[-1] += data


def _html(text: str) -> str:
    encodable(text)
    page = _Page()
    page.feed(text)
    page.close()
    for script in page.scripts:
        _parsed(script)
    return (page.faults or [f"<{page.open[-1]}> is not closed" if page.open else ""])[0]


def _analysis(text: str) -> str:
    """Refuse what does not come back as it was."""
    return "" if to_json(from_json(text)) == text else "it comes back as something else"


CHECKS: Final[dict[str, Callable[[str], str]]] = {
    "terminal": terminal,
    "html": _html,
    "json": report_text,
    "jsonl": report_text,
    "sarif": _sarif,
    "github": _github,
    "markdown": _markdown,
    "analysis": _analysis,
}
