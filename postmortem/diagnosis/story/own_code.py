"""Find the frame of the user's own code in a failure.

In: the case, its first failure. Out: the same failure with the frame that its traceback ends in,
of those that are no library's. Not here: whose code a file is (`extraction.frames`), the failure
itself (`story.places`).
"""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from postmortem.core.findings import Frame, Traceback, iter_chained
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import Message
from postmortem.core.shown import FirstFailure, OwnFrame
from postmortem.diagnosis.case.values import Case
from postmortem.extraction.frames import is_library

_NAMED_FILE: Final = compile_lazily(r"\((?P<file>(?:/|[A-Za-z]:\\)[^()\n]{1,300}\.py)\)")


def add_frame(failure: FirstFailure[Message] | None, case: Case) -> FirstFailure[Message] | None:
    """Add the innermost frame of the user's own code to a failure."""
    if failure is None:
        return None
    around = list(_find_tracebacks_around(failure, case))
    if around and (file := _get_shadowing_file(around[0])):
        return replace(failure, frame=OwnFrame(file, 1, "", ""))
    all_tracebacks = [traceback for traceback, _ in case.gathered.tracebacks]
    tracebacks = itertools.chain(
        around, *(iter_chained(traceback, all_tracebacks) for traceback in around)
    )
    frames = (traceback.own_frame() for traceback in tracebacks)
    own = next((frame for frame in frames if frame is not None), None)
    if own is None:
        own = _find_final_frame(failure, case)
    if own is None:
        return failure
    return replace(failure, frame=OwnFrame(own.file, own.line, own.function, own.code.strip()))


def _get_shadowing_file(traceback: Traceback) -> str:
    """Give the user's own file that a library has imported for the module of that name."""
    named = _NAMED_FILE.search(traceback.message) if traceback.raised_in_library() else None
    is_of_an_import = traceback.exception.endswith(("ImportError", "AttributeError"))
    return named["file"] if named and is_of_an_import and not is_library(named["file"]) else ""


def _find_final_frame(failure: FirstFailure[Message], case: Case) -> Frame | None:
    """Give the frame in which a run ended whose first failure is a line before its traceback."""
    first = case.first
    if first is None or (first.source, first.line) != (failure.source, failure.line):
        return None
    behind = (
        traceback.own_frame()
        for traceback in case.tracebacks
        if traceback.source == failure.source and traceback.line > failure.line
    )
    return next((frame for frame in behind if frame is not None), None)


def _find_tracebacks_around(failure: FirstFailure[Message], case: Case) -> Iterator[Traceback]:
    """Yield the tracebacks that hold the line of the failure, the narrowest first.

    Of one that quotes another the quoted one is narrower: it was raised in a worker.
    """
    found = [
        traceback
        for traceback, _ in case.gathered.tracebacks
        if traceback.source == failure.source
        and traceback.line <= failure.line <= traceback.end_line
    ]
    yield from sorted(
        found, key=lambda traceback: (traceback.end_line - traceback.line, -traceback.line)
    )
