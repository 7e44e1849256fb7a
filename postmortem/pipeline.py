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

from postmortem.core.catalogue import load_catalogue
from postmortem.core.diagnosis import Analysis, Replayed
from postmortem.core.message import Message
from postmortem.core.names import SHIPPED, WITHOUT
from postmortem.core.resources import find_shipped_model
from postmortem.diagnosis.case.build import build_case
from postmortem.diagnosis.classifier.models import TextModel, load_text_model
from postmortem.diagnosis.classifier.opinion import ask_text_model
from postmortem.diagnosis.detectors.boosted_trees import load_curve_model
from postmortem.diagnosis.inference.case_contents import find_active_conditions
from postmortem.diagnosis.inference.certainty import settled
from postmortem.diagnosis.inference.second_opinion import combine_opinions
from postmortem.diagnosis.inference.verdict import rank
from postmortem.diagnosis.story.building import build_analysis
from postmortem.extraction.extract import Extract
from postmortem.extraction.job import read
from postmortem.extraction.literals import Matcher
from postmortem.extraction.parallel_files import ParallelReaders
from postmortem.reading.sources import LogSource
from postmortem.replay.rerun.verdicts import fill_titles, iter_evidence
from postmortem.rules.base import KnowledgeBase, load


def run_pipeline(
    paths: LogSource | Sequence[LogSource],
    *,
    patterns: Sequence[str | Path] = (),
    model: str | Path | None = SHIPPED,
    replayed: Replayed[Message] | None = None,
    workers: int = 1,
    attempt: int | None = None,
    **given: Any,
) -> Analysis:
    """Read and judge one job.

    The arguments are those of `read`, further pattern folders, a model, what a replay has shown,
    how many processes may read, and which attempt is judged.

    Raises:
        InputError: nothing could be read, or the model cannot be used.
        PatternError: a pattern folder is missing or invalid.
        UsageError: there is no such attempt.
    """
    folders = tuple(Path(folder) for folder in patterns)
    matcher, chosen = get_matcher(folders), open_model(model)
    gathered = read(paths, matcher, helpers=ParallelReaders(workers, folders), **given)
    return judge(gathered, matcher.knowledge, chosen, replayed, attempt)


def judge(
    gathered: Extract,
    knowledge: KnowledgeBase,
    model: TextModel | None = None,
    replayed: Replayed[Message] | None = None,
    attempt: int | None = None,
) -> Analysis:
    """Judge an attempt of what was read, the last one, and what a replay of its steps has shown.

    A model of text is heard where the log does not prove its cause, and beside it the model of
    curves where no figure decides by itself.
    """
    curves = find_shipped_model("curves.json") if model is not None else None
    opener = functools.partial(load_curve_model, curves) if curves is not None else None
    case = build_case(gathered, knowledge, attempt, opener)
    shown = () if replayed is None else tuple(iter_evidence(replayed))
    ranking = rank(case, knowledge, shown)
    if model is not None:
        around = functools.partial(find_active_conditions, case, knowledge)
        ranking = combine_opinions(
            case, knowledge, ranking, lambda: ask_text_model(case, model, around()), shown
        )
    analysis = build_analysis(case, settled(ranking, case, knowledge), knowledge)
    return dataclasses.replace(
        analysis,
        classifier=None if model is None else model.digest,
        replay=None if replayed is None else fill_titles(replayed, knowledge.title),
    )


def open_model(model: str | Path | None) -> TextModel | None:
    """Open the model of text that was asked for; none, if none is wanted or there is none.

    Raises:
        InputError: it cannot be used.
    """
    if model is None:
        return None
    named = str(model) or os.environ.get("POSTMORTEM_MODEL", "")
    if named == WITHOUT:
        return None
    path = Path(named) if named else find_shipped_model()
    return load_text_model(path) if path is not None else None


@functools.lru_cache(maxsize=4)
def get_matcher(patterns: tuple[Path, ...]) -> Matcher:
    """Build the matcher once per set of pattern folders."""
    with _stop_garbage_collection():
        return Matcher(load(patterns))


def prepare(patterns: Sequence[str], model: str | Path | None) -> None:
    """Load rules, model and texts before the first job of many comes.

    Raises:
        InputError: the model cannot be used.
        PatternError: a pattern folder is missing or invalid.
    """
    get_matcher(tuple(Path(folder) for folder in patterns))
    open_model(model)
    load_catalogue()
    gc.collect()
    gc.freeze()  # the rules stay: the collector need not go through them again and again


@contextmanager
def _stop_garbage_collection() -> Iterator[None]:
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
