"""A replay by itself: as text, as a comment, as JSON, as a page.

In: a `Replayed`. Out: text. Not here: its section in a report of a log (`markdown`, `terminal`,
`page`), running it (`replay`).
"""

import dataclasses
from typing import Any, Final

from postmortem.core.diagnosis import Replayed
from postmortem.core.message import Message
from postmortem.report.display import translate_replay
from postmortem.report.markdown_text import escape_prose, format_code_block
from postmortem.report.redacted import redact_report
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.replay_texts import iter_replay_sections, list_replay_facts
from postmortem.report.wire import convert_to_json_value, dump_json, get_tool_version
from postmortem.report.words import Words

FORMS: Final = ("terminal", "markdown", "json", "html")
SCHEMA: Final = "postmortem.replay/1"


def render(
    found: Replayed[Message], form: str = "terminal", *, language: str = "en", redact: bool = True
) -> str:
    """Render a replay in one of `FORMS`; the page holds every language, this one first."""
    redactor = Redactor() if redact else None
    if form == "html":
        from postmortem.report.page.replay_article import render_replay  # noqa: PLC0415 -- Jinja

        return render_replay(found, language, redactor)
    shown = redact_report(translate_replay(found, language), redactor)
    if form == "json":
        return dump_json({"schema": SCHEMA} | build_json_values(shown))
    words = Words(language)
    return _render_markdown(shown, words) if form == "markdown" else _render_text(shown, words)


def build_json_values(found: Replayed) -> dict[str, Any]:
    """Give the values as the JSON reports hold them."""
    value: dict[str, Any] = convert_to_json_value(dataclasses.asdict(found))
    return value


def _render_markdown(found: Replayed, words: Words) -> str:
    blocks = [f"### {escape_prose(words('replay.title'))}", escape_prose(found.summary)]
    blocks += [
        f"**{label}**{words('colon')}{escape_prose(value)}"
        for label, value in list_replay_facts(found, words)
    ]
    for title, lines in iter_replay_sections(found, words):
        blocks.append(
            f"**{escape_prose(title)}**\n\n{format_code_block(chr(10).join(lines), 'text')}"
        )
    return "\n\n".join(blocks) + f"\n\n<sub>postmortem {get_tool_version()}</sub>\n"


def _render_text(found: Replayed, words: Words) -> str:
    head = [words("replay.title"), found.summary]
    head += [f"{label}{words('colon')}{value}" for label, value in list_replay_facts(found, words)]
    blocks = ["\n".join(head)]
    for title, lines in iter_replay_sections(found, words):
        blocks.append("\n".join([title, *(f"  {line}" for line in lines)]))
    return "\n\n".join(blocks) + "\n"
