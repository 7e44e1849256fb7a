"""No rule is slow on a line made to be slow: search time grows with the length of the window, not with its square.

For every signature and format, hostile windows are made of its own material: its anchors, the literal runs of its pattern and near misses of its examples, repeated, with the
characters that its wildcards accept in between. The measure is relative, of one rule on one machine in one moment, so that it holds anywhere.
"""

import contextlib
import io
import re
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

import pytest
import regex

from postmortem.formats.bars import draw
from postmortem.formats.generic import GenericReader
from postmortem.formats.trainer_state import records
from postmortem.knowledge.base import Format, Signature, load
from postmortem.model.lines import NOWHERE
from postmortem.reading.blocks import blocks
from postmortem.reading.prefixes import clean
from postmortem.reading.windows import View
from postmortem.signatures import traceback

LARGEST: Final = 12_000
"""Characters of a large window; measured at a quarter, a half and the whole of it."""
MEASURABLE: Final = 0.002
"""Seconds below which a search is fast enough, whatever its growth."""
PATIENCE: Final = 5.0
"""Seconds by the clock on the wall after which a search is given up; generous, since a busy machine is no fault of a rule."""
HEAVY: Final = 0.02
"""Seconds for half a window from which its growth shows there already."""
ENOUGH: Final = 0.1
"""Seconds after which a time is not taken again."""
GROWTH: Final = 2.3
"""Times the search may take when the window is twice as long."""
ATTEMPTS: Final = 3
MOST_FILLERS: Final = 4
CANDIDATES: Final = "a1 .x-/_:='\"(,)A|[]\t#%<>{}"
ESCAPES: Final = {"d": "1", "w": "a", "s": " ", "S": "x", "D": "x", "W": "-", "R": "\n", "N": "x"}
CHARACTERS: Final = {"n": "\n", "t": "\t", "r": "\r"}
INTRODUCTION: Final = re.compile(r"\((?:\?(?:P<\w+>|P=\w+|P>\w+|<[=!]|<\w+>|[:=!>|]|\(\w+\)|[a-zA-Z-]+[:)]))?")
QUANTIFIER: Final = re.compile(r"(?:[*+?]|\{\d*,?\d*\})[?+]?")
CLASS: Final = re.compile(r"\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]")


@cache
def material(pattern: str) -> tuple[tuple[str, ...], tuple[str, ...]]:  # noqa: C901 -- a scanner has as many branches as there are signs
    """The literal runs of a pattern, the longest first, and characters that its wildcards accept."""
    runs, fillers, run, position = [], {}, "", 0
    while position < len(pattern):
        char, literal, width = pattern[position], "", 1
        if char == "\\":
            code = pattern[position + 1:position + 2]
            if code == "x":
                literal, width = chr(int(pattern[position + 2:position + 4], 16)), 4
            elif code in ESCAPES:
                fillers[ESCAPES[code]], width = None, 2
            elif code.isalnum() and code not in CHARACTERS:
                width = 2
            else:
                literal, width = CHARACTERS.get(code, code), 2
        elif char == "[" and (match := CLASS.match(pattern, position)):
            fillers.update(dict.fromkeys([one for one in CANDIDATES if regex.fullmatch(match[0], one)][:3]))
            width = len(match[0])
        elif char == "(" and (match := INTRODUCTION.match(pattern, position)):
            width = len(match[0])
        elif char == ".":
            fillers.update({"x": None, " ": None})
        elif char not in ")|^$":
            literal = char
        position += width
        quantified = QUANTIFIER.match(pattern, position)
        if quantified:
            position = quantified.end()
        if literal and not quantified:
            run += literal
            continue
        runs.append(run)
        run = ""
    found = sorted({one for one in [*runs, run] if len(one) > 1}, key=lambda one: (-len(one), one))
    return tuple(found), tuple(fillers)


def windows(rule: Signature | Format) -> Iterator[Callable[[int], str]]:
    """Give hostile windows of a rule, as functions of their length."""
    runs, fillers = material(rule.match)
    if rule.raw.get("lines", 1) == 1:
        fillers = tuple(filler for filler in fillers if filler != "\n")
    anchor = rule.anchors[0].decode()
    examples = [clean(example["text"]).text[:2000] for example in rule.raw["examples"]["fires"][:2]]
    misses = (examples[0][:len(examples[0]) // 2], *(example[:-1] for example in examples))
    units = dict.fromkeys(unit for unit in (*(one.decode() for one in rule.anchors[:2]), *runs[:4], *misses) if unit)
    for unit in units:
        yield lambda size, unit=unit: (anchor + unit * (size // len(unit) + 1))[:size]
        for filler in fillers[:MOST_FILLERS]:
            yield lambda size, unit=unit, filler=filler: (anchor + (unit + filler) * (size // (len(unit) + 1) + 1))[:size]
            yield lambda size, unit=unit, filler=filler: (unit + filler * size)[:size]
            yield lambda size, unit=unit, filler=filler: (anchor + (unit + filler * 60) * (size // (len(unit) + 60) + 1))[:size]
    for one in fillers[:MOST_FILLERS]:
        for other in fillers[:MOST_FILLERS]:
            yield lambda size, one=one, other=other: (anchor + (one + other) * size)[:size]


def seconds(search: Callable[[str], object], text: str, repetitions: int) -> float:
    """The best of several times; of long ones few are enough."""
    best, end = float("inf"), time.thread_time() + ENOUGH
    for _ in range(repetitions):
        began = time.thread_time()
        if began > end and best < float("inf"):
            break
        search(text)
        best = min(best, time.thread_time() - began)
    return best


def comparable(search: Callable[[str], object], window: Callable[[int], str]) -> list[str]:
    """A quarter, a half and the whole of a window, cut so that all of them match or none does: a match ends the search early."""
    for cut in range(0, 20, 3):
        texts = [window(size)[:size - cut] for size in (LARGEST // 4, LARGEST // 2, LARGEST)]
        if len({bool(search(text)) for text in texts}) == 1:
            return texts
    return []


def growth(search: Callable[[str], object], window: Callable[[int], str]) -> float:
    """How many times longer the search takes on twice the window; 0 where it is too fast to matter. What is slow is slow every time; what looks so once, a busy machine explains."""
    worst = float("inf")
    for _ in range(ATTEMPTS):
        with contextlib.suppress(TimeoutError):
            worst = min(worst, measured(search, window))
        if worst < GROWTH:
            break
    return worst


def measured(search: Callable[[str], object], window: Callable[[int], str]) -> float:
    """The same, without an answer for a search that takes for ever."""
    half = seconds(search, window(LARGEST // 2), 1)
    if half > HEAVY:
        if half < GROWTH * seconds(search, window(LARGEST // 4), 1):
            return 0.0
    elif (large := seconds(search, window(LARGEST), 1)) < max(MEASURABLE, GROWTH * half):
        return 0.0
    worst, texts = 0.0, comparable(search, window)
    for repetitions in (3, 7, 15) if texts else ():
        small, middle, large = (seconds(search, text, repetitions) for text in texts)
        if large < MEASURABLE:
            return 0.0
        worst = max(large / middle, (large / small) ** 0.5)
        if worst < GROWTH:
            return worst
    return worst


def searches(rule: Signature | Format) -> dict[str, Callable[[str], object]]:
    """The searches that a rule makes of a window, without the help of the clock that ends them."""
    compiled = regex.compile(rule.match)
    if rule.raw.get("each"):
        found: dict[str, Callable[[str], object]] = {"match": lambda text: list(compiled.finditer(text, timeout=PATIENCE))}
    else:
        found = {"match": lambda text: compiled.search(text, timeout=PATIENCE)}
    others = {name: regex.compile(rule.raw[name]) for name in ("pair", "loss_key") if rule.raw.get(name)}
    return found | {name: lambda text, other=other: list(other.finditer(text, timeout=PATIENCE)) for name, other in others.items()}


RULES = (*load().signatures, *load().formats)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_is_linear_on_hostile_lines(rule: Signature | Format) -> None:
    """Twice the window takes at most about twice the time."""
    for name, search in searches(rule).items():
        for window in windows(rule):
            times = growth(search, window)
            assert times < GROWTH, f"{rule.id}: {name} takes {times:.1f} times as long on twice the window: {window(160)!r}…   {rule.raw[name]}"


def test_hostile_windows_are_hostile() -> None:
    """The test sees a quadratic rule, and does not take a linear one for it."""

    def rule(match: str) -> Signature:
        raw: dict[str, Any] = {"examples": {"fires": [{"text": "an error: value 123 end"}]}, "match": match}
        return Signature("x.y", (b"error: value",), match, raw)

    def worst(match: str) -> float:
        times = (growth(search, window) for search in searches(rule(match)).values() for window in windows(rule(match)))
        return next((one for one in times if one >= GROWTH), 0.0)

    assert worst(r"error: value (?P<figure>\d{1,9}) end") < GROWTH
    assert worst(r"error: .* end") >= GROWTH
    assert worst(r"error:.{0,80}value.{0,80}end") < GROWTH


PLAIN: Final = {
    "clean": clean, "clean with srun": lambda text: clean(text, srun=True), "generic": lambda text: GenericReader().read(text[:4000], NOWHERE, 1), "bar": draw,
    "state": lambda text: list(records(blocks(io.BytesIO(('{"log_history"' + text).encode())))), "traceback": lambda text: traceback.read(View(("Traceback (most recent call last):\n" + text).encode(), 5, 1, srun=False), 0, 0),
}
UNITS: Final = (
    "[rank3]: ", "2024-05-01 12:00:00", "[2024-05-01 12:00:00,123] [INFO] ", "loss: ", "train loss 0.5 ", "loss ", "nan", "1,", "epoch", "|", "10%|##| 1/2 [", "━", "{", "{}", '{"step": 1}', '  File "a.py", line 1, in f\n', "a.b.", "│ /a.py:1 in f │\n",
    "/torch/", "\x1b[", "\x1b]0;", "[E", " ", "\t", "a", "1", "(", "[", "worker-1: ", "INFO:a.", "]\n", "ValueError: x\n", "╰\n",
)


@pytest.mark.parametrize("name", PLAIN)
def test_code_is_linear_on_hostile_lines(name: str) -> None:
    """The patterns in the code hold to the same measure."""
    for unit in UNITS:
        for filler in ("", " ", "1", "x", "\n"):
            times = growth(PLAIN[name], lambda size, unit=unit, filler=filler: ((unit + filler) * size)[:size])  # type: ignore[misc]
            assert times < GROWTH, f"{name} takes {times:.1f} times as long on twice the text of {(unit + filler)!r}"
