"""Values that are not finite: when they come, after what, how many, and what hides them.

In: the curves of one process. Out: the shapes `nan-*`, `hidden-nan`, `zero-loss`.
Not here: scalers (`shapes.scaler`), gradients that grow (`shapes.gradients`).
"""

import itertools
import math
import re
from collections.abc import Sequence
from typing import Final

from postmortem import names
from postmortem.facts.series import Point
from postmortem.facts.shapes.curves import Curves, Found, at, show
from postmortem.model.said import Said, listed, say

_OFTEN: Final = 0.2
"""Share of records with a loss of exactly 0 that are more than chance."""
_NEARLY: Final = 0.01
"""A loss from which the next record may be 0 without anything being wrong."""
_OF_INPUTS: Final = re.compile(
    r"(?:x|inputs?|batch|images?|img|pixels?|pixel_values|features?|feats?|data|samples?|audio|wav|mels?|src)_(?:abs_?)?(?:max|min|mean|std|var|norm|sum|amax|absmax|range)",
    re.IGNORECASE,
)
"""Names of figures of what the model is given: `x_absmax`, `input_mean`, `pixel_values_max`."""
_WIDE: Final = 5
"""Steps between two records beyond which a run-up may lie unseen between them."""


def nonfinite(curves: Curves) -> Found:
    """Non-finite training loss: at once, after a run-up, or out of a calm curve; recovered or not."""
    points = curves.points(names.LOSS)
    bad = next(
        (index for index, point in enumerate(points) if not math.isfinite(point.value)), None
    )
    if bad is None:
        return _dropped(curves)
    line = points[bad].line
    found: Found = [
        ("nan-loss", say("loss {shown}", "loss 为 {shown}", shown=show(points[bad])), line)
    ]
    if bad == 0:
        found.append(
            (
                "nan-first-record",
                say("first record: {shown}", "第一条记录：{shown}", shown=show(points[0])),
                line,
            )
        )
        found += _before_update(curves, points)
    found += _interval(points, bad) + _without_gradient(curves, points)
    if any(math.isfinite(point.value) for point in points[bad:]):
        found.append(
            (
                "nan-recovers",
                say(
                    "finite again after {shown}",
                    "{shown}之后又恢复为有限值",
                    shown=show(points[bad]),
                ),
                line,
            )
        )
    before = [point.value for point in points[:bad]]
    if _is_runup(before):
        found.append(
            ("nan-after-runup", _then(before[-5:], points[bad].value), points[max(0, bad - 3)].line)
        )
    elif len(before) >= 2:
        found.append(("nan-out-of-flat", _then(before[-4:], points[bad].value), line))
    return found


def _then(before: Sequence[float], value: float) -> Said:
    return say(
        "loss {before}, then {value}",
        "loss {before}，然后变成 {value}",
        before=listed([f"{one:.4g}" for one in before]),
        value=value,
    )


def _before_update(curves: Curves, points: Sequence[Point]) -> Found:
    """Find a loss that is bad in the first step: it is computed before the first update.

    A mean over an epoch is not of one step.
    """
    is_of_one_step = len(points) == 1 or points[1].step - points[0].step <= 1
    is_mean = any(point.line == points[0].line for point in curves.points(names.EVAL_LOSS))
    if points[0].step not in {0.0, 1.0} or not is_of_one_step or is_mean:
        return []
    return [
        (
            "nan-before-update",
            say(
                "loss {shown}, computed before the first update",
                "loss 为 {shown}，它在第一次更新之前就已算出",
                shown=show(points[0]),
            ),
            points[0].line,
        )
    ]


def _interval(points: Sequence[Point], bad: int) -> Found:
    """Find a first bad record that stands for several steps, so that what led to it cannot be seen."""
    before, first = points[bad - 1].step if bad else 0.0, points[bad].step
    if not first - before >= _WIDE:
        return []
    said = say(
        "the record at step {first:g} is the first since step {before:g}: the bad step is one of"
        " {count:g}",
        "第 {before:g} 步之后，到第 {first:g} 步才有记录：出问题的是其间 {count:g} 步中的某一步",
        first=first,
        before=before,
        count=first - before,
    )
    return [("nan-in-interval", said, points[bad].line)]


def _without_gradient(curves: Curves, points: Sequence[Point]) -> Found:
    """Find a NaN loss beside a gradient of exactly 0: the mean over no label at all.

    A NaN that is computed from values has NaN gradients.
    """
    norms = {point.line: point.value for point in curves.points(names.GRAD_NORM)}
    empty = [point for point in points if math.isnan(point.value) and norms.get(point.line) == 0.0]
    bad = sum(not math.isfinite(point.value) for point in points)
    if len(empty) < 2 or len(empty) < 0.9 * bad:
        return []
    return [
        (
            "nan-zero-gradient",
            say(
                "loss nan with grad_norm 0 at {count} of {bad} bad records",
                "{bad} 条异常记录中有 {count} 条 loss 为 nan 而 grad_norm 为 0",
                count=len(empty),
                bad=bad,
            ),
            empty[0].line,
        )
    ]


def _dropped(curves: Curves) -> Found:
    """Find the NaN of a program that counts such iterations, or leaves their loss out of the record (Megatron)."""
    counted = next((point for point in curves.points("nan_iterations") if point.value > 0), None)
    if counted is not None:
        return [
            (
                "nan-loss",
                say(
                    "{count:g} nan iterations at {place}",
                    "{place}有 {count:g} 次 nan 迭代",
                    count=counted.value,
                    place=at(counted),
                ),
                counted.line,
            )
        ]
    printed, counters = (
        {point.line for point in curves.points(names.LOSS)},
        {point.line for point in curves.points("nan_iterations")},
    )
    missing = next(
        (
            point
            for point in curves.points(names.GRAD_NORM)
            if math.isnan(point.value) and point.line in counters and point.line not in printed
        ),
        None,
    )
    return (
        [
            (
                "nan-loss",
                say(
                    "no loss beside grad_norm {shown}",
                    "没有打印 loss，而 grad_norm 为 {shown}",
                    shown=show(missing),
                ),
                missing.line,
            )
        ]
        if missing is not None
        else []
    )


def _is_runup(values: Sequence[float]) -> bool:
    """Say whether a finite stretch ends in a climb that is more than the usual noise of the curve."""
    if len(values) < 2 or values[-1] <= 0:
        return False
    if len(values) < 8:
        best = min(values)
        rising = sum(other > one for one, other in itertools.pairwise(values))
        is_climb = values[-1] > 3 * best or all(
            other > one for one, other in itertools.pairwise(values[-3:])
        )
        return (
            best > 0
            and values[-1] > 1.25 * values[0]
            and values[-1] > 1.25 * best
            and rising >= (len(values) - 1) / 2
            and is_climb
        )
    recent, usual = values[-5:], values[-30:-5]
    ceiling = max(usual)
    return max(recent) > 1.8 * ceiling or (
        sum(value > 1.15 * ceiling for value in recent) >= 2 and max(recent) > 1.3 * ceiling
    )


def hidden(curves: Curves) -> Found:
    """A loss printed as 0: the NaN that the Trainer filters out, or labels that are all masked."""
    points, norms = (
        curves.points(names.LOSS),
        {point.line: point.value for point in curves.points(names.GRAD_NORM)},
    )
    zeros = [point for point in points if point.value == 0.0]
    hidden_ones = [
        point for point in zeros if point.line in norms and not math.isfinite(norms[point.line])
    ]
    if hidden_ones:
        said = say(
            "loss 0.0 with grad_norm {norm} at {bad} of {count} records",
            "{count} 条记录中有 {bad} 条 loss 为 0.0 而 grad_norm 为 {norm}",
            norm=norms[hidden_ones[0].line],
            bad=len(hidden_ones),
            count=len(points),
        )
        return [("hidden-nan", said, hidden_ones[0].line)]
    if not zeros or len(zeros) < min(2, len(points)):
        return []
    if any(0 < value < math.inf for value in norms.values()) or any(
        "reward" in name for name in curves.by_name
    ):
        return []  # a gradient flows: the loss of a policy starts at 0
    first = points.index(zeros[0])
    if first and 0 < points[first - 1].value < _NEARLY:
        return []  # it has been learnt to the last printed digit
    evals = curves.points(names.EVAL_LOSS)
    started = next((point for point in points if point.value != 0.0), None)
    tail_is_zero = all(point.value == 0.0 for point in points[first:])
    is_hidden = (
        not norms
        and tail_is_zero
        and (
            any(math.isnan(point.value) for point in evals)
            or (started is not None and started.value > 0.1 and started.line < zeros[0].line)
        )
    )
    if is_hidden:
        return [
            (
                "hidden-nan",
                say(
                    "loss {before} drops to exactly 0.0 and stays",
                    "loss 从 {before} 变为恰好 0.0，此后不变",
                    before=started.value if started else "",
                ),
                zeros[0].line,
            )
        ]
    return _masked(points, zeros)


def _masked(points: Sequence[Point], zeros: Sequence[Point]) -> Found:
    """Find zeros that come in a row, or often.

    A loss that is learnt may be 0 for a batch, and one that is not finite as well is another
    matter.
    """
    longest = max(
        len(list(run))
        for is_zero, run in itertools.groupby(points, key=lambda point: point.value == 0.0)
        if is_zero
    )
    is_often = longest >= 3 or len(zeros) >= _OFTEN * len(points)
    is_short = len(zeros) < 2 < len(points)
    if is_short or not is_often or any(not math.isfinite(point.value) for point in points):
        return []
    return [
        (
            "zero-loss",
            say(
                "loss exactly 0.0 at {bad} of {count} records",
                "{count} 条记录中有 {bad} 条 loss 恰好为 0.0",
                bad=len(zeros),
                count=len(points),
            ),
            zeros[0].line,
        )
    ]


def zero_rate(curves: Curves) -> Found:
    """A non-finite loss or gradient while no rate has been applied yet."""
    rates = {point.line: point.value for point in curves.points(names.LEARNING_RATE)}
    bad = first_bad(curves)
    if (
        bad is None
        or not rates
        or (
            is_settled(curves.points(names.GRAD_NORM))
            and not any(math.isnan(point.value) for point in curves.points(names.LOSS))
        )
    ):
        return []
    rate = rates.get(bad.line)
    is_before_any = rate == 0.0 and all(
        value == 0.0 for line, value in rates.items() if line <= bad.line
    )
    return (
        [
            (
                "nan-at-zero-rate",
                say(
                    "learning rate {rate} at the first non-finite record",
                    "首条 NaN/inf 记录处的学习率为 {rate}",
                    rate=rate,
                ),
                bad.line,
            )
        ]
        if is_before_any
        else []
    )


def first_bad(curves: Curves) -> Point | None:
    """Give the first loss or gradient norm that is not finite."""
    candidates = [
        point
        for name in (names.LOSS, names.GRAD_NORM)
        for point in curves.points(name)
        if not math.isfinite(point.value)
    ]
    return min(candidates, key=lambda point: point.line, default=None)


def evaluation(curves: Curves) -> Found:
    """Evaluation loss not finite although training is."""
    bad = next(
        (point for point in curves.points(names.EVAL_LOSS) if not math.isfinite(point.value)), None
    )
    if bad is None or first_bad(curves) is not None or hidden(curves):
        return []
    return [
        (
            "nan-eval-only",
            say(
                "eval_loss {shown}; training finite",
                "eval_loss 为 {shown}；训练 loss 均为有限值",
                shown=show(bad),
            ),
            bad.line,
        )
    ]


def components(curves: Curves) -> Found:
    """One loss component not finite while the total, or most others, are."""
    found: Found = []
    total = curves.by_name.get(names.LOSS)
    for name, series in curves.by_name.items():
        if (
            "loss" in name
            and name not in {names.LOSS, names.EVAL_LOSS}
            and series.nonfinite
            and series.first_nonfinite
            and (total is None or total.nonfinite < series.nonfinite)
        ):
            found.append(
                (
                    "nan-component",
                    say(
                        "{name} {shown}",
                        "{name} 为 {shown}",
                        name=name,
                        shown=show(series.first_nonfinite),
                    ),
                    series.first_nonfinite.line,
                )
            )
    return found[:1]


def inputs(curves: Curves) -> Found:
    """A figure of the inputs that is not finite when the loss first is not, or earlier.

    It was printed before anything was computed from them.
    """
    bad = first_bad(curves)
    told = [
        (series.first_nonfinite, name)
        for name, series in curves.by_name.items()
        if series.first_nonfinite and _OF_INPUTS.fullmatch(name)
    ]
    if bad is None or not told:
        return []
    first, name = min(told, key=lambda one: one[0].line)
    return (
        [
            (
                "nan-inputs",
                say("{name} {shown}", "{name} 为 {shown}", name=name, shown=show(first)),
                first.line,
            )
        ]
        if first.line <= bad.line
        else []
    )


def is_settled(norms: Sequence[Point]) -> bool:
    """Say whether a gradient norm was not finite only once in a while, as when a scaler looks for its level."""
    bad = sum(not math.isfinite(point.value) for point in norms)
    return 0 < bad <= max(1, len(norms) // 5) and math.isfinite(norms[-1].value)
