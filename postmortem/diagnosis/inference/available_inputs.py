"""Check whether what would decide an open question has been handed in already.

In: a `Case`, names of such things (`given` in the rules). Out: whether all of them are at
hand. Not here: which cause asks for what (`patterns/causes`), the sentences (`inference.verdict`).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from postmortem.core import names
from postmortem.diagnosis.case.values import Case

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
        for traceback, _ in case.gathered.tracebacks
    )


def _has_environment(case: Case) -> bool:
    known = case.environment
    return any(source.kind == "environment" for source in case.sources) or bool(
        "torch" in known.packages and known.gpus
    )


def _has_every_rank(case: Case) -> bool:
    """Ask for lines of as many processes as the run has; a single process is all there is."""
    extract = case.gathered
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
            for series in case.gathered.series.values()
        )

    return is_there


_AVAILABLE: Final[Mapping[str, Callable[[Case], bool]]] = {
    "traceback": _has_traceback,
    "environment": _has_environment,
    "precision": lambda case: case.environment.precision is not None,
    "gpu": lambda case: bool(case.environment.gpus),
    "every-rank": _has_every_rank,
    "rank-dumps": lambda case: bool(case.gathered.rank_dumps),
    "loss": _has_series(names.LOSS),
    "grad-norm": _has_series(names.GRAD_NORM),
    "oom-line": lambda case: bool(case.signatures("memory.cuda-oom.*")),
}
