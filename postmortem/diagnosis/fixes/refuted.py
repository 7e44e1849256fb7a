"""Whether a run contradicts a fix: what it would change is so already, or cannot help here.

In: a fix with its snippet filled, the settings, the kinds of action (`patterns/actions.yaml`). Out:
yes or no. Not here: conditions that a fix names itself (`fixes.select`).
"""

from collections.abc import Iterable, Mapping

from postmortem.core.answer import Fix
from postmortem.core.message import Message
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.fixes.in_force import is_in_force
from postmortem.diagnosis.inference.predicates import evaluate_condition
from postmortem.rules.actions import ActionRule
from postmortem.rules.engine import compile_pattern


def is_refuted(
    fix: Fix[Message],
    cause: str,
    case: Case,
    settings: Mapping[str, str],
    actions: Iterable[ActionRule],
) -> bool:
    """Say whether a fix of a cause is contradicted. A check never is: it only looks."""
    if fix.kind == "check":
        return False
    if is_in_force(fix.snippet.en, settings):
        return True
    text = f"{fix.title.en}\n{fix.snippet.en}"
    return any(
        compile_pattern(action.pattern).search(text) is not None
        and any(evaluate_condition(one, case) is not None for one in action.refuted_by)
        for action in actions
        if not action.area or cause.partition(".")[0] == action.area
    )
