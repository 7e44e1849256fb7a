"""Find exceptions that only forward another one, whose traceback is printed as well.

In: the tracebacks of an attempt. Out: those that hand on, and the lines that name their exception.
Not here: which process is told of (`case.forwarded_exceptions`), which failure came first
(`case.order`).

A data loader, a pool, an actor or whoever reads the output of a child raises an exception of its
own whose message is the traceback of the real one; an exception group lists its members; and what
a pool or a future raises again is chained to the traceback of the worker that raised it first.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from postmortem.core.findings import Traceback
from postmortem.core.lazy_regex import compile_lazily
from postmortem.reading.windows import is_same_process

Place = tuple[int, int]
_HANDS_ON: Final = compile_lazily(
    r"(?:ExceptionGroup|ProcessRaisedException|RemoteTraceback|RayTaskError(?:\(\w+\))?)$"
)
_MOST_BETWEEN: Final = 4
"""Lines between an exception's class and the traceback that its message quotes."""
_MOST_CHAINED: Final = 6
"""Lines between a traceback and one that is chained to it."""


def forwarding(tracebacks: Iterable[tuple[Traceback, int]]) -> dict[Place, Place]:
    """Give the tracebacks that hand on another one: source and offset of both."""
    ordered = sorted(
        (traceback for traceback, _ in tracebacks),
        key=lambda traceback: (traceback.source, traceback.offset),
    )
    return dict(_iter_pairs(ordered))


def _iter_pairs(ordered: Sequence[Traceback]) -> Iterator[tuple[Place, Place]]:
    for outer, inner in itertools.pairwise(ordered):
        if not (outer.source == inner.source and is_same_process(outer.where, inner.where)):
            continue
        if _is_quoting(outer, inner):
            yield _place(outer), _place(inner)
        elif _is_raising_again(inner, outer):
            yield _place(inner), _place(outer)


def _is_quoting(outer: Traceback, inner: Traceback) -> bool:
    """Say whether the message of an exception is the traceback of another one."""
    is_on_line = inner.line == outer.exception_line
    is_behind = 0 < inner.line - outer.exception_line <= _MOST_BETWEEN
    is_near = is_on_line or is_behind or outer.exception_line < inner.line <= outer.end_line
    is_quoted = (
        is_on_line
        or inner.wrapped
        or outer.message.rstrip().endswith(":")
        or _HANDS_ON.search(outer.exception) is not None
    )
    return bool(outer.exception) and not inner.chained and is_near and is_quoted


def _is_raising_again(later: Traceback, first: Traceback) -> bool:
    """Say whether an exception is that of the traceback before it, which it is chained to."""
    return (
        later.chained
        and later.line - first.end_line <= _MOST_CHAINED
        and _get_words(later) == _get_words(first)
    )


def _get_words(traceback: Traceback) -> tuple[str, str]:
    return traceback.exception.rpartition(".")[2], (traceback.message.splitlines() or [""])[
        0
    ].strip()


def _place(traceback: Traceback) -> Place:
    return traceback.source, traceback.offset
