"""The short message of a verdict or a triage that is sent to a chat.

In: a `Diagnosis`, or the plain values of `postmortem.triage/1`; what the run is called, the address
of its report; the most bytes that a place takes. Out: a `Notice`, redacted, in one language; its
text with mentions, links and markup defused. Not here: the body of the request that carries it,
sending it (`interfaces.notify`), phrases that the reports share (`report.words`).

Slack parses `<…>` and reads `&` as an escape; Mattermost and Rocket.Chat read Markdown and plain
`@all` in the same request, so both are defused. Feishu, DingTalk and WeCom are sent plain text, in
which Feishu alone still reads a tag: `<at …>`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from postmortem.core.diagnosis import Diagnosis
from postmortem.core.log_text import compile_lazily, format_one_line
from postmortem.core.message import say
from postmortem.report import parts
from postmortem.report.display import format_percent
from postmortem.report.markdown_text import escape_references
from postmortem.report.redacted import prepare_redacted
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.wire import get_tool_version
from postmortem.report.words import PhraseTable, Words
from postmortem.rules.vocabulary import Trait, has_trait

NOTICE: Final = PhraseTable(
    {
        "do": say("To do"),
        "need": say("What would decide"),
        "link": say("Report"),
        "triage": say("triage of {jobs:,} jobs"),
        "groups": say("{groups:,} groups of failures"),
        "groups.new": say("{groups:,} groups of failures, {new:,} of them new"),
        "healthy": say("{count:,} show no failure"),
        "unclassified": say("{count:,} without a cause"),
        "not_judged": say("{count:,} could not be judged"),
        "lost": say("{hours:,.0f} GPU-hours lost"),
        "group": say("{jobs:,} × {title}"),
        "new": say("new"),
        "unnamed": say("No cause named"),
        "more": say("and {count:,} more groups"),
        "between": say("; "),
    }
)


SCHEMA: Final = "postmortem.notice/1"
_SIGNS: Final = {"bad": "\U0001f534", "good": "\U0001f7e2", "open": "\U0001f7e1"}
_LONGEST_NAME: Final = 120
_LONGEST_HEADLINE: Final = 240
_LONGEST_LINE: Final = 400
_FIXES: Final = 2
_NEEDS: Final = 2
_GROUPS: Final = 5


@dataclass(frozen=True, slots=True)
class Notice:
    """A short message, as plain text that no place has been asked about yet."""

    kind: str
    """verdict | triage"""
    mood: str
    """bad | good | open"""
    language: str
    headline: str
    lines: tuple[str, ...]
    """What else is to be said; the first are those that matter most."""
    link: str
    """Of the report; empty if there is none."""
    values: Mapping[str, Any]
    """The same as values, for programs."""

    @property
    def first_line(self) -> str:
        """Give the headline behind a sign for its mood and the program's name."""
        return f"{_SIGNS[self.mood]} postmortem: {self.headline}"

    def link_label(self) -> str:
        """Give the word before the link."""
        return NOTICE[self.language]["link"] + Words(self.language)("colon")

    def wire(self) -> dict[str, Any]:
        """Give it as `postmortem.notice/1`."""
        return {
            "schema": SCHEMA,
            "tool": {"name": "postmortem", "version": get_tool_version()},
            "kind": self.kind,
            "mood": self.mood,
            "language": self.language,
            "headline": self.headline,
            "lines": list(self.lines),
            "link": self.link or None,
            "verdict": dict(self.values) if self.kind == "verdict" else None,
            "triage": dict(self.values) if self.kind == "triage" else None,
        }


def build_verdict_notice(
    diagnosis: Diagnosis, *, name: str, link: str = "", redact: bool = True
) -> Notice:
    """Say in a few lines what a run died of and what to do."""
    redactor = Redactor()
    shown = prepare_redacted(diagnosis, redactor if redact else None)
    words = Words(shown.language)
    outcome = parts.format_outcome(shown, shown.outcome, words)
    called = format_one_line(redactor.text(name) if redact else name, _LONGEST_NAME)
    sentence = words("joint").join(part for part in (called, outcome) if part)
    headline = sentence + words("colon") + parts.format_title(shown, words)
    return Notice(
        "verdict",
        parts.get_verdict_color(shown),
        words.language,
        format_one_line(headline, _LONGEST_HEADLINE),
        tuple(
            format_one_line(line, _LONGEST_LINE)
            for line in _iter_verdict_lines(shown, words)
            if line
        ),
        link,
        _build_verdict_values(shown, called, words),
    )


def _iter_verdict_lines(diagnosis: Diagnosis, words: Words) -> Iterator[str]:
    """Yield how sure it is, whose it is, where it began, and what to do or what would decide."""
    verdict, cause = diagnosis.verdict, parts.get_main_cause(diagnosis)
    phrases = NOTICE[words.language]
    named = () if verdict.cause is None else (verdict.cause,)
    yield " · ".join(part for part in (*named, parts.format_confidence(diagnosis, words)) if part)
    yield parts.format_owner_and_retry(diagnosis, words)
    first = parts.describe_first_failure(diagnosis, words)
    yield words("first") + words("colon") + first if first else ""
    fixes = cause.fixes[:_FIXES] if cause is not None else ()
    for fix in fixes:
        yield phrases["do"] + words("colon") + fix.title
    for need in verdict.need[:_NEEDS] if cause is None else ():
        yield phrases["need"] + words("colon") + need.what


def _build_verdict_values(diagnosis: Diagnosis, name: str, words: Words) -> dict[str, Any]:
    verdict, cause = diagnosis.verdict, parts.get_main_cause(diagnosis)
    fixes = cause.fixes[:_FIXES] if cause is not None else ()
    return {
        "name": name,
        "outcome": diagnosis.outcome,
        "cause": verdict.cause,
        "title": parts.format_title(diagnosis, words),
        "probability": verdict.probability,
        "percent": format_percent(verdict.probability),
        "status": verdict.status,
        "whose": verdict.whose,
        "retry": verdict.retry,
        "first_failure": parts.describe_first_failure(diagnosis, words) or None,
        "fixes": [format_one_line(fix.title, _LONGEST_LINE) for fix in fixes],
    }


def build_triage_notice(
    value: Mapping[str, Any], language: str, *, link: str = "", redact: bool = True
) -> Notice:
    """Say in a few lines what many jobs died of: the largest groups first."""
    redactor = Redactor()
    phrases, words = NOTICE[language if language in NOTICE else "en"], Words(language)
    hiding = redactor if redact else None
    groups = [
        _group(group, words.language, hiding)
        for group in value["groups"]
        if not has_trait(group["cause"], Trait.SOUND)
    ]
    new = sum(group["is_new"] for group in groups) if value["since"] is not None else None
    counted = "groups" if new is None else "groups.new"
    headline = (
        phrases["triage"].format(**value["totals"])
        + words("colon")
        + phrases[counted].format(groups=len(groups), new=new)
    )
    lines = [_format_totals(value["totals"], phrases)]
    lines += [_format_group(group, phrases, words) for group in groups[:_GROUPS]]
    if groups[_GROUPS:]:
        lines.append(phrases["more"].format(count=len(groups) - _GROUPS))
    return Notice(
        "triage",
        "bad" if groups else "good",
        words.language,
        format_one_line(headline, _LONGEST_HEADLINE),
        tuple(format_one_line(line, _LONGEST_LINE) for line in lines if line),
        link,
        {
            **value["totals"],
            "groups_in_all": len(groups),
            "new_groups": new,
            "groups": groups[:_GROUPS],
        },
    )


def _format_totals(totals: Mapping[str, Any], phrases: Mapping[str, str]) -> str:
    texts = [
        phrases[key].format(count=totals[key])
        for key in ("healthy", "unclassified", "not_judged")
        if totals[key]
    ]
    if totals["lost_gpu_hours"]:
        texts.append(phrases["lost"].format(hours=totals["lost_gpu_hours"]))
    return phrases["between"].join(texts)


def _group(group: Mapping[str, Any], chosen: str, redactor: Redactor | None) -> dict[str, Any]:
    title = str(group["title"][chosen])
    return {
        "id": str(group["id"]),
        "cause": group["cause"],
        "title": title if redactor is None else redactor.text(title),
        "jobs": int(group["jobs"]),
        "is_new": bool(group["is_new"]),
    }


def _format_group(group: Mapping[str, Any], phrases: Mapping[str, str], words: Words) -> str:
    title = group["title"] or phrases["unnamed"]
    text = phrases["group"].format(jobs=group["jobs"], title=title)
    marks = [mark for mark in (group["cause"], phrases["new"] if group["is_new"] else "") if mark]
    return text + (words("bracketed", text=words("joint").join(marks)) if marks else "")


_GAP: Final = "\u200b"
"""A space of no width parts what must not be read together."""
_ACTIVE: Final = compile_lazily(r"\](?=[(\[])|!(?=\[)|<(?=[/@!#a-z])", re.IGNORECASE)
_ENTITIES: Final = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}


def format_slack_text(notice: Notice, most: int) -> str:
    """Write a message for Slack, Mattermost and Rocket.Chat."""
    address = notice.link.replace("&", "&amp;")
    return _fit_lines(notice, _escape_for_slack, f"<{address}>", most)


def format_plain_text(notice: Notice, most: int) -> str:
    """Write a message of plain text."""
    return _fit_lines(notice, _escape_markup, notice.link, most)


def _escape_for_slack(text: str) -> str:
    return _escape_markup(text).translate(_ENTITIES)


def _escape_markup(text: str) -> str:
    return _ACTIVE.sub(lambda match: match[0] + _GAP, escape_references(text))


def _fit_lines(notice: Notice, defused: Callable[[str], str], address: str, most: int) -> str:
    """Join as many lines as fit; headline and link are always kept."""
    first = defused(notice.first_line)
    last = f"{defused(notice.link_label())}{address}" if notice.link else ""
    room = most - _count_bytes(first) - _count_bytes(last)
    kept = []
    for line in map(defused, notice.lines):
        room -= _count_bytes(line)
        if room < 0:
            break
        kept.append(line)
    return "\n".join(part for part in (first, *kept, last) if part)


def _count_bytes(line: str) -> int:
    return len(line.encode()) + 1
