"""What curves look like: hidden NaN, run-up against out of the blue, spike, plateau, a scaler settling or collapsing.

In: series. Out: `Shape`s, named as in `names.SHAPES`, each with a sentence of figures and the line where it shows.
Not here: what a shape means for a cause (`patterns/causes`), the arithmetic of memory (`facts.memory`).
Words for curves after common usage: run-up, spike (recovered or not), divergence, plateau.
"""

import itertools
import math
import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from postmortem import names
from postmortem.facts.policy import vanished
from postmortem.facts.series import Point, Series
from postmortem.facts.speed import slowed
from postmortem.model.lines import Where

_MOST_SERIES: Final = 64
_LARGEST: Final = 1e150
"""Figures whose squares can still be added."""
_ABSURD: Final = 1e9
"""A loss that no sound run has, whatever it sums over."""
_SMALLEST: Final = 1e-3
_TINY_RATE: Final = 1e-8
"""With this rate no float32 weight of usual size moves by a step of an Adam-like optimiser."""
_WORTH: Final = 0.05
_HUGE_SPIKE: Final = 10
"""Times what the loss ever was among the forty records before."""
_LONG: Final = 20_000
"""Kept points above which shapes look at an envelope: enough for any shape, and bounded."""
_STAND_IN: Final = re.compile(r"^(?:train(?:ing)?|total|avg|avr|mean|running|box)[_/]loss(?:_\w+)?$")
"""Names that stand for the training loss where no series is called so: `train_loss_estimate`, `box_loss`."""
_SPREAD: Final = re.compile(r"^(?:train/)?rewards?[_/]std(?:/mean)?$")
_STILL: Final = 1e-3
"""Share of its level within which a loss stands still, however few its records."""
_MOSTLY: Final = 0.5
"""Share of a step beyond which waiting for data is most of it."""
_JOINED: Final = (names.LOSS, names.GRAD_NORM, names.LEARNING_RATE, names.EVAL_LOSS, names.LOSS_SCALE)


class Shape(NamedTuple):
    """A shape seen in one or more series."""

    id: str
    text: str
    """The figures that show it, language-neutral."""
    source: int
    where: Where
    line: int


class Curves:
    """The series of one process in one source, by name; of long ones, the same few lines of all."""

    def __init__(self, series: Iterable[Series]) -> None:
        """Pick the longest series of each name."""
        self.by_name: dict[str, Series] = {}
        for one in series:
            known = self.by_name.get(one.name)
            if known is None or one.points > known.points:
                self.by_name[one.name] = one
        stand_in = None if names.LOSS in self.by_name else next((name for name in self.by_name if _STAND_IN.search(name)), None)
        if stand_in is not None:
            self.by_name[names.LOSS] = self.by_name[stand_in]
        self._points: dict[str, list[Point]] = {}
        long = [one for one in self.by_name.values() if len(one.values) > _LONG]
        self._lines = {point.line for one in long if one.name in _JOINED for point in one.samples(_LONG // 4)} if long else None

    def points(self, name: str) -> list[Point]:
        """Give the points of a series; empty without one."""
        if name not in self._points:
            self._points[name] = self._chosen(self.by_name[name]) if name in self.by_name else []
        return self._points[name]

    def _chosen(self, series: Series) -> list[Point]:
        if self._lines is None or len(series.values) <= _LONG:
            return list(series.kept())
        return [Point(series.steps[index], series.values[index], line) for index, line in enumerate(series.lines) if line in self._lines] or series.samples(_LONG // 4)


def shapes(series: Iterable[Series]) -> list[Shape]:
    """Find the shapes of all curves, each id once, at its first line."""
    groups: dict[tuple[int, Where], list[Series]] = {}
    for one in series:
        groups.setdefault((one.source, one.where), []).append(one)
    found: dict[str, Shape] = {}
    for (source, where), members in list(groups.items())[:_MOST_SERIES]:
        curves = Curves(members)
        for detector in DETECTORS:
            for name, text, line in detector(curves):
                found.setdefault(name, Shape(name, text, source, where, line))
    return list(found.values())


Found = list[tuple[str, str, int]]


def nonfinite(curves: Curves) -> Found:
    """Non-finite training loss: at once, after a run-up, or out of a calm curve; recovered or not."""
    points = curves.points(names.LOSS)
    bad = next((index for index, point in enumerate(points) if not math.isfinite(point.value)), None)
    if bad is None:
        return _dropped(curves)
    line = points[bad].line
    found: Found = [("nan-loss", f"loss {_show(points[bad])}", line)]
    if bad == 0:
        found.append(("nan-first-record", f"first record: {_show(points[0])}", line))
    if any(math.isfinite(point.value) for point in points[bad:]):
        found.append(("nan-recovers", "finite again after " + _show(points[bad]), line))
    before = [point.value for point in points[:bad]]
    if _is_runup(before):
        found.append(("nan-after-runup", "loss " + ", ".join(f"{value:.4g}" for value in before[-5:]) + f", then {points[bad].value}", points[max(0, bad - 3)].line))
    elif len(before) >= 2:
        found.append(("nan-out-of-flat", "loss " + ", ".join(f"{value:.4g}" for value in before[-4:]) + f", then {points[bad].value}", line))
    return found


def _dropped(curves: Curves) -> Found:
    """Find the NaN of a program that counts such iterations, or leaves their loss out of the record (Megatron)."""
    counted = next((point for point in curves.points("nan_iterations") if point.value > 0), None)
    if counted is not None:
        return [("nan-loss", f"{counted.value:g} nan iterations at {_at(counted)}", counted.line)]
    printed, counters = {point.line for point in curves.points(names.LOSS)}, {point.line for point in curves.points("nan_iterations")}
    missing = next((point for point in curves.points(names.GRAD_NORM) if math.isnan(point.value) and point.line in counters and point.line not in printed), None)
    return [("nan-loss", f"no loss beside grad_norm {_show(missing)}", missing.line)] if missing is not None else []


def _is_runup(values: Sequence[float]) -> bool:
    """Say whether a finite stretch ends in a climb that is more than the usual noise of the curve."""
    if len(values) < 2 or values[-1] <= 0:
        return False
    if len(values) < 8:
        best = min(values)
        rising = sum(other > one for one, other in itertools.pairwise(values))
        return best > 0 and values[-1] > 1.25 * values[0] and values[-1] > 1.25 * best and rising >= (len(values) - 1) / 2
    recent, usual = values[-5:], values[-30:-5]
    ceiling = max(usual)
    return max(recent) > 1.8 * ceiling or (sum(value > 1.15 * ceiling for value in recent) >= 2 and max(recent) > 1.3 * ceiling)


def hidden(curves: Curves) -> Found:
    """A loss printed as 0: the NaN that the Trainer filters out, or labels that are all masked."""
    points, norms = curves.points(names.LOSS), {point.line: point.value for point in curves.points(names.GRAD_NORM)}
    zeros = [point for point in points if point.value == 0.0]
    hidden_ones = [point for point in zeros if point.line in norms and not math.isfinite(norms[point.line])]
    if hidden_ones:
        return [("hidden-nan", f"loss 0.0 with grad_norm {norms[hidden_ones[0].line]} at {len(hidden_ones)} of {len(points)} records", hidden_ones[0].line)]
    if not zeros or len(zeros) < min(2, len(points)):
        return []
    if any(0 < value < math.inf for value in norms.values()) or any("reward" in name for name in curves.by_name):
        return []   # a gradient flows: the loss of a policy starts at 0
    evals = curves.points(names.EVAL_LOSS)
    started = next((point for point in points if point.value != 0.0), None)
    tail_is_zero = all(point.value == 0.0 for point in points[points.index(zeros[0]):])
    is_hidden = not norms and tail_is_zero and (any(math.isnan(point.value) for point in evals) or (started is not None and started.value > 0.1 and started.line < zeros[0].line))
    if is_hidden:
        return [("hidden-nan", f"loss {started.value if started else ''} drops to exactly 0.0 and stays", zeros[0].line)]
    return [("zero-loss", f"loss exactly 0.0 at {len(zeros)} of {len(points)} records", zeros[0].line)] if len(zeros) >= 2 or len(points) <= 2 else []


def zero_rate(curves: Curves) -> Found:
    """A non-finite loss or gradient while no rate has been applied yet."""
    rates = {point.line: point.value for point in curves.points(names.LEARNING_RATE)}
    bad = _first_bad(curves)
    if bad is None or not rates or (_is_settled(curves.points(names.GRAD_NORM)) and not any(math.isnan(point.value) for point in curves.points(names.LOSS))):
        return []
    rate = rates.get(bad.line)
    is_before_any = rate == 0.0 and all(value == 0.0 for line, value in rates.items() if line <= bad.line)
    return [("nan-at-zero-rate", f"learning rate {rate} at the first non-finite record", bad.line)] if is_before_any else []


def _first_bad(curves: Curves) -> Point | None:
    candidates = [point for name in (names.LOSS, names.GRAD_NORM) for point in curves.points(name) if not math.isfinite(point.value)]
    return min(candidates, key=lambda point: point.line, default=None)


def standstill(curves: Curves) -> Found:
    """A learning rate that does not move although a schedule is running."""
    rates = curves.points(names.LEARNING_RATE)
    if len(rates) < 2:
        return []
    still = [(one, other) for one, other in itertools.pairwise(rates) if one.value == other.value]
    distinct = len({point.value for point in rates})
    if still and (distinct >= 2 or (rates[0].value == 0.0 and len(rates) >= 2)) and _is_schedule(rates):
        first = still[0][1]
        return [("rate-standstill", f"learning rate {first.value:g} printed twice or more ({len(still)} of {len(rates) - 1} intervals do not move)", first.line)]
    return []


def _is_schedule(rates: Sequence[Point]) -> bool:
    """A rate that is constant by design, flat at its round peak, or printed with too few digits to move, is no standstill."""
    values = [point.value for point in rates]
    top = max(values)
    still = sum(one == other and (one < top or _digits(top) >= 6) for one, other in itertools.pairwise(values))
    starts_at_zero = len(values) >= 2 and values[0] == values[1] == 0.0
    return starts_at_zero or (still > 0 and max(map(_digits, values)) >= 7)


def _digits(value: float) -> int:
    """Count the significant digits of a figure."""
    return len(repr(value).split("e")[0].replace(".", "").strip("0"))


def evaluation(curves: Curves) -> Found:
    """Evaluation loss not finite although training is."""
    bad = next((point for point in curves.points(names.EVAL_LOSS) if not math.isfinite(point.value)), None)
    if bad is None or _first_bad(curves) is not None or hidden(curves):
        return []
    return [("nan-eval-only", f"eval_loss {_show(bad)}; training finite", bad.line)]


def components(curves: Curves) -> Found:
    """One loss component not finite while the total, or most others, are."""
    found: Found = []
    total = curves.by_name.get(names.LOSS)
    for name, series in curves.by_name.items():
        if "loss" in name and name not in {names.LOSS, names.EVAL_LOSS} and series.nonfinite and series.first_nonfinite and (total is None or total.nonfinite < series.nonfinite):
            found.append(("nan-component", f"{name} {_show(series.first_nonfinite)}", series.first_nonfinite.line))
    return found[:1]


def _is_settled(norms: Sequence[Point]) -> bool:
    """Say whether a gradient norm was not finite only once in a while, as when a scaler looks for its level."""
    bad = sum(not math.isfinite(point.value) for point in norms)
    return 0 < bad <= max(1, len(norms) // 5) and math.isfinite(norms[-1].value)


def gradients(curves: Curves) -> Found:
    """Gradient norms: exploding, or not finite beside a finite loss."""
    points = curves.points(names.GRAD_NORM)
    losses = {point.line: point.value for point in curves.points(names.LOSS)}
    found: Found = []
    calm = [point for point in points if not math.isfinite(point.value) and math.isfinite(losses.get(point.line, math.nan)) and losses.get(point.line) != 0.0]
    if calm and not _is_settled(points):
        found.append(("nan-grad-finite-loss", f"grad_norm {calm[0].value} beside loss {losses[calm[0].line]:g}, {len(calm)} of {len(points)} records", calm[0].line))
    finite = [point for point in points if math.isfinite(point.value)]
    if len(finite) >= 4:
        usual = statistics.median(point.value for point in finite[:max(3, len(finite) // 2)])
        high = [index for index, point in enumerate(finite) if point.value > 100 * max(usual, 1e-6) and point.value > 10]
        lasting = next((index for index in high if len(finite) - index <= 3 or sum(other - index <= 6 for other in high if other >= index) >= 3), None)
        blown = finite[lasting] if lasting is not None else None
        if blown is None and sum(point.value > 1e6 for point in finite) >= 3:
            blown = next(point for point in finite if point.value > 1e6)
        growing = sum(other.value > one.value for one, other in itertools.pairwise(finite))
        if blown is None and finite[-1].value > max(20 * finite[0].value, 1e4) and growing >= 0.7 * (len(finite) - 1):
            blown = finite[-1]
        if blown:
            found.append(("grad-explosion", f"grad_norm {usual:.3g} → {blown.value:.3g}", blown.line))
    infinite = next((point for point in points if math.isinf(point.value)), None)
    if infinite and not any(name == "grad-explosion" for name, _, _ in found) and len(points) >= 2:
        found.append(("grad-explosion", f"grad_norm {_show(infinite)}", infinite.line))
    return found


def course(curves: Curves) -> Found:
    """The way of a finite loss: falling, spiking, diverging, standing still, freezing."""
    points = [point for point in curves.points(names.LOSS) if abs(point.value) < _LARGEST]
    values = [point.value for point in points]
    if len(values) < 5:
        return []
    found: Found = []
    third = max(1, len(values) // 3)
    head, tail = statistics.fmean(values[:third]), statistics.fmean(values[-third:])
    if 0 < tail < 0.85 * head or (values[0] > 0 and min(values) < 0.6 * values[0]):
        found.append(("loss-falls", f"loss {values[0]:.4g} → {min(values):.4g}", points[0].line))
    has_bad = any(not math.isfinite(point.value) for point in curves.points(names.LOSS))
    if not has_bad:
        found += _jump_that_recedes(points) or _divergence(points) or _spike(points)
    spread = max(values) - min(values)
    level = abs(statistics.fmean(values))
    noise = 0.05 if len(values) >= 20 else 0.01
    is_level = len(values) >= 8 and abs(tail - head) < 0.02 * level and statistics.pstdev(values) < noise * level
    if (is_level or spread < _STILL * level) and level > 0 and not has_bad:
        found.append(("plateau", f"loss stays at {level:.4g} over {len(values)} records", points[-1].line))
        is_whole = math.isnan(points[0].step) or points[0].step <= 0.2 * points[-1].step
        if len(values) >= 12 and is_whole and abs(values[0] - level) < 0.03 * level and level > 0.3:
            found.append(("plateau-from-start", f"loss {values[0]:.4g} at first, {values[-1]:.4g} at last", points[0].line))
    if len(values) >= 10 and len(set(values[-5:])) == 1 and len(set(values)) > 3 and values[-1] != 0.0:
        found.append(("collapse", f"loss frozen at {values[-1]:g}", points[-5].line))
    return found


def _divergence(points: Sequence[Point]) -> Found:
    values = [point.value for point in points]
    quarter = max(2, len(values) // 4)
    if statistics.median(values[-quarter:]) > _ABSURD and min(values[-quarter:]) > 0.1 * values[0]:
        return [("loss-divergence", f"loss {values[0]:.4g} → {values[-1]:.4g}", next(point.line for point in points if point.value > _ABSURD))]
    best = min(values[:-quarter] or values)
    late = statistics.median(values[-quarter:])
    is_up = best > 0 and late > 2 * best and late > 1.2 * statistics.median(values[:quarter]) and min(values[-quarter:]) > 1.3 * best
    if not is_up:
        return []
    rise = next(point for point in points[values.index(best):] if point.value > 1.5 * best)
    return [("loss-divergence", f"loss {best:.4g} → {late:.4g}", rise.line)]


def _jump_that_recedes(points: Sequence[Point]) -> Found:
    """Find a steady curve that leaps within one record or two and then falls again, back to its level or not."""
    values = [point.value for point in points]
    for index in range(3, len(values) - 1):
        before = values[max(0, index - 10):index]
        level, peak = statistics.median(before), max(values[index:index + 2])
        is_steady = level > 0.05 and max(before) - min(before) < 0.15 * level
        if is_steady and values[index] > 1.8 * level and peak > 2.5 * level and peak - level > 0.5 and values[-1] < 0.85 * peak and max(values[index + 2:], default=0.0) < peak:
            return _leap(points, index, level, peak)
    return []


def _leap(points: Sequence[Point], index: int, level: float, peak: float) -> Found:
    text, line = f"loss {level:.4g} → {peak:.4g} at {_at(points[index])}", points[index].line
    is_huge = level > _WORTH and peak > _HUGE_SPIKE * max(point.value for point in points[max(0, index - 40):index])
    return [("loss-spike", text, line), *([("huge-spike", text, line)] if is_huge else [])]


def _spike(points: Sequence[Point]) -> Found:
    values = [point.value for point in points]
    for index in range(5, len(values)):
        level = statistics.median(values[max(0, index - 10):index])
        if level > _SMALLEST and values[index] > 3 * level and values[index] - level > 0.5 and values[index] > 1.5 * max(values[max(0, index - 40):index]):
            return _leap(points, index, level, values[index])
    return []


def scale(curves: Curves) -> Found:
    """The loss scale: finding its level, or falling to the floor."""
    points = curves.points(names.LOSS_SCALE)
    values = [point.value for point in points]
    if len(values) < 2 or max(values) <= 0:
        return []
    top, end = max(values), values[-1]
    drop = math.log2(max(values[0], top) / end) if end > 0 else math.inf
    rises = sum(other > one for one, other in itertools.pairwise(values))
    losses = [point for point in curves.points(names.LOSS) if point.line > points[-1].line and math.isfinite(point.value) and point.value != 0.0]
    text = f"loss scale {values[0]:g} → {end:g} in {len(values)} events"
    if (end <= 1 and drop >= 3) or (drop >= 5 and end <= 64 and not rises and not losses):
        # A record of every step holds quiet ones first; a record of the overflows alone begins with the first.
        start = next(other for one, other in itertools.pairwise(points) if other.value < one.value) if values[0] == values[1] else points[0]
        return [("scale-collapse", text, start.line)]
    if drop >= 1 and (end >= 128 or len(losses) >= 3):
        return [("scale-settling", text, points[0].line)]
    return []


def memory(curves: Curves) -> Found:
    """Memory that rises over the run."""
    points = curves.points(names.MEMORY)
    values = [point.value for point in points if math.isfinite(point.value)]
    if len(values) < 5:
        return []
    rising = sum(other > one for one, other in itertools.pairwise(values))
    falling = sum(other < one for one, other in itertools.pairwise(values))
    if values[-1] > 1.2 * values[0] and rising >= 4 and falling <= 0.2 * rising and rising >= 0.3 * len(values):
        return [("memory-rising", f"memory {values[0]:g} → {values[-1]:g} over {len(values)} records", points[0].line)]
    late = values[len(values) // 2:]
    if len(late) >= 8 and 0 < max(late) < 1.25 * min(late) and late[-1] < 1.1 * statistics.median(late):
        return [("memory-flat", f"memory {min(late):g} to {max(late):g} over {len(late)} records", points[-1].line)]
    return []


def speed(curves: Curves) -> Found:
    """Steps that take twice as long, or more, from some record on, as throughput or as time a step."""
    return slowed(names.THROUGHPUT, curves.points(names.THROUGHPUT)) or slowed(names.STEP_TIME, curves.points(names.STEP_TIME), is_time=True)


def rewards(curves: Curves) -> Found:
    """Rewards whose spread within a group is 0: from the start, or after they had differed."""
    series = next((one for name, one in curves.by_name.items() if _SPREAD.search(name) and one.points >= 3), None)
    if series is None:
        return []
    points = curves.points(series.name)
    differing = [index for index, point in enumerate(points) if point.value != 0.0]
    if not differing:
        return [("flat-rewards", f"{series.name} is 0 at all {len(points)} records", points[0].line)]
    last = differing[-1]
    if len(points) - last > max(3, len(points) // 3):
        return [("collapse", f"{series.name} {points[last].value:g}, then 0 for {len(points) - last - 1} records", points[last + 1].line)]
    return []


def entropy(curves: Curves) -> Found:
    """The entropy of a policy that has gone to nothing and stays there."""
    return vanished("entropy", curves.points("entropy"))


def waiting(curves: Curves) -> Found:
    """Steps that consist mostly of waiting for data."""
    steps, waits = curves.points(names.STEP_TIME), {point.line: point.value for point in curves.points(names.DATA_TIME)}
    pairs = [(point, waits[point.line]) for point in steps if point.value > 0 and point.line in waits]
    late = pairs[1:] or pairs
    if len(pairs) < 3 or statistics.median(wait / point.value for point, wait in late) < _MOSTLY:
        return []
    whole, part = statistics.median(point.value for point, _ in late), statistics.median(wait for _, wait in late)
    return [("input-bound", f"data time {part:.4g} of {whole:.4g} s a step over {len(pairs)} records", late[0][0].line)]


def rate(curves: Curves) -> Found:
    """A learning rate far above what is usual for Adam-like optimisers on transformers."""
    points = [point for point in curves.points(names.LEARNING_RATE) if math.isfinite(point.value)]
    top = max(points, key=lambda point: point.value, default=None)
    if top is not None and 0 < top.value < _TINY_RATE and len(points) >= 5:
        return [("tiny-rate", f"learning rate at most {top.value:g}", top.line)]
    if top is None or top.value < 1e-3:
        return []
    return [("high-rate", f"learning rate up to {top.value:g}", top.line)]


DETECTORS: Final[tuple[Callable[[Curves], Found], ...]] = (
    nonfinite, hidden, zero_rate, standstill, evaluation, components, gradients, course, scale, memory, rewards, entropy, waiting, speed, rate,
)


def _show(point: Point) -> str:
    return f"{point.value:g} at {_at(point)}"


def _at(point: Point) -> str:
    return f"line {point.line}" if math.isnan(point.step) else f"step {point.step:g}"
