"""Find the samples of a micro-batch that cause the failure, by bisection.

In: how many samples there are, a function that says whether some of them fail. Out: their
positions. Not here: what they look like (`rerun.batches`).
"""

from collections.abc import Callable, Sequence
from typing import Final

Fails = Callable[[Sequence[int]], bool | None]
"""Whether a batch of these samples fails; None: no time is left to see."""
_SHARE: Final = 4
"""At most one in so many is a culprit; more, and it is not the samples."""


def find_failing_alone(size: int, fails: Fails) -> list[int] | None:
    """Find the samples that fail without the others; None if that could not be settled.

    None of them if too many do: then the failure does not hang on the samples.
    """
    most = max(1, size // _SHARE)
    found: list[int] = []
    open_parts: list[list[int]] = [list(range(size))]
    while open_parts:
        part = open_parts.pop()
        bad = fails(part)
        if bad is None:
            return None
        if not bad:
            continue
        if len(part) == 1:
            found.append(part[0])
            if len(found) > most:
                return []
            continue
        middle = len(part) // 2
        open_parts += [part[middle:], part[:middle]]
    return sorted(found)


def find_single_culprit(size: int, fails: Fails) -> list[int] | None:
    """Find the one sample whose leaving out mends a run; None if that could not be settled.

    For a failure that comes later than the sample: its part is looked for by leaving halves out.
    """
    part = list(range(size))
    while len(part) > 1:
        middle = len(part) // 2
        for half in (part[:middle], part[middle:]):
            rest = [row for row in range(size) if row not in half]
            bad = fails(rest) if rest else True
            if bad is None:
                return None
            if not bad:
                part = half
                break
        else:
            return []
    return part
