"""A job from its sources to its analysis: read, bring into order, rank, tell.

In: paths. Out: `Analysis`, complete and in every language. Not here: any of the steps, rendering
(`report`), many jobs.
"""

import dataclasses
import functools
import gc
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from postmortem.case.build import case_of
from postmortem.classify.opinion import opinion_of
from postmortem.classify.text_model import TextModel, opened
from postmortem.gathering.gathered import Gathered
from postmortem.gathering.job import read
from postmortem.gathering.literals import Machine
from postmortem.gathering.read_apart import Helpers
from postmortem.inference.certainty import settled
from postmortem.inference.circumstances import holding
from postmortem.inference.second_opinion import heard
from postmortem.inference.verdict import rank
from postmortem.knowledge.base import KnowledgeBase, load
from postmortem.model.diagnosis import Analysis
from postmortem.model.replayed import Replayed
from postmortem.model.said import Said
from postmortem.names import SHIPPED, WITHOUT
from postmortem.reading.sources import LogSource
from postmortem.replay.as_evidence import evidence, titled
from postmortem.resources import shipped_model
from postmortem.story.telling import tell


def analyze(
    paths: LogSource | Sequence[LogSource],
    *,
    patterns: Sequence[str | Path] = (),
    model: str | Path | None = SHIPPED,
    replayed: Replayed[Said] | None = None,
    workers: int = 1,
    **given: Any,
) -> Analysis:
    """Read and judge one job.

    The arguments are those of `read`, further pattern folders, a model, what a replay has shown,
    and how many processes may read.

    Raises:
        InputError: nothing could be read, or the model cannot be used.
        PatternError: a pattern folder is missing or invalid.
    """
    folders = tuple(Path(folder) for folder in patterns)
    machine, chosen = machine_for(folders), model_for(model)
    gathered = read(paths, machine, helpers=Helpers(workers, folders), **given)
    return judge(gathered, machine.knowledge, chosen, replayed)


def judge(
    gathered: Gathered,
    knowledge: KnowledgeBase,
    model: TextModel | None = None,
    replayed: Replayed[Said] | None = None,
) -> Analysis:
    """Judge what was read, and what a replay of its steps has shown.

    A model of text is heard where the log does not prove its cause.
    """
    case = case_of(gathered, knowledge)
    shown = () if replayed is None else tuple(evidence(replayed))
    ranking = rank(case, knowledge, shown)
    if model is not None:
        around = functools.partial(holding, case, knowledge)
        ranking = heard(case, knowledge, ranking, lambda: opinion_of(case, model, around()), shown)
    analysis = tell(case, settled(ranking, case, knowledge), knowledge)
    return dataclasses.replace(
        analysis,
        classifier=None if model is None else model.digest,
        replay=None if replayed is None else titled(replayed, knowledge.title),
    )


def model_for(model: str | Path | None) -> TextModel | None:
    """Open the model of text that was asked for; none, if none is wanted or there is none.

    Raises:
        InputError: it cannot be used.
    """
    if model is None:
        return None
    named = str(model) or os.environ.get("POSTMORTEM_MODEL", "")
    if named == WITHOUT:
        return None
    path = Path(named) if named else shipped_model()
    return opened(path) if path is not None else None


@functools.lru_cache(maxsize=4)
def machine_for(patterns: tuple[Path, ...]) -> Machine:
    """Build the matching machine once per set of pattern folders."""
    with _nothing_collected():
        return Machine(load(patterns))


def prepare(patterns: Sequence[str], model: str | Path | None) -> None:
    """Load rules and model before the first job of many comes.

    Raises:
        InputError: the model cannot be used.
        PatternError: a pattern folder is missing or invalid.
    """
    machine_for(tuple(Path(folder) for folder in patterns))
    model_for(model)
    gc.collect()
    gc.freeze()  # the rules stay: the collector need not go through them again and again


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
