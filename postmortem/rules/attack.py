"""Measure how long a search takes on adversarial texts, and how that time grows.

In: a search, `Attack`s. Out: the attack on which the search is slowest, with its CPU time and
growth. Not here: the texts (`rules.attack_texts`); the engine that searches
(`rules.engine`).
"""

import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.rules.attack_texts import Attack

SIZES: Final = (2048, 4096, 8192)
"""Characters of an attack; a window of a log has no more."""
_LONGER: Final = (16384, 32768)
"""Sizes beyond, for a growth that shows over little time only."""
LIMIT: Final = 0.02
"""CPU seconds that a search may take on the longest, on the machine that the pace is counted by."""
GROWTH: Final = 2.3
"""Times the search may take when the text is twice as long."""
_HOPELESS: Final = 5 * LIMIT
"""CPU seconds that no repetition will bring below the limit."""
_MEASURABLE: Final = 0.002
"""CPU seconds below which a search is fast enough, whatever its growth."""

_YARDSTICK: Final = compile_lazily(r"\d{1,9}\.\d{1,9}x")
_YARD: Final = "1234567890." * 2000
_YARD_SECONDS: Final = 0.0024
"""A search that does not change, and the CPU seconds that it takes on the machine of `LIMIT`."""


class Outcome(NamedTuple):
    """How a search fared on its worst attack."""

    attack: Attack
    seconds: float
    """CPU time on the longest text, by the pace of the machine at that moment."""
    growth: float
    """Times that it took on twice the text; 0 where it was too fast to tell."""

    @property
    def is_slow(self) -> bool:
        """Whether it takes too long, or grows too fast."""
        return self.growth >= GROWTH or self.seconds > LIMIT

    def __str__(self) -> str:
        """Say what is slow on what."""
        return (
            f"{self.seconds * 1000:.1f} ms at {SIZES[-1]} characters, {self.growth:.1f} times as"
            f" long on twice the text, of {self.attack.lead[:80]!r} and then"
            f" {self.attack.unit[:80]!r}"
            f" repeated{f', and {self.attack.end[:80]!r}' if self.attack.end else ''}"
        )


def find_worst_attack(search: Callable[[str], object], attacks: Iterable[Attack]) -> Outcome:
    """Run a search on every attack; gives the first on which it is slow, else the slowest."""
    found = Outcome(Attack("", " "), 0.0, 0.0)
    for attack in attacks:
        outcome = _measure_attack(search, attack)
        if outcome.is_slow:
            return outcome
        found = max(found, outcome, key=lambda candidate: candidate.seconds)
    return found


def _measure_attack(search: Callable[[str], object], attack: Attack) -> Outcome:
    """Time an attack: once, and where that took long again and again, on texts of several sizes."""
    seconds = _measure_cpu_seconds(search, attack.text(SIZES[0]))
    if seconds <= _HOPELESS:
        seconds = _measure_cpu_seconds(search, attack.text(SIZES[-1]))
    if seconds < _MEASURABLE:
        return Outcome(attack, seconds, 0.0)
    times, paced = _measure_least_times(search, attack)
    outcome = Outcome(attack, paced, _estimate_growth(times))
    if outcome.growth >= GROWTH and outcome.seconds <= LIMIT:
        # Little time, by which a busy moment looks like growth: longer texts must show it too.
        for size in _LONGER:
            text = attack.text(size)
            times.append(min(_measure_cpu_seconds(search, text) for _ in range(5)))
        outcome = outcome._replace(growth=_estimate_growth(times))
    return outcome


def _measure_least_times(
    search: Callable[[str], object], attack: Attack
) -> tuple[list[float], float]:
    """Give the least time for each size, and for the longest by the pace of the machine.

    What is slow is slow every time. A search that does not change is timed right before: a faster
    machine makes no pattern slow, and a busy one, whose CPU time holds what others take from it,
    makes none slow either.
    """
    texts = [attack.text(size) for size in SIZES]
    least, paced = [float("inf")] * len(SIZES), float("inf")
    for repetitions in (2, 4, 8, 16, 32):
        for _ in range(repetitions):
            pace = max(1.0, _measure_cpu_seconds(_YARDSTICK.search, _YARD) / _YARD_SECONDS)
            now = [_measure_cpu_seconds(search, text) for text in texts]
            least, paced = list(map(min, least, now)), min(paced, now[-1] / pace)
        if not Outcome(attack, paced, _estimate_growth(least)).is_slow or paced > _HOPELESS:
            break
    return least, paced


def _estimate_growth(times: Sequence[float]) -> float:
    """Give how many times as long twice the text takes; each time is of twice the text before.

    It is the least that all the sizes together and each step behind the first show: what is left of
    the fixed cost of a search makes the first step small, noise makes a single one large. 0 where
    the longest is too fast to tell.
    """
    if times[-1] < _MEASURABLE:
        return 0.0
    if times[-1] == float("inf"):
        return GROWTH
    steps = [later / earlier for earlier, later in itertools.pairwise(times)]
    together: float = (times[-1] / times[0]) ** (1 / len(steps))
    return min(together, *steps[1:])


def _measure_cpu_seconds(search: Callable[[str], object], text: str) -> float:
    """Give the CPU time of a search, infinite where it gave up."""
    began = time.thread_time()
    try:
        search(text)
    except TimeoutError:
        return float("inf")
    return time.thread_time() - began
