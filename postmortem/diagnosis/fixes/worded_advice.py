"""The advice of a rule in the names of the log: what happened where, and what to do first.

In: the rule that fits, what it captured, the statement, text around the failure. Out: an
explanation and `Fix`es. A place that the log does not fill drops its sentence, its line of code or
the whole fix. Not here: which rule fits (`fixes.raised`), general fixes (`fixes.select`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.answer import Evidence, Fix
from postmortem.core.findings import Frame
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import NOTHING, Message, parse_bilingual, say
from postmortem.core.visible import escape_control_characters
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.fixes.close_names import closest, listed_names
from postmortem.diagnosis.fixes.message_parts import parse_message
from postmortem.diagnosis.fixes.raised import Explained
from postmortem.diagnosis.fixes.statement_parts import parse_statement
from postmortem.rules.exception_rules import AdviceFix
from postmortem.rules.snippets import fill, fill_sentence, translate_comments

_LONGEST: Final = 160
_EXPRESSION: Final = compile_lazily(
    r"[\w.]{1,200}(?:(?:\['[\w. /-]{1,60}'\]|\[[\w.:, -]{1,40}\]|\(\))[\w.]{0,80}){0,6}"
    r"(?:, [\w.]{1,60}){0,4}"
    r"|(?:\{[\w.]{1,80}=\} ?){1,4}"
)
"""What of a log may stand in code that people copy: names, keys, figures; no call's arguments."""
_WORD: Final = compile_lazily(r"[\w./~][\w.,:=+@/~ -]{0,199}")
"""The same of paths and plain words, which stand between quotes there."""
_PLACE: Final = compile_lazily(r"\$\{(\w{1,80})\}")
_SENTENCES: Final = compile_lazily(r"(?<=[.!?])\s+|(?<=[。！？])")
_FIRST: Final = 4
_GENERAL: Final = 2
"""Fixes of a cause before those of a message that its rule takes for another's."""
_CHANGE: Final = "change"
_PREPARING: Final = ("import ", "from ", "#")
"""Lines of code that alone do nothing."""


class WordedAdvice(NamedTuple):
    """What the message means here, and what to do first."""

    meaning: Message
    """Of the message, in the names of the log."""
    explanation: Message
    """The same behind the place of the user's own statement."""
    fixes: tuple[Fix[Message], ...]
    found: Explained

    def fits(self, cause: str, evidence: Sequence[Evidence[Message]], *, is_best: bool) -> bool:
        """Say whether a cause rests on what is explained here: its strongest evidence does."""
        found = self.found
        if found.advice.is_last_resort and cause not in found.advice.causes:
            return False
        placed = [one for one in evidence if one.weight > 0 and one.line is not None]
        if not placed:
            return is_best
        strongest = max(one.weight for one in placed)
        return any(
            one.source == found.source and found.first <= (one.line or 0) <= found.last
            for one in placed
            if one.weight == strongest
        )

    def before(self, cause: str, general: Sequence[Fix[Message]]) -> tuple[Fix[Message], ...]:
        """Put the fixes of the message before those of a cause, as far as these fit the message.

        A rule that goes by the form of a message steps back where the cause is another one than it
        expects.
        """
        own, advice = self.fixes[:_FIRST], self.found.advice
        if not own:
            return tuple(general)
        is_another = cause not in advice.causes
        if is_another and not advice.is_broad:
            return own
        first, rest = (general[:_GENERAL], general[_GENERAL:]) if is_another else ((), general)
        behind = (one for one in rest if advice.keeps_changes or one.kind != _CHANGE)
        return (*first, *own[: _FIRST - len(first)], *behind)


def word_advice(found: Explained, text: str) -> WordedAdvice:
    """Fill the advice of a rule with what the log shows; `text` stands around the failure."""
    values = _values(found, text)
    words = {name: _in_a_sentence(value) for name, value in values.items()}
    codes = {name: value for name, value in values.items() if _may_stand(value)}
    meaning = found.advice.meaning
    told = _sentences(meaning, words) if meaning is not None else NOTHING
    place = _place(found.frame)
    explanation = told
    if told and place:
        explanation = say("{place} {text}", place=place, text=told)
    fixes: list[Fix[Message]] = []
    for one in found.advice.fixes:
        fix = None if one.is_otherwise and fixes else _fix(one, words, codes)
        if fix is not None:
            fixes.append(fix)
    return WordedAdvice(told, explanation.settled(), tuple(fixes), found)


def _may_stand(value: str) -> bool:
    """Say whether a value may stand in code that people copy."""
    is_harmless = _EXPRESSION.fullmatch(value) or _WORD.fullmatch(value)
    return is_harmless is not None and escape_control_characters(value) == value


def _values(found: Explained, text: str) -> dict[str, str]:
    """Collect what texts may name: captures, parts of statement and message, names of the log."""
    values = {name: value.strip() for name, value in found.captures.items() if value.strip()}
    frame = found.frame
    if frame is not None:
        values |= {"file": _file_name(frame.file), "line": str(frame.line)}
        if frame.code.strip():
            values["statement"] = frame.code.strip()
        parts = parse_statement(frame.code, found.captures, found.entered)
        values = {**parts, **values}
    if found.message.strip():
        values.setdefault("message", found.message.strip().splitlines()[0].rstrip("."))
        values = {**parse_message(found.message), **values}
    wanted = (values.get("key") or values.get("name") or "").strip("'")
    if wanted:
        close = values.get("meant") or closest(wanted, text)
        values |= {"close": close} if close else {}
        shown = listed_names(text, wanted)
        values |= {"shown": shown} if shown else {}
    return values


def text_around(found: Explained, case: Case) -> str:
    """Give what the log shows around a failure, as far as it is kept."""
    tail = case.gathered.tails.get(found.source, (0, ""))[1]
    return f"{tail}\n{found.message}"


def _file_name(path: str) -> str:
    return re.split(r"[/\\]", path)[-1]


def _place(frame: Frame | None) -> Message:
    """Say where the user's own statement stands."""
    if frame is None:
        return NOTHING
    where = {"file": _file_name(frame.file), "line": frame.line}
    statement = _in_a_sentence(frame.code)
    function = "" if frame.function.startswith("<") else frame.function
    if function and statement:
        return say(
            "{file}, line {line}, in `{function}`: `{statement}`.",
            **where,
            function=function,
            statement=statement,
        )
    if statement:
        return say(
            "{file}, line {line}: `{statement}`.",
            **where,
            statement=statement,
        )
    return say("{file}, line {line}.", **where)


def _in_a_sentence(value: str) -> str:
    """Make words of a log fit into a sentence, between backticks."""
    text = " ".join(escape_control_characters(value).replace("`", "'").split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _sentences(texts: Mapping[str, str], values: Mapping[str, str]) -> Message:
    """Fill a text; a sentence with a place that nothing fills is dropped."""

    def filled(text: str) -> str:
        kept = [one for one in _SENTENCES.split(text) if not _gaps(one, values)]
        mark = " " if text == texts["en"] else ""
        return mark.join(fill_sentence(one, values) for one in kept).strip()

    return parse_bilingual(texts).settled(filled)


def _gaps(text: str, values: Mapping[str, str]) -> bool:
    return any(name not in values for name in _PLACE.findall(text))


def _fix(one: AdviceFix, words: Mapping[str, str], codes: Mapping[str, str]) -> Fix[Message] | None:
    if any(_gaps(text, words) for text in one.title.values()):
        return None
    snippet = NOTHING
    if one.snippet is not None:
        snippet = translate_comments(one.snippet).settled(_filled_lines(codes))
    return Fix(
        id=one.id,
        kind=one.kind,
        title=parse_bilingual(one.title).settled(lambda text: fill_sentence(text, words)),
        why=_sentences(one.why, words) if one.why is not None else NOTHING,
        snippet=snippet,
        language=one.snippet.language if one.snippet is not None and snippet else "",
        safety=one.safety,
        references=one.references,
    )


def _filled_lines(values: Mapping[str, str]) -> Callable[[str], str]:
    """Fill code; a line with a place that nothing fills is dropped."""

    def filled(text: str) -> str:
        lines = text.split("\n")
        kept = [line for line in lines if not _gaps(line, values)]
        if len(kept) < len(lines) and all(line.startswith(_PREPARING) for line in kept):
            return ""
        return "\n".join(fill(line, values) for line in kept)

    return filled
