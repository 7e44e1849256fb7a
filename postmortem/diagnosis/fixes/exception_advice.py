"""Find the rule for the exception to explain, and word its advice in the names of the log.

In: the case, the place of the first failure, the statement, text around the failure. Out: the rule
whose wording fits, what it has captured, where it stands; an explanation and `Fix`es: what happened
where, and what to do first. Not here: the rules (`rules.exception_rules`), the parts of a message
or statement (`fixes.exception_parts`), general fixes (`fixes.select`).

A place that the log does not fill drops its sentence, its line of code or the whole fix.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.answer import Evidence, Fix
from postmortem.core.findings import Finding, Frame, Traceback, iter_chained
from postmortem.core.log_text import compile_lazily, escape_control_characters
from postmortem.core.message import NOTHING, Message, parse_bilingual, say
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.fixes.close_names import closest, listed_names
from postmortem.diagnosis.fixes.exception_parts import parse_message, parse_statement
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.cause_rules import fill, fill_sentence, translate_comments
from postmortem.rules.exception_rules import Advice, AdviceFix, Raised, fitting, raised_as

_LAST_PART: Final = compile_lazily(
    r"\b(?P<exception>[A-Z]\w*(?:Error|Exception|Interrupt|Warning|Exit|NotFound))(?::\s+(?P<message>.*)|$)",
    16,  # DOTALL
)
_FOLLOWING: Final = frozenset(
    {"ChildFailedError", "CalledProcessError", "ProcessRaisedException", "SystemExit"}
)


_MOST_OTHERS: Final = 8
_MOST_LABELS: Final = 3
"""`main: error: Training failed: …`: words before a message that somebody else puts there."""


class Explained(NamedTuple):
    """Advice that fits a failure."""

    advice: Advice
    captures: Mapping[str, str]
    source: int
    first: int
    """Raw lines of what is explained, both inclusive."""
    last: int
    frame: Frame | None
    """The innermost one of the user's own code."""
    message: str = ""
    entered: str = ""
    """The function that the statement of this frame went into."""


def explained(
    case: Case, knowledge: KnowledgeBase, source: int, line: int, signatures: Iterable[str] = ()
) -> Explained | None:
    """Find the advice for the failure that begins at a line.

    An exception there is asked first, then `signatures`: those that speak for the first cause, the
    strongest first; then the others of the file, and what fits any exception.
    """
    here, elsewhere = (
        [one for candidate in candidates for one in _fit(candidate, knowledge)]
        for candidates in _candidates(case, source, line)
    )
    found = [*here, *elsewhere]
    return (
        next((one for one in here if not one.advice.is_last_resort), None)
        or explain_signature(case, knowledge, signatures)
        or next((one for one in found if not one.advice.is_last_resort), None)
        or next(iter(found), None)
    )


def list_messages(case: Case, source: int, line: int) -> list[str]:
    """Give the messages that stand at the line of a failure, the likeliest first."""
    return [raised.message for _, raised, _ in _candidates(case, source, line)[0]]


def find_exception_rule(text: str, knowledge: KnowledgeBase) -> str:
    """Give the id of the rule that explains a line alone, or nothing."""
    raised = _raised_in(text)
    for one in _without_labels(raised):
        found = fitting(one, knowledge.exceptions)
        if found is not None and not found[0].advice.is_last_resort:
            return found[0].advice.id
    return ""


def _fit(candidate: "_Candidate", knowledge: KnowledgeBase) -> Iterator[Explained]:
    """Yield the advice that fits what may be the failure."""
    (source, first, last), raised, frame = candidate
    for one in _without_labels(raised):
        found = fitting(one, knowledge.exceptions)
        if found is not None:
            rule, captures = found
            yield Explained(
                rule.advice, captures, source, first, last, frame, one.message, one.entered
            )
            return


_Candidate = tuple[tuple[int, int, int], Raised, Frame | None]
"""Source and raw lines, both inclusive; what they show; the frame of the user's own code."""


def _candidates(case: Case, source: int, line: int) -> tuple[list[_Candidate], list[_Candidate]]:
    """Give what may be the failure, the likeliest first: what stands at its line, and the others.

    There are others only where no traceback stands at its line.
    """
    tracebacks = [one for one, _ in case.extract.tracebacks if one.source == source]
    around = [one for one in tracebacks if one.line <= line <= one.end_line]
    around.sort(key=lambda one: (one.end_line - one.line, -one.line))
    findings = [event.finding for event in case.events if event.finding.source == source]
    found = [
        *_chained_behind(around, tracebacks),
        *map(_of_traceback, around),
        *(_of_finding(one) for one in findings if one.line == line),
    ]
    return found, [] if around else _elsewhere(tracebacks, findings)


def _chained_behind(
    around: Sequence[Traceback], tracebacks: Sequence[Traceback]
) -> Iterator[_Candidate]:
    """Yield what was raised while the failure was handled: it tells of the same failure."""
    if around:
        widest = max(around, key=lambda one: one.end_line)
        for behind in iter_chained(widest, tracebacks):
            (source, _, last), raised, frame = _of_traceback(behind)
            yield (source, around[0].line, last), raised, frame


def _elsewhere(tracebacks: Sequence[Traceback], findings: Sequence[Finding]) -> list[_Candidate]:
    own = [one for one in tracebacks if one.exception.rpartition(".")[2] not in _FOLLOWING]
    causes = [one for one in findings if one.role == "cause"]
    return [*map(_of_traceback, own[:_MOST_OTHERS]), *map(_of_finding, causes[:_MOST_OTHERS])]


def _of_traceback(one: Traceback) -> _Candidate:
    return (
        (one.source, one.line, one.end_line),
        raised_as(one.exception, one.message, one.frames),
        one.own_frame(),
    )


def _of_finding(one: Finding) -> _Candidate:
    return (one.source, one.line, one.end_line), _raised_in(one.text), None


def _raised_in(text: str) -> Raised:
    found = _LAST_PART.search(text)
    exception = found["exception"] if found else ""
    return raised_as(exception, (found["message"] or "") if found else text, ())


def _without_labels(raised: Raised) -> Iterator[Raised]:
    """Yield a line that names no class, and what stands behind each of its first colons."""
    yield raised
    text = raised.message
    for _ in range(0 if raised.exception else _MOST_LABELS):
        _, mark, text = text.partition(": ")
        if not mark:
            return
        yield raised._replace(message=text)


def explain_signature(
    case: Case, knowledge: KnowledgeBase, signatures: Iterable[str]
) -> Explained | None:
    """Take the advice of the strongest signature that has its own."""
    for name in signatures:
        rule = knowledge.by_id.get(name)
        own = rule.advice if rule is not None else None
        events = case.signatures(name)
        if own is not None and events:
            found = max(events, key=lambda event: event.factor).finding
            captures = dict(found.captures)
            return Explained(
                own, captures, found.source, found.line, found.end_line, None, found.text
            )
    return None


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
    tail = case.extract.tails.get(found.source, (0, ""))[1]
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
