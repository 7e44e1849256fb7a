"""Says by numbers whether an expert who sees only the printed log could tell the fault.

Each rule looks at the series as printed (rounded, cut) and at the same print of the sound twin
(same task and seed). A rule returns whether the fault shows, by which figures, and where needed
another cause than the fault's own (a too high rate may diverge or stand still). Common terms:
`range` is how far the twin's printed loss fell; `noise` the median step between its neighbours;
first and last are medians of the first tenth and the last fifth of a series.
"""

import bisect
import itertools
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Series = dict[str, list[tuple[int, float]]]
MAY_BE_NAN = frozenset({"val_r2", "val_rare_precision"})
HIDDEN = frozenset(
    {"lr", "data_time", "step_time", "throughput", "loss_scale", "epsilon", "eval_time"}
)


@dataclass(slots=True)
class Judgement:
    """Whether the fault shows, the figures that decided, the cause where the rule names another."""

    visible: bool
    figures: dict[str, float] = field(default_factory=dict)
    cause: str = ""
    seen: str = ""


@dataclass(slots=True)
class Evidence:
    """What is printed of a run and of its twin, and what is known beside the series."""

    run: Series
    twin: Series
    score: str
    score_up: bool
    chance: float | None
    classes_shown: bool
    rate_shown: bool
    head_cut: bool
    event_step: int | None
    clocks: list[tuple[int, float]]
    clock_shown: bool
    step_layout: bool
    period: float
    resumed_shown: bool
    random_loss: float | None
    same_quantity: bool
    classes: int
    before: dict[str, float]

    def values(self, name: str) -> list[float]:
        """The run's values of a series."""
        return [value for _, value in self.run.get(name, [])]

    def sound(self, name: str) -> list[float]:
        """The twin's values of a series."""
        return [value for _, value in self.twin.get(name, [])]


def finite(values: Sequence[float]) -> list[float]:
    """The numbers among them."""
    return [one for one in values if math.isfinite(one)]


def first(values: Sequence[float]) -> float:
    """Median of the first tenth."""
    kept = finite(values)
    return statistics.median(kept[: max(1, len(kept) // 10)]) if kept else math.nan


def last(values: Sequence[float]) -> float:
    """Median of the last fifth."""
    kept = finite(values)
    return statistics.median(kept[-max(1, len(kept) // 5) :]) if kept else math.nan


def noise(values: Sequence[float]) -> float:
    """Median step between neighbours."""
    kept = finite(values)
    steps = [abs(b - a) for a, b in itertools.pairwise(kept)]
    return statistics.median(steps) if steps else 0.0


def fall(values: Sequence[float]) -> float:
    """How far a series fell from its first to its last part."""
    return first(values) - last(values)


def loss_range(e: Evidence) -> float:
    """How far the twin's printed loss fell; at least its noise and 2 % of its first."""
    sound = e.sound("loss")
    return max(1e-9, *finite([fall(sound), noise(sound), 0.02 * abs(first(sound))]))


def nearest(steps: Sequence[int], step: int) -> int:
    """Position of the nearest step."""
    after = bisect.bisect_left(steps, step)
    around = [k for k in (after - 1, after) if 0 <= k < len(steps)]
    return min(around, key=lambda k: abs(steps[k] - step))


def indistinguishable(e: Evidence) -> bool:
    """Same within noise: in every printed series the run differs from its twin by less than two noises on the mean."""
    for name, series in e.run.items():
        if name in HIDDEN or name not in e.twin:
            continue
        steps, values = zip(*e.twin[name], strict=True)
        pairs = [(value, values[nearest(steps, step)]) for step, value in series]
        if any(math.isfinite(a) != math.isfinite(b) for a, b in pairs):
            return False
        gap = (
            statistics.fmean(abs(a - b) for a, b in pairs if math.isfinite(a))
            if finite([a for a, _ in pairs])
            else 0.0
        )
        spread = noise([b for _, b in pairs])
        size = 0.02 * max(abs(first(values)), abs(last(values)), 1e-9)
        if gap > max(2 * spread, size):
            return False
    return True


def knows_chance(e: Evidence) -> bool:
    """The rate, the number of classes or a score near a guess is printed."""
    if e.rate_shown or (
        e.classes_shown
        and e.random_loss is not None
        and abs(last(e.values("loss")) - e.random_loss) < 0.15 * e.random_loss
    ):
        return True
    if e.chance is None:
        return False
    return any(
        values and last(values) < 1.3 * e.chance + 0.03
        for values in (e.values(f"val_{e.score}"), e.values(e.score))
    )


def nonfinite(e: Evidence) -> Judgement:
    """NaN or infinity is printed in some series (not in one that may lack a class or a spread)."""
    counts = [
        sum(
            not math.isfinite(value)
            for name, pairs in series.items()
            for _, value in pairs
            if name not in MAY_BE_NAN
        )
        for series in (e.run, e.twin)
    ]
    return Judgement(counts[0] > counts[1], {"nonfinite": counts[0]})


def smooth(values: Sequence[float]) -> list[float]:
    """Medians of at most 12 stretches of the finite values, so that noise is no rise."""
    kept = finite(values)
    size = max(1, -(-len(kept) // 12))
    return [statistics.median(kept[k : k + size]) for k in range(0, len(kept), size)]


def climb(e: Evidence) -> float:
    """How far the smoothed loss rose from its lowest to its last, in ranges (at least 0.3 of its lowest)."""
    kept = smooth(e.values("loss"))
    if not kept:
        return 0.0
    return (last(kept) - min(kept)) / max(loss_range(e), 0.3 * abs(min(kept)))


def above_start(e: Evidence) -> float:
    """How far the smoothed loss stood above its own first, or stands above the loss of a guess where the classes are printed, in ranges (at least 0.3 of its first)."""
    kept = smooth(e.values("loss"))
    if not kept:
        return 0.0
    own = (max(kept) - kept[0]) / max(loss_range(e), 0.3 * abs(kept[0]))
    if e.classes_shown and e.random_loss is not None:
        own = max(own, (last(kept) - 1.2 * e.random_loss) / loss_range(e))
    return own


def at_chance(e: Evidence) -> bool:
    """A score is printed at least 4 times and ends near a guess, far below the twin's."""
    if e.chance is None:
        return False
    limit = 1.3 * e.chance + 0.03
    for name in (f"val_{e.score}", e.score):
        values, sound = e.values(name), e.sound(name)
        if len(values) >= 4 and last(values) < limit and last(sound) > limit + 0.15:
            return True
    return False


def scores_well(e: Evidence) -> bool:
    """A printed score ends within 0.25 of the twin's own rise: what the loss lacks is not learning."""
    for name in (f"val_{e.score}", e.score):
        run, sound = e.values(name), e.sound(name)
        if run and sound:
            rise = last(sound) - first(sound)
            return abs(last(sound) - last(run)) < 0.25 * abs(rise) + 0.02
    return False


def share_moved(e: Evidence) -> float:
    """The loss's fall in ranges; 1 is the twin's."""
    return fall(e.values("loss")) / loss_range(e)


def blow_up(e: Evidence) -> Judgement:
    """The loss ends a whole range above its lowest, or stood as far above its start and ends 0.3 ranges above the twin; 3 records at least."""
    kept = finite(e.values("loss"))
    rise, above = climb(e), above_start(e)
    worse = bool(kept) and last(kept) - last(e.sound("loss")) > 0.3 * loss_range(e)
    shows = worse and (rise >= 1 or above >= 1) and len(kept) >= 3
    return Judgement(shows, {"rise": rise, "above_start": above})


def divergence(e: Evidence) -> Judgement:
    """NaN, or the loss blows up; without a run-up or a printed rate a NaN has no origin."""
    bad, up = nonfinite(e), blow_up(e)
    if bad.visible:
        run_up = max(up.figures.values()) > 0.5
        known = "" if run_up or e.rate_shown else "numerics.nonfinite-unknown"
        return Judgement(True, {**up.figures, **bad.figures}, "", known)
    return up if up.visible else high_rate(e)


def rough(e: Evidence) -> Judgement:
    """The loss ends > 0.35 ranges above the twin and jitters 3 times as much (twin at least 0.02 ranges; run at least a tenth of its own way), in at least 6 records."""
    values, sound = finite(e.values("loss")), e.sound("loss")
    ratio = jitter(values) / max(jitter(sound), 0.02 * loss_range(e))
    worse = (last(values) - last(sound)) / loss_range(e)
    levels = smooth(values) or [0.0]
    loud = jitter(values) > 0.1 * (max(levels) - min(levels))
    shows = worse > 0.35 and ratio > 3 and loud and len(values) >= 6
    return Judgement(shows, {"roughness": ratio, "worse": worse})


def high_rate(e: Evidence) -> Judgement:
    """NaN or blow-up as above; or still (moved < 0.15, or ends near the twin's start): a plateau, which shows as `stuck` does; or rough."""
    bad, up = nonfinite(e), blow_up(e)
    if bad.visible or up.visible:
        return Judgement(True, {**up.figures, **bad.figures})
    values, sound = e.values("loss"), e.sound("loss")
    moved = share_moved(e)
    if moved < 0.15 or last(values) >= first(sound) - 0.15 * loss_range(e):
        found = stuck(e)
        return Judgement(found.visible, {**up.figures, **found.figures}, "learning.plateau")
    found = rough(e)
    return Judgement(found.visible, {**up.figures, **found.figures})


def stuck(e: Evidence) -> Judgement:
    """The loss moved < 0.15 of the twin's range, the start is printed, and rate, classes or a chance-level score are printed or at least 6 records; or a score is printed near a guess to the end."""
    values = e.values("loss")
    moved = abs(share_moved(e))
    level = abs(last(values) - last(e.sound("loss"))) / loss_range(e)
    enough = fall(e.sound("loss")) > 3 * noise(e.sound("loss"))
    figures = {
        "moved": moved,
        "level": level,
        "records": len(values),
        "at_chance": float(at_chance(e)),
    }
    if at_chance(e) and level > 0.5:
        return Judgement(True, figures)
    if e.head_cut or not enough or len(values) < 4:
        return Judgement(False, figures)
    return Judgement(
        moved < 0.15 and level > 0.5 and (knows_chance(e) or len(values) >= 6), figures
    )


def slow(e: Evidence) -> Judgement:
    """The loss fell < 0.4 of the twin's range from a printed start, and rate, classes or chance-level score are printed; nearly nothing (< 0.15) shows as `stuck` does, and a printed score as good as the twin's hides it."""
    moved = share_moved(e)
    if moved < 0.15:
        found = stuck(e)
        flat = not found.visible or e.rate_shown
        return Judgement(
            found.visible, {"moved": moved, **found.figures}, "", "" if flat else "learning.plateau"
        )
    values = e.values("loss")
    shows = moved < 0.4 and not e.head_cut and len(values) >= 5 and knows_chance(e)
    shows = shows and not scores_well(e)
    return Judgement(shows, {"moved": moved})


def no_gradient(e: Evidence) -> Judgement:
    """A gradient norm or rate of 0 is printed and the loss moved < 0.15; else as `stuck`, which then names a plateau."""
    norms, rates = e.values("grad_norm"), e.values("lr")
    moved = abs(share_moved(e))
    zero = (norms and max(finite(norms) or [1]) == 0) or (rates and max(rates) == 0)
    if zero and len(norms or rates) >= 3 and (moved < 0.15 or e.head_cut):
        return Judgement(True, {"moved": moved, "zero": 1.0})
    found = stuck(e)
    constant = len(set(e.values("val_loss"))) == 1 and len(e.values("val_loss")) >= 3
    values = e.values("loss")
    still = constant and bool(values) and (moved < 0.15 or abs(fall(values)) <= 2 * noise(values))
    return Judgement(
        found.visible or still,
        {**found.figures, "constant_validation": float(constant)},
        "",
        "" if still or not found.visible else "learning.plateau",
    )


def accumulating(e: Evidence) -> Judgement:
    """The printed gradient norm ends 10 times above its first (the twin's does not), or the loss diverges."""
    norms, sound = finite(e.values("grad_norm")), finite(e.sound("grad_norm"))
    growth = last(norms) / max(first(norms), 1e-9) if norms else 0.0
    usual = last(sound) / max(first(sound), 1e-9) if sound else 1.0
    if growth >= 10 and growth > 5 * usual and len(norms) >= 4:
        return Judgement(True, {"growth": growth})
    found = high_rate(e)
    return Judgement(
        found.visible, {"growth": growth, **found.figures}, found.cause or "numerics.lr-divergence"
    )


def explosion(e: Evidence) -> Judgement:
    """The printed gradient norm reaches 100 times the twin's, or non-finite; else the loss diverges."""
    norms, sound = e.values("grad_norm"), finite(e.sound("grad_norm"))
    top = max([*finite(norms), math.inf if len(finite(norms)) < len(norms) else 0.0, 0.0])
    usual = statistics.median(sound) if sound else math.inf
    worse = (last(e.values("loss")) - last(e.sound("loss"))) / loss_range(e)
    if norms and top >= 100 * max(usual, 1e-9):
        return Judgement(True, {"top": top, "usual": usual})
    found = divergence(e)
    return Judgement(
        found.visible and (worse > 0.3 or bool(nonfinite(e).visible)),
        found.figures,
        found.cause or "numerics.lr-divergence",
        found.seen,
    )


def wrong_sign(e: Evidence) -> Judgement:
    """The loss ends a range above its first, or falls two ranges below the twin's last (and below 0 where the twin's is not), or the score falls below chance."""
    values, sound = e.values("loss"), e.sound("loss")
    if nonfinite(e).visible:
        return Judgement(
            True,
            nonfinite(e).figures,
            "",
            "numerics.lr-divergence" if climb(e) > 0.5 else "numerics.nonfinite-unknown",
        )
    up = max((last(values) - first(values)) / loss_range(e), above_start(e))
    down = (last(sound) - last(values)) / loss_range(e)
    below = down > 2 and last(values) < 0 <= last(sound)
    val = (
        (last(e.values("val_loss")) - first(e.values("val_loss"))) / loss_range(e)
        if e.values("val_loss")
        else 0.0
    )
    figures = {"up": up, "down": down, "validation_up": val}
    if up >= 1 or val >= 1:
        return Judgement(len(values) >= 3, figures, "", "" if below else "numerics.lr-divergence")
    found = stuck(e)
    return Judgement(below or found.visible, figures, "", "" if below else "learning.plateau")


def jitter(values: Sequence[float]) -> float:
    """Median distance of a value from the middle of its neighbours."""
    kept = finite(values)
    bends = [abs(b - (a + c) / 2) for a, b, c in zip(kept, kept[1:], kept[2:], strict=False)]
    return statistics.median(bends) if bends else 0.0


def gap_open(train: Sequence[float], held_out: Sequence[float]) -> bool:
    """Training ends below a third of the validation and fell on by > 30 % over its second half (or to a fiftieth), in which the validation did not improve by 2 %."""
    if len(held_out) < 6 or len(train) < 3 or min(train) < 0 or min(held_out) <= 0:
        return False
    late = train[len(train) // 2 :]
    falling = last(late) < 0.7 * first(late) or last(train) < 0.02 * last(held_out)
    flat = last(held_out) > 0.98 * min(held_out[: len(held_out) // 2])
    return last(train) < last(held_out) / 3 and falling and flat


def overfitting(e: Evidence) -> Judgement:
    """The last printed validation loss is > 10 % (> 0.1 ranges where negative) and 3 jitters above its best while training fell on, or the score fell by > 0.03 from its best, or the gap is open."""
    losses, scores, train = e.values("val_loss"), e.values(f"val_{e.score}"), e.values("loss")
    if not all(map(math.isfinite, (*losses, *scores, *train))):
        return Judgement(False)
    figures: dict[str, float] = {}
    shows = False
    if len(losses) >= 4:
        best = min(losses)
        scale = abs(best) if best > 0 else abs(first(e.sound("val_loss")) - best)
        worse = (last(losses) - best) / max(scale, 1e-9)
        figures["validation_worse"] = worse
        rise = last(losses) - best > 3 * jitter(losses)
        shows = worse > 0.1 and rise and losses.index(best) < len(losses) - 2
        if e.same_quantity and train and gap_open(train, losses):
            figures["gap"] = last(losses) / max(last(train), 1e-9)
            shows = True
    if len(scores) >= 5 and e.score_up and max(scores) <= 1:
        drop = max(scores) - last(scores)
        figures["score_drop"] = drop
        shows = shows or (drop > 0.03 and drop > 3 * jitter(scores))
    part = train[len(train) // 2 :]
    on = fall(part) >= -noise(part) and last(train) < first(train)
    return Judgement(shows and on, figures)


def validation(e: Evidence) -> Judgement:
    """Training fell (moved > 0.3, or ends < 0.2 ranges above the twin) and the last validation figure lies > 0.4 of the twin's own range (and 4 noises) off the twin's last, near the start or worse."""
    moved = share_moved(e)
    shows, figures = False, {"moved": moved}
    for name in ("val_loss", f"val_{e.score}"):
        run, sound = e.values(name), e.sound(name)
        train_name = "loss" if name == "val_loss" else e.score
        if len(run) < 3 or not sound:
            continue
        span = max(abs(first(sound) - last(sound)), noise(sound), 1e-9)
        gap = abs(last(run) - last(sound)) / span
        against = last(e.values(train_name)) if e.values(train_name) else None
        apart = against is None or abs(last(run) - against) > 0.4 * abs(last(run) - last(sound))
        figures[f"gap_{name}"] = gap
        shows = shows or (gap > 0.4 and apart and abs(last(run) - last(sound)) > 4 * noise(sound))
    near = last(e.values("loss")) - last(e.sound("loss")) < 0.2 * loss_range(e)
    return Judgement(shows and (moved > 0.3 or near), figures)


def constant_validation(e: Evidence) -> Judgement:
    """A validation figure is printed at least 3 times, always the same, while training fell by > 0.3 ranges."""
    same = [
        name
        for name in ("val_loss", f"val_{e.score}")
        if len(e.values(name)) >= 3 and len(set(e.values(name))) == 1
    ]
    changed = [name for name in same if len(set(e.sound(name))) > 1]
    return Judgement(
        bool(changed) and share_moved(e) > 0.3, {"constant": len(changed), "moved": share_moved(e)}
    )


RULES: dict[str, Callable[[Evidence], Judgement]] = {
    one.__name__: one
    for one in (
        nonfinite, divergence, high_rate, stuck, slow, no_gradient, accumulating, explosion, wrong_sign,
        overfitting, validation, constant_validation, blow_up, rough,
    )
}  # fmt: skip
