"""Gradient norms that explode or are not finite, and learning rates out of the usual.

In: the curves of one process. Out: the shapes `grad-explosion`, `grad-huge-first`,
`nan-grad-finite-loss`, `high-rate`, `tiny-rate`. Not here: the loss (`shapes.course`,
`shapes.nonfinite`).
"""

import itertools
import math
import statistics
from typing import Final

from postmortem import names
from postmortem.facts.shapes.curves import Curves, Found, show
from postmortem.facts.shapes.nonfinite import is_settled
from postmortem.model.said import say

_HUGE_NORM: Final = 1e5
_TINY_RATE: Final = 1e-8
"""With this rate no float32 weight of usual size moves by a step of an Adam-like optimiser."""


def gradients(curves: Curves) -> Found:
    """Gradient norms: exploding, or not finite beside a finite loss."""
    points = curves.points(names.GRAD_NORM)
    losses = {point.line: point.value for point in curves.points(names.LOSS)}
    found: Found = []
    calm = [
        point
        for point in points
        if not math.isfinite(point.value)
        and math.isfinite(losses.get(point.line, math.nan))
        and losses.get(point.line) != 0.0
    ]
    if calm and not is_settled(points):
        said = say(
            "grad_norm {norm} beside loss {loss:g}, {bad} of {count} records",
            "grad_norm 为 {norm} 而 loss 为 {loss:g}，{count} 条记录中有 {bad} 条如此",
            norm=calm[0].value,
            loss=losses[calm[0].line],
            bad=len(calm),
            count=len(points),
        )
        found.append(("nan-grad-finite-loss", said, calm[0].line))
    finite = [point for point in points if math.isfinite(point.value)]
    if len(finite) >= 4:
        usual = statistics.median(point.value for point in finite[: max(3, len(finite) // 2)])
        high = [
            index
            for index, point in enumerate(finite)
            if point.value > 100 * max(usual, 1e-6) and point.value > 10
        ]
        lasting = next(
            (
                index
                for index in high
                if len(finite) - index <= 3
                or sum(other - index <= 6 for other in high if other >= index) >= 3
            ),
            None,
        )
        blown = finite[lasting] if lasting is not None else None
        if blown is None and sum(point.value > 1e6 for point in finite) >= 3:
            blown = next(point for point in finite if point.value > 1e6)
        growing = sum(other.value > one.value for one, other in itertools.pairwise(finite))
        if (
            blown is None
            and finite[-1].value > max(20 * finite[0].value, 1e4)
            and growing >= 0.7 * (len(finite) - 1)
        ):
            blown = finite[-1]
        if blown:
            found.append(
                (
                    "grad-explosion",
                    say(
                        "grad_norm {usual:.3g} → {top:.3g}",
                        "grad_norm {usual:.3g} → {top:.3g}",
                        usual=usual,
                        top=blown.value,
                    ),
                    blown.line,
                )
            )
    first = finite[0] if finite else None
    if (
        first is not None
        and points[0] is first
        and first.value > _HUGE_NORM
        and first.value > _HUGE_NORM * abs(losses.get(first.line, 1.0)) / 10
    ):
        found.append(
            (
                "grad-huge-first",
                say(
                    "the first grad_norm is {norm}, beside loss {loss:g}",
                    "第一个 grad_norm 就是 {norm}，同一条记录的 loss 为 {loss:g}",
                    norm=show(first),
                    loss=losses.get(first.line, math.nan),
                ),
                first.line,
            )
        )
    infinite = next((point for point in points if math.isinf(point.value)), None)
    bad = next(
        (point for point in curves.points(names.LOSS) if not math.isfinite(point.value)), None
    )
    is_origin = bad is None or (infinite is not None and infinite.line < bad.line)
    if (
        infinite
        and is_origin
        and not any(name == "grad-explosion" for name, _, _ in found)
        and len(points) >= 2
    ):
        found.append(
            (
                "grad-explosion",
                say("grad_norm {norm}", "grad_norm 为 {norm}", norm=show(infinite)),
                infinite.line,
            )
        )
    return found


def rate(curves: Curves) -> Found:
    """A learning rate far above what is usual for Adam-like optimisers on transformers."""
    points = [point for point in curves.points(names.LEARNING_RATE) if math.isfinite(point.value)]
    top = max(points, key=lambda point: point.value, default=None)
    if top is not None and 0 < top.value < _TINY_RATE and len(points) >= 5:
        return [
            (
                "tiny-rate",
                say("learning rate at most {top:g}", "学习率最高只有 {top:g}", top=top.value),
                top.line,
            )
        ]
    if top is None or top.value < 1e-3:
        return []
    return [
        (
            "high-rate",
            say("learning rate up to {top:g}", "学习率最高到 {top:g}", top=top.value),
            top.line,
        )
    ]
