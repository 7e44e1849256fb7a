"""The exception that a report has to explain, and the rule whose wording it has.

In: the case, the place of the first failure. Out: the rule, what it has captured, where it stands.
Not here: the rules (`rules.exception_rules`), their texts filled (`fixes.worded_advice`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import Finding, Frame, Traceback, iter_chained
from postmortem.core.lazy_regex import compile_lazily
from postmortem.diagnosis.case.values import Case
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.exception_rules import Advice, Raised, fitting, raised_as

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
    tracebacks = [one for one, _ in case.gathered.tracebacks if one.source == source]
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
