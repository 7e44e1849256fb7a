"""A replay by itself: as text, as a comment, as JSON, as a page.

In: a `Replayed`. Out: text. Not here: its section in a report of a log (`markdown`, `terminal`,
`page`), running it (`replay`).
"""

import dataclasses
from importlib import import_module
from typing import Any, Final

from postmortem.model.replayed import Replayed
from postmortem.model.said import Said
from postmortem.model.wording import worded
from postmortem.redaction.redactor import Redactor
from postmortem.report.markdown_text import fence, prose
from postmortem.report.redacted import redact as hide
from postmortem.report.replay_told import facts, sections
from postmortem.report.wire import json_text, plain_json, tool_version
from postmortem.report.words import Words

FORMS: Final = ("terminal", "markdown", "json", "html")
SCHEMA: Final = "postmortem.replay/1"


def render(
    found: Replayed[Said], form: str = "terminal", *, language: str = "en", redact: bool = True
) -> str:
    """Render a replay in one of `FORMS`; the page holds every language, this one first."""
    redactor = Redactor() if redact else None
    if form == "html":
        page = import_module("postmortem.report.page.replay_article")
        return str(page.render_replay(found, language, redactor))
    shown = in_one_language(found, language)
    shown = hide(shown, redactor) if redactor is not None else shown
    if form == "json":
        return json_text({"schema": SCHEMA} | wire(shown))
    words = Words(language)
    return _markdown(shown, words) if form == "markdown" else _text(shown, words)


def in_one_language(found: Replayed[Said], language: str) -> Replayed:
    """Choose the language of all texts."""
    chosen: Replayed = worded(found, lambda said: said.text(language))
    return chosen


def wire(found: Replayed) -> dict[str, Any]:
    """Give the values as the JSON reports hold them."""
    value: dict[str, Any] = plain_json(dataclasses.asdict(found))
    return value


def _markdown(found: Replayed, words: Words) -> str:
    blocks = [f"### {prose(words('replay.title'))}", prose(found.summary)]
    blocks += [f"**{label}**{words('colon')}{prose(value)}" for label, value in facts(found, words)]
    for title, lines in sections(found, words):
        blocks.append(f"**{prose(title)}**\n\n{fence(chr(10).join(lines), 'text')}")
    return "\n\n".join(blocks) + f"\n\n<sub>postmortem {tool_version()}</sub>\n"


def _text(found: Replayed, words: Words) -> str:
    head = [words("replay.title"), found.summary]
    head += [f"{label}{words('colon')}{value}" for label, value in facts(found, words)]
    blocks = ["\n".join(head)]
    for title, lines in sections(found, words):
        blocks.append("\n".join([title, *(f"  {line}" for line in lines)]))
    return "\n\n".join(blocks) + "\n"
