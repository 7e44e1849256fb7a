"""List what a case holds besides its texts: conditions that are met, inputs that were handed in.

In: a `Case`, the rules, names of inputs (`given` in the rules). Out: names of the conditions that
hold (anomalies, the end of the run, facts); whether all that would decide an open question has been
handed in already. Not here: signatures and tracebacks (a model of text must know what no rule
knows, and reads the words itself), features (`classifier.text_features`), which cause asks for what
(`patterns/causes`), the sentences (`inference.verdict`).
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from postmortem.core import names
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.inference.predicates import evaluate_condition
from postmortem.diagnosis.inference.rule_matching import RuleIndex, infer_predicate_needs
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.cause_rules import Condition

_OF_TEXT: Final = frozenset({"signature", "traceback"})


def find_active_conditions(case: Case, knowledge: KnowledgeBase) -> list[str]:
    """Name what holds of a run."""
    return [
        *_iter_facts(case),
        *(f"cond {name}" for name in _iter_active_conditions(case, knowledge)),
    ]


def _iter_facts(case: Case) -> Iterator[str]:
    environment = case.environment
    yield from (f"shape {name}" for name in case.anomalies)
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


_LEAST_RECORDS: Final = 3


def is_available(things: Iterable[str], case: Case) -> bool:
    """Say whether all that is named was handed in; of no names nothing was."""
    named = tuple(things)
    return bool(named) and all(_AVAILABLE[name](case) for name in named)


def _has_traceback(case: Case) -> bool:
    """Ask for a traceback with its frames and its last line, in the source that failed first."""
    source = case.first.source if case.first is not None else None
    return any(
        traceback.frames and traceback.exception and source in {None, traceback.source}
        for traceback, _ in case.extract.tracebacks
    )


def _has_environment(case: Case) -> bool:
    known = case.environment
    return any(source.kind == "environment" for source in case.sources) or bool(
        "torch" in known.packages and known.gpus
    )


def _has_every_rank(case: Case) -> bool:
    """Ask for lines of as many processes as the run has; a single process is all there is."""
    extract = case.extract
    wheres = [case.sources[index].where for index in case.logs]
    wheres += [event.finding.where for event in case.events]
    wheres += [series.where for series in extract.series.values()]
    wheres += [traceback.where for traceback, _ in extract.tracebacks]
    ranks = {where.rank for where in wheres if where.rank is not None}
    world = case.environment.world_size
    if world is None:
        return len(ranks) > 1 and len(ranks) == max(ranks) + 1
    return world == 1 or len(ranks) >= world


def _has_series(name: str) -> Callable[[Case], bool]:
    def is_there(case: Case) -> bool:
        return any(
            series.name == name and series.points >= _LEAST_RECORDS
            for series in case.extract.series.values()
        )

    return is_there


_AVAILABLE: Final[Mapping[str, Callable[[Case], bool]]] = {
    "traceback": _has_traceback,
    "environment": _has_environment,
    "precision": lambda case: case.environment.precision is not None,
    "gpu": lambda case: bool(case.environment.gpus),
    "every-rank": _has_every_rank,
    "rank-dumps": lambda case: bool(case.extract.rank_dumps),
    "loss": _has_series(names.LOSS),
    "grad-norm": _has_series(names.GRAD_NORM),
    "oom-line": lambda case: bool(case.signatures("memory.cuda-oom.*")),
}
