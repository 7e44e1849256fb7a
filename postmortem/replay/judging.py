"""Verdicts out of what was seen, by the table in `verdicts.yaml`.

In: what was seen (`replay.observing`). Out: a verdict for each cause. Not here: seeing.

At most one cause is confirmed, the narrowest first: a poisoned sample also stays finite in float32,
a broken weight also at a lower rate. A row holds if all its words were seen; what was not seen
proves nothing, so that want of time or a trial that could not be run never confirms or refutes.
"""

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from postmortem.model.said import NOTHING, Said, both, say

CONFIRMED, REFUTED = "confirmed", "refuted"
NOT_REPRODUCED, NOT_TESTABLE = "not-reproduced", "not-testable"


class VerdictRow(NamedTuple):
    """What proves or disproves a cause."""

    cause: str
    verdict: str
    words: tuple[str, ...]
    """All of them must have been seen; one with `!` must not."""
    because: Said


class Judged(NamedTuple):
    """One cause, and why."""

    cause: str
    verdict: str
    because: Said


CAUSES: Final = (
    "numerics.unscale-fp16-gradients",
    "numerics.labels-all-masked",
    "numerics.untrained-embeddings",
    "numerics.corrupt-weights",
    "numerics.bad-batch",
    "numerics.padding-or-mask",
    "numerics.unstable-op",
    "numerics.quantized-adapter-precision",
    "numerics.fp16-overflow",
    "numerics.lr-divergence",
    "numerics.gradient-explosion",
    "numerics.hardware-corruption",
    "numerics.loss-scale-exhausted",
    "numerics.version-regression",
)
"""The narrowest first."""


@functools.cache
def rows() -> tuple[VerdictRow, ...]:
    """Read the table."""
    table = yaml.safe_load(Path(__file__).with_name("verdicts.yaml").read_text(encoding="utf-8"))
    texts = {name: both(text) for name, text in table["texts"].items()}
    return tuple(
        VerdictRow(row["cause"], row["verdict"], tuple(row["seen"].split()), texts[row["because"]])
        for row in table["rows"]
    )


_UNSURE: Final = say("the trials that were run do not decide", "已进行的试验不足以判定")
_EXPLAINED: Final = say("another cause explains it already", "已有其他原因解释")
_CONSEQUENCE: Final = say(
    "the scale shrinks because gradients are not finite: what makes them so is the cause",
    "缩放不断减小是因为梯度含 NaN/inf：使其如此的才是原因",
)
_VERSION: Final = say("it takes another version of the library", "需要换一个版本的库才能检验")
_OTHERWISE: Final = {
    "numerics.loss-scale-exhausted": _CONSEQUENCE,
    "numerics.version-regression": _VERSION,
}


def judged(words: frozenset[str]) -> Iterator[Judged]:
    """Give a verdict for every cause."""
    confirmed = next(filter(None, (_row(cause, words, CONFIRMED) for cause in CAUSES)), None)
    seen = words | {"explained"} if confirmed is not None else words
    for cause in CAUSES:
        is_it = confirmed is not None and confirmed.cause == cause
        row = confirmed if is_it else _row(cause, seen, REFUTED)
        if row is not None:
            yield Judged(cause, row.verdict, row.because)
        else:
            otherwise = _UNSURE if confirmed is None else _EXPLAINED
            yield Judged(cause, NOT_TESTABLE, _OTHERWISE.get(cause, otherwise))


def all_alike(verdict: str, because: Said = NOTHING) -> Iterator[Judged]:
    """Give every cause the same verdict: nothing failed, or it did not fail again."""
    for cause in CAUSES:
        yield Judged(cause, verdict, because)


def _row(cause: str, seen: frozenset[str], verdict: str) -> VerdictRow | None:
    return next(
        (
            row
            for row in rows()
            if (row.cause, row.verdict) == (cause, verdict)
            and all(
                (word[1:] not in seen) if word[0] == "!" else word in seen for word in row.words
            )
        ),
        None,
    )
