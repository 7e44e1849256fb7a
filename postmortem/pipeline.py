"""A job from its sources to its analysis: read, bring into order, rank, tell.

In: paths. Out: `Analysis`, complete and in every language. Not here: any of the steps, rendering
(`report`), many jobs.
"""

import functools
import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from postmortem.case.build import case_of
from postmortem.gathering.gathered import Gathered
from postmortem.gathering.job import read
from postmortem.gathering.literals import Machine
from postmortem.inference.verdict import rank
from postmortem.knowledge.base import KnowledgeBase, load
from postmortem.model.diagnosis import Analysis
from postmortem.reading.sources import LogSource
from postmortem.story.telling import tell


def analyze(
    paths: LogSource | Sequence[LogSource],
    *,
    patterns: Sequence[str | Path] = (),
    **given: Any,
) -> Analysis:
    """Read and judge one job; the arguments are those of `read` and further pattern folders.

    Raises:
        InputError: nothing could be read.
        PatternError: a pattern folder is missing or invalid.
    """
    machine = machine_for(tuple(Path(folder) for folder in patterns))
    return judge(read(paths, machine, **given), machine.knowledge)


def judge(gathered: Gathered, knowledge: KnowledgeBase) -> Analysis:
    """Judge what was read."""
    case = case_of(gathered, knowledge)
    return tell(case, rank(case, knowledge), knowledge)


@functools.lru_cache(maxsize=4)
def machine_for(patterns: tuple[Path, ...]) -> Machine:
    """Build the matching machine once per set of pattern folders."""
    with _nothing_collected():
        return Machine(load(patterns))


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Hold the garbage collector back.

    Rules are very many objects, none of which is garbage: going through them again and again took a
    quarter of the time of loading them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
