"""List the conditions that hold of a run besides its texts: anomalies, its end, facts.

In: a `Case`, the rules. Out: names. Not here: signatures and tracebacks (a model of text must know
what no rule knows, and reads the words itself), features (`classifier.hashed_words`).
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.inference.predicates import evaluate_condition
from postmortem.diagnosis.inference.rule_index import RuleIndex, infer_predicate_needs
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.conditions import Condition

_OF_TEXT: Final = frozenset({"signature", "traceback"})


def find_active_conditions(case: Case, knowledge: KnowledgeBase) -> list[str]:
    """Name what holds of a run."""
    return [
        *_iter_facts(case),
        *(f"cond {name}" for name in _iter_active_conditions(case, knowledge)),
    ]


def _iter_facts(case: Case) -> Iterator[str]:
    environment = case.environment
    yield from (f"shape {name}" for name in case.shapes)
    yield f"outcome {case.outcome}"
    known = {
        "precision": environment.precision,
        "exit": environment.exit_status,
        "signal": environment.signal,
    }
    yield from (f"{name} {value}" for name, value in known.items() if value is not None)
    if environment.world_size is not None:
        yield f"world {'one' if environment.world_size == 1 else 'many'}"


def _iter_active_conditions(case: Case, knowledge: KnowledgeBase) -> Iterator[str]:
    """Name the conditions that hold, of those that causes ask and that no text answers."""
    conditions, due = _collect_cause_conditions(knowledge)
    for number in due.of(case):
        if evaluate_condition(conditions[number], case) is not None:
            yield conditions[number].id


@functools.lru_cache(maxsize=4)
def _collect_cause_conditions(knowledge: KnowledgeBase) -> tuple[Sequence[Condition], RuleIndex]:
    """Give the conditions that causes ask and that no text answers, and which of them are due."""
    by_id: dict[str, Condition] = {}
    for rule in knowledge.causes.values():
        for argument in (*rule.supporting, *rule.opposing):
            for condition in (*argument.asked.wanted, *argument.asked.unwanted):
                if condition.meaning:
                    by_id.setdefault(condition.id, condition)
    conditions = [condition for condition in by_id.values() if not _is_of_text(condition.predicate)]
    return conditions, RuleIndex(
        infer_predicate_needs(condition.predicate) for condition in conditions
    )


def _is_of_text(predicate: Any) -> bool:
    if isinstance(predicate, Mapping):
        return any(key in _OF_TEXT or _is_of_text(value) for key, value in predicate.items())
    return isinstance(predicate, (list, tuple)) and any(map(_is_of_text, predicate))
