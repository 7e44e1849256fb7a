"""Find exceptions that helpers of a run met because it was interrupted from the keyboard.

In: the tracebacks of an attempt. Out: those that the interrupt brought about. Not here: exceptions
whose message quotes the interrupt (`case.forwarded`), other stops (`case.stops`).

Ctrl-C reaches every process of a terminal. What reads from one that has left, a thread that pins
memory or a pool, finds the other end of its pipe gone, often before the main thread has printed the
interrupt itself.
"""

from collections.abc import Iterable
from typing import Final

from postmortem.core.findings import Traceback
from postmortem.core.lazy_regex import compile_lazily

_INTERRUPT: Final = "KeyboardInterrupt"
_PEER_GONE: Final = (
    "ConnectionResetError",
    "ConnectionRefusedError",
    "ConnectionAbortedError",
    "BrokenPipeError",
    "EOFError",
    "FileNotFoundError",
)
"""What a process meets whose partner has left; a socket in a folder is then a missing file."""
_BETWEEN_PROCESSES: Final = compile_lazily(
    r"(?:^|[/\\])(?:multiprocessing|concurrent[/\\]futures|asyncio)[/\\]\w+\.py$"
)
_NEAR: Final = 80
"""Lines between both, tracebacks of other helpers among them."""


def find_interrupted(tracebacks: Iterable[tuple[Traceback, int]]) -> list[Traceback]:
    """List the exceptions that an interrupt from the keyboard explains."""
    every = [traceback for traceback, _ in tracebacks]
    interrupts = [found for found in every if found.exception.endswith(_INTERRUPT)]
    return [
        met
        for met in every
        if interrupts and _is_peer_gone(met) and any(_is_near(met, one) for one in interrupts)
    ]


def _is_peer_gone(traceback: Traceback) -> bool:
    """Say whether a connection between processes was found without its other end."""
    inner = traceback.raising_frame()
    return (
        traceback.exception.endswith(_PEER_GONE)
        and traceback.own_frame() is None
        and inner is not None
        and _BETWEEN_PROCESSES.search(inner.file) is not None
    )


def _is_near(met: Traceback, interrupt: Traceback) -> bool:
    behind = interrupt.line - met.end_line
    return met.source == interrupt.source and -_NEAR <= behind <= _NEAR
