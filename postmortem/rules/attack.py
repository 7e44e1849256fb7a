"""Build texts that make a pattern slow, and measure how long a search takes on them.

In: a pattern; a search. Out: `Attack`s, texts of any length; the attack on which the search is
slowest, with its CPU time and growth. Not here: the engine that searches (`rules.engine`), whether
a pattern is right (`extraction.proof`).

A backtracking engine is slow where a part that repeats can end in many places and what follows is
missing. So each repeated part is led up to by the shortest text that reaches it, repeated until the
text is long, and cut before the end, or followed by what should follow in the wrong place; and what
leads up to it is repeated too, since a search begins anew at every place.
"""

import functools
import itertools
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from postmortem.core.log_text import compile_lazily
from postmortem.rules.pattern_syntax import codes, parser

_RUN: Final = 60
"""Repetitions where a part is repeated within a repetition."""
_CHOICES: Final = 4
"""Ways of a part that are tried, where it has alternatives or takes several characters."""
_MANY: Final = 4
"""Repetitions from which a part counts as repeated."""
_CANDIDATES: Final = "a1 .x-/_:='\"(,)A|[]\t#%<>{}\n*+@\\!~"
_REPEATS: Final = frozenset(
    getattr(codes, name)
    for name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
    if hasattr(codes, name)
)
_CATEGORIES: Final[Mapping[str, Callable[[str], bool]]] = {
    "CATEGORY_DIGIT": str.isdecimal,
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_WORD": lambda char: char.isalnum() or char == "_",
    "CATEGORY_NOT_DIGIT": lambda char: not char.isdecimal(),
    "CATEGORY_NOT_SPACE": lambda char: not char.isspace(),
    "CATEGORY_NOT_WORD": lambda char: not (char.isalnum() or char == "_"),
}
_FOREIGN: Final = (
    (compile_lazily(r"\(\?P?<\w+>"), "("),
    (compile_lazily(r"\(\?P=\w+\)"), "x"),
    (compile_lazily(r"(?<!^)\(\?[a-zA-Z]+\)"), ""),
    (compile_lazily(r"\\[pP]\{[^{}]*\}"), r"\\w"),
    (compile_lazily(r"\[:\^?\w+:\]"), "a-z"),
    (compile_lazily(r"(?<=[*+?}])\+"), ""),
    (compile_lazily(r"\(\?>"), "(?:"),
    (compile_lazily(r"\\[hRX]"), " "),
)
"""What `regex` has and Python's parser lacks or takes once only, and what stands for it."""

Nodes = Sequence[tuple[Any, Any]]


class Attack(NamedTuple):
    """A text of any length.

    A beginning, what is repeated behind it until the text is cut, and an end.
    """

    lead: str
    unit: str
    end: str = ""
    """What must follow, but follows out of its place.

    Without it an engine may know at once that nothing can match.
    """

    def text(self, size: int) -> str:
        """Give so many characters of it."""
        return (self.lead + self.unit * (size // len(self.unit) + 1))[
            : max(0, size - len(self.end))
        ] + self.end


def build_attacks(
    pattern: str, *, flags: int = 0, anchors: Iterable[str] = (), many_lines: bool = True
) -> list[Attack]:
    """Build the attacks on a pattern; for a text of one line they have no line break."""
    nodes = _parse_pattern(pattern, flags)
    found = [
        *_iter_sequence_attacks(nodes, "", ""),
        *(Attack(anchor, unit) for anchor in anchors for unit in (anchor, "a", " ", "1")),
    ]
    for choice in range(_CHOICES):
        whole = _sample(nodes, choice)
        found += [
            Attack("", whole[:-1]),
            Attack("", whole[: len(whole) // 2]),
            Attack("", f"{whole[:-1]} "),
        ]
    if not many_lines:
        found = [Attack(*(part.replace("\n", " ") for part in fields)) for fields in found]
    return list(dict.fromkeys(attack for attack in found if attack.unit))


def _parse_pattern(pattern: str, flags: int) -> Nodes:
    """Parse as Python does, with stand-ins for what only `regex` knows; else its plain words."""
    for is_foreign in (False, True):
        text = pattern
        for foreign, stand_in in _FOREIGN if is_foreign else ():
            text = foreign.sub(stand_in, text)
        try:
            return list(parser.parse(text, flags))
        except (re.error, RecursionError):
            continue
    return [(codes.LITERAL, ord(char)) for char in pattern if char.isalnum() or char == " "]


def _iter_sequence_attacks(nodes: Nodes, lead: str, behind: str) -> Iterator[Attack]:
    """Attack every repeated part of a sequence, led up to by `lead`."""
    for index, (code, value) in enumerate(nodes):
        follow = _sample(nodes[index + 1 :], 0) + behind
        if code in _REPEATS:
            if value[1] == codes.MAXREPEAT or value[1] >= _MANY:
                yield from _iter_repeat_attacks(value[2], lead, follow)
            yield from _iter_sequence_attacks(value[2], lead, follow)
        elif code == codes.BRANCH:
            for branch in value[1]:
                yield from _iter_sequence_attacks(branch, lead, follow)
        elif code == codes.SUBPATTERN:
            yield from _iter_sequence_attacks(value[-1], lead, follow)
        elif code in {codes.ASSERT, codes.ASSERT_NOT}:
            yield from _iter_assertion_attacks(value[1], lead, follow)
        elif code == getattr(codes, "ATOMIC_GROUP", None):
            yield from _iter_sequence_attacks(value, lead, follow)
        lead += _sample([nodes[index]], 0)


def _iter_repeat_attacks(part: Nodes, lead: str, follow: str) -> Iterator[Attack]:
    """Repeat a part in all its ways, alone, with what leads up to it, and with what follows."""
    units = dict.fromkeys(_sample(part, choice) for choice in range(_CHOICES))
    units |= dict.fromkeys(
        text for text in (follow[:1], follow[:-1]) if _can_match_each(part, text)
    )
    for unit in units:
        yield Attack(lead, unit)
        yield Attack("", lead + unit * _RUN)
        yield Attack("", lead + unit)
        if follow:
            yield Attack(lead, unit, f"\0{follow}")
            yield Attack("", lead + unit * _RUN, f"\0{follow}")
        yield Attack(lead, unit * 2 + follow[:-1])
    yield Attack("", lead)


def _iter_assertion_attacks(part: Nodes, lead: str, follow: str) -> Iterator[Attack]:
    """Let what is looked for around a place be nearly there, over and over."""
    yield from _iter_sequence_attacks(part, lead, follow)
    for choice in range(_CHOICES):
        near = _sample(part, choice)[:-1]
        yield Attack("", near + lead + follow)
        yield Attack("", lead + near)
        yield Attack(near * _RUN, lead + follow[:-1])


def _can_match_each(part: Nodes, text: str) -> bool:
    """Say whether a part that matches one character matches each character of a text."""
    return (
        bool(text)
        and len(part) == 1
        and part[0][0] in {codes.ANY, codes.IN, codes.NOT_LITERAL}
        and all(_can_match_char(part[0], char) for char in text)
    )


def _sample(nodes: Nodes, choice: int) -> str:
    """Give a short text that a sequence matches; `choice` tells which of several."""
    return "".join(_sample_of(node, choice) for node in nodes)


def _sample_of(node: tuple[Any, Any], choice: int) -> str:
    code, value = node
    if code == codes.LITERAL:
        return chr(value)
    if code in {codes.ANY, codes.IN, codes.NOT_LITERAL}:
        accepted = _find_accepted_chars(code, tuple(value) if code == codes.IN else value)
        return accepted[choice % len(accepted)]
    if code in _REPEATS:
        low = value[0] if choice % 2 == 0 else max(value[0], min(1, value[1]))
        return _sample(value[2], choice) * int(min(low, _RUN))
    if code == codes.BRANCH:
        return _sample(value[1][choice % len(value[1])], choice)
    if code == codes.SUBPATTERN:
        return _sample(value[-1], choice)
    return _sample(value, choice) if code == getattr(codes, "ATOMIC_GROUP", None) else ""


@functools.lru_cache(maxsize=2048)
def _find_accepted_chars(code: Any, value: Any) -> str:
    """Give the characters that a wildcard or a class takes, of those that are tried."""
    return (
        "".join(char for char in _CANDIDATES if _can_match_char((code, value), char))
        or "".join(char for char in map(chr, range(0x100)) if _can_match_char((code, value), char))
        or "\u4e2d"
    )


def _can_match_char(node: tuple[Any, Any], char: str) -> bool:
    """Say whether a wildcard or a class takes a character."""
    code, value = node
    if code == codes.ANY:
        return char != "\n"
    if code == codes.NOT_LITERAL:
        return bool(ord(char) != value)
    is_in = False
    for kind, item in value:
        if kind == codes.LITERAL:
            is_in |= bool(ord(char) == item)
        elif kind == codes.RANGE:
            is_in |= bool(item[0] <= ord(char) <= item[1])
        elif kind == codes.CATEGORY:
            is_in |= _CATEGORIES[str(item)](char)
    return bool(is_in != (value[0][0] == codes.NEGATE))


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
