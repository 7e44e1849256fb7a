"""Read a file of a job independently of the others.

In: a file, its number in the job, the rules. Out: `FileResult`, the same as if it had been read
between the others. Not here: who reads which file (`extraction.parallel_files`), files whose
meaning depends on others.
"""

import functools
import gc
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from postmortem.core.lines import ProcessId
from postmortem.extraction.literals import Matcher
from postmortem.extraction.opened_source import SourceResult, read_whole_source
from postmortem.extraction.source_reader import Progress, SourceReader
from postmortem.rules.base import load
from postmortem.rules.engine import Budget


class ParallelReaders(NamedTuple):
    """Who else may read."""

    cores: int = 1
    """Processes that may be busy at once, this one among them."""
    patterns: Sequence[Path] = ()
    """Further folders of rules."""


class FileTask(NamedTuple):
    """A file that is to be read."""

    number: int
    """Its number among the sources of the job."""
    path: str
    where: ProcessId
    """The process that its name tells."""
    seconds: float
    """What the job may still spend in searches that are slow."""


class FileResult(NamedTuple):
    """A file that was read."""

    whole: SourceResult
    seconds: float
    """What was spent in searches that are slow."""


ReadsFile = Callable[[FileTask], FileResult | None]
"""Gives None of a file that must be read in its turn: it failed, or hangs on others."""


def create_local_reader(
    machine: Matcher, block_size: int, progress: Progress | None = None
) -> ReadsFile:
    """Give who reads files in this process."""
    return functools.partial(_read, machine, block_size, progress)


def create_worker_reader(patterns: Sequence[Path], block_size: int) -> ReadsFile:
    """Give who reads files in a process that does nothing else: it loads the rules first."""
    gc.disable()
    machine = Matcher(load(patterns))
    gc.enable()
    gc.freeze()
    return create_local_reader(machine, block_size)


def _read(
    machine: Matcher, block_size: int, progress: Progress | None, file: FileTask
) -> FileResult | None:
    budget = Budget(file.seconds)
    sources = SourceReader(machine, block_size, budget, progress)
    try:
        whole = read_whole_source(sources, file.path, file.number, file.where)
    except Exception:
        if os.environ.get("POSTMORTEM_DEBUG"):
            raise
        return None  # read once more in its turn, it fails again, and is told of there
    return None if sources.is_shared else FileResult(whole, file.seconds - budget.left)
