"""Where the user's own code stands in a failure.

In: the case, its first failure. Out: the same failure with the frame that its traceback ends in,
of those that are no library's. Not here: whose code a file is (`gathering.frames`), the failure
itself (`story.places`).
"""

from collections.abc import Iterator
from dataclasses import replace

from postmortem.case.values import Case
from postmortem.model.findings import Traceback
from postmortem.model.said import Said
from postmortem.model.shown import FirstFailure, OwnFrame


def with_frame(failure: FirstFailure[Said] | None, case: Case) -> FirstFailure[Said] | None:
    """Add the innermost frame of the user's own code, of the traceback that tells of it."""
    if failure is None:
        return None
    frames = (one.own_frame() for one in _around(failure, case))
    own = next((frame for frame in frames if frame is not None), None)
    if own is None:
        return failure
    return replace(failure, frame=OwnFrame(own.file, own.line, own.function, own.code.strip()))


def _around(failure: FirstFailure[Said], case: Case) -> Iterator[Traceback]:
    """Yield the tracebacks that hold the line of the failure, the narrowest first.

    Of one that quotes another the quoted one is narrower: it was raised in a worker.
    """
    found = [
        one
        for one, _ in case.gathered.tracebacks
        if one.source == failure.source and one.line <= failure.line <= one.end_line
    ]
    yield from sorted(found, key=lambda one: (one.end_line - one.line, -one.line))
