"""What the traceback of the first failure says of its cause.

In: the case, scored causes, the rules. Out: the traceback that ended the run, whether the user's
own code raised it, and whether a cause rests on more than the class of an exception. Not here: the
weights (`inference.rules`), whose code a file is (`extraction.frames`).
"""

from collections.abc import Iterable
from typing import Final

from postmortem.core.answer import Evidence
from postmortem.core.findings import Traceback, iter_chained
from postmortem.core.message import Message
from postmortem.diagnosis.case.failures import is_consequence
from postmortem.diagnosis.case.specificity import is_any_exception
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.inference.rules import WEIGHTS, ScoredCause
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.exception_rules import Advice, fitting, raised_as
from postmortem.rules.traits import Trait, has_trait

_ENOUGH: Final = WEIGHTS["moderate"] * 0.7
"""The weight from which on evidence speaks for a narrower cause."""
_OF_THE_FAILURE: Final = frozenset({"signature", "traceback", "advisory"})
"""Kinds of evidence that stand in a message, a statement or a frame."""


def failing_traceback(case: Case) -> Traceback | None:
    """Give the traceback of the first failure, the one that a signature found there stands in."""
    first = case.first
    if first is None or first.traceback is not None:
        return first.traceback if first is not None else None
    around = [
        one
        for one in case.tracebacks
        if one.source == first.source and one.line <= first.line <= one.end_line
    ]
    return min(around, key=lambda one: (one.end_line - one.line, -one.line), default=None)


def own_exception(case: Case) -> Traceback | None:
    """Give the traceback of the first failure if the user's own code raised it."""
    failed = failing_traceback(case)
    if failed is None or not failed.exception or is_consequence(failed):
        return None
    return failed if failed.raised_by_user() else None


def has_narrower(scored: Iterable[ScoredCause], knowledge: KnowledgeBase) -> bool:
    """Say whether a cause other than the user's code rests on more than an exception's class."""
    return any(
        not has_trait(cause.id, Trait.USER_EXCEPTION)
        and not has_trait(cause.id, Trait.UNEXPLAINED)
        and sum(item.weight for item in cause.evidence if _is_narrow(item, knowledge)) >= _ENOUGH
        for cause in scored
    )


def find_known_message(
    failed: Traceback, case: Case, knowledge: KnowledgeBase
) -> tuple[Traceback, Advice] | None:
    """Find what is known of a failure's message, or of one that was raised while it was handled.

    A last resort, which fits any message, is nothing known.
    """
    behind = iter_chained(failed, (traceback for traceback, _ in case.gathered.tracebacks))
    for traceback in (failed, *behind):
        raised = raised_as(traceback.exception, traceback.message, traceback.frames)
        found = fitting(raised, knowledge.exceptions)
        if found is not None and not found[0].advice.is_last_resort:
            return traceback, found[0].advice
    return None


def rests_on_message(cause: ScoredCause, knowledge: KnowledgeBase) -> bool:
    """Say whether more than moderate evidence stands in words, not in frames or a class."""
    return any(
        item.kind != "traceback"
        and item.weight > WEIGHTS["moderate"]
        and not (item.id in knowledge.by_id and is_any_exception(knowledge.by_id[item.id]))
        for item in cause.evidence
    )


def is_misuse(failed: Traceback, case: Case, knowledge: KnowledgeBase) -> bool:
    """Say whether the user's code raised an exception, or gave a library what it cannot take."""
    known = find_known_message(failed, case, knowledge)
    return failed.raised_by_user() or (
        known is not None
        and known[0].own_frame() is not None
        and has_trait(known[1].main_cause, Trait.USER_EXCEPTION)
    )


def _is_narrow(item: Evidence[Message], knowledge: KnowledgeBase) -> bool:
    """Say whether an item stands in the failure's words, and is no more than an exception's class.

    What another rule says against a cause counts, whatever it rests on.
    """
    if item.weight < 0:
        return True
    if item.kind not in _OF_THE_FAILURE:
        return False
    rule = knowledge.by_id.get(item.id) if item.kind == "signature" else None
    return rule is None or item.group != rule.group or not is_any_exception(rule)
