"""Rules for faults that show in one special series or in the shape of the curve; see `judging`."""

import itertools
import math
import statistics
from collections.abc import Callable

from curves.judging import (
    RULES,
    Evidence,
    Judgement,
    divergence,
    finite,
    first,
    high_rate,
    last,
    loss_range,
    noise,
    nonfinite,
    share_moved,
)


def majority(e: Evidence) -> Judgement:
    """The printed accuracy never moves (≤ 0.005) through 4 evaluations, or a printed balanced accuracy ends within 0.02 of 1 / k for a k up to the classes."""
    balanced, plain = e.values("val_balanced_accuracy"), e.values(f"val_{e.score}")
    level = last(balanced) if balanced else -1.0
    low = any(abs(level - 1 / k) < 0.02 for k in range(2, e.classes + 1))
    still = len(plain) >= 4 and max(plain) - min(plain) <= 0.005 and last(plain) < 0.995
    return Judgement(
        still or (low and len(balanced) >= 2), {"balanced": level, "still": float(still)}
    )


def embedding_collapse(e: Evidence) -> Judgement:
    """The printed spread or distances end below 0.05 (twin above), or the printed score ends 0.15 below the twin's and below its own best."""
    figures: dict[str, float] = {}
    small = False
    for name in ("embed_std", "neg_dist"):
        if e.values(name):
            figures[name] = last(e.values(name))
            small = small or (figures[name] < 0.05 and last(e.sound(name)) > 0.1)
    scores = e.values(f"val_{e.score}")
    drop = last(e.sound(f"val_{e.score}")) - last(scores) if scores else 0.0
    fell = bool(scores) and max(scores) - last(scores) > 0.05
    return Judgement(small or (drop > 0.15 and fell), {**figures, "score_gap": drop})


def mode_collapse(e: Evidence) -> Judgement:
    """The printed number of modes ends at 4 or fewer of 8 while the twin ends at 6 or more."""
    modes = e.values("val_modes")
    if not modes:
        return Judgement(False)
    return Judgement(last(modes) <= 4 and last(e.sound("val_modes")) >= 6, {"modes": last(modes)})


def posterior_collapse(e: Evidence) -> Judgement:
    """A printed KL ends below 0.2 and below a tenth of the twin's."""
    for name in ("kl", "val_kl"):
        if e.values(name):
            low = last(e.values(name))
            return Judgement(low < 0.2 and low < 0.1 * last(e.sound(name)), {"kl": low})
    return Judgement(False)


def worse_return(e: Evidence) -> float:
    """How far the last return or reward lies below the twin's, in ranges of the twin's."""
    gaps = []
    for name in ("reward", f"val_{e.score}"):
        run, sound = e.values(name), e.sound(name)
        if run and sound:
            gaps.append(
                (last(sound) - last(run)) / max(abs(last(sound) - first(sound)), noise(sound), 1e-9)
            )
    return max(gaps, default=0.0)


def entropy_collapse(e: Evidence) -> Judgement:
    """A printed entropy ends below a tenth of the twin's first and the printed reward or return 0.25 ranges below the twin's."""
    entropy = e.values("entropy")
    gap = worse_return(e)
    if not entropy:
        return Judgement(False, {"gap": gap})
    low = last(entropy) / max(first(e.sound("entropy")), 1e-9)
    return Judgement(low < 0.1 and gap > 0.25, {"entropy": low, "gap": gap})


def vanished_entropy(e: Evidence) -> Judgement:
    """A printed entropy ends below 2 % of the twin's first while the twin's stays above 10 %."""
    run, sound = e.values("entropy"), e.sound("entropy")
    start = max(first(sound), 1e-9) if sound else 1.0
    shows = bool(run) and last(run) < 0.02 * start and last(sound) > 0.1 * start
    return Judgement(shows, {"entropy": last(run) / start})


def return_stuck(e: Evidence) -> Judgement:
    """The printed reward or return moved < 0.3 of the twin's way and ends 0.6 of it below, over at least 4 records with the start printed."""
    gap = worse_return(e)
    moved, count = 1.0, 0
    for name in ("reward", f"val_{e.score}"):
        run, sound = e.values(name), e.sound(name)
        if run and sound:
            moved = min(
                moved, abs(last(run) - first(run)) / max(abs(last(sound) - first(sound)), 1e-9)
            )
            count = max(count, len(run))
    return Judgement(
        gap > 0.6 and moved < 0.3 and count >= 4 and not e.head_cut, {"gap": gap, "moved": moved}
    )


def value_explosion(e: Evidence) -> Judgement:
    """The printed loss ends 20 times above its first or 5 times above the twin's largest, or the mean value does, or NaN."""
    top = growth = 0.0
    for name in ("own_loss", "mean_q"):
        run, sound = finite(e.values(name)), finite(e.sound(name))
        if run and sound:
            top = max(top, abs(last(run)) / max(*map(abs, sound), 1e-6))
            growth = max(growth, abs(last(run)) / max(abs(first(run)), 1e-6))
    shows = nonfinite(e).visible or top > 5 or (growth > 20 and not e.head_cut)
    return Judgement(shows, {"ratio": top, "growth": growth})


def constant_reward(e: Evidence) -> Judgement:
    """The printed reward is the same in at least 4 records."""
    reward = e.values("reward")
    return Judgement(
        len(reward) >= 4 and len(set(reward[len(reward) // 3 :])) == 1, {"records": len(reward)}
    )


def reward_drift(e: Evidence) -> Judgement:
    """The printed reward rises by 3 noises while the printed true reward falls by 3 noises from its best, or the printed KL ends 5 times above the twin's with the reward rising."""
    reward, true, kl = e.values("reward"), e.values("val_true_reward"), e.values("kl")
    rise = (
        (last(reward) - first(reward)) / max(noise(e.sound("reward")), 1e-3)
        if len(reward) >= 4
        else 0.0
    )
    drop = (
        (max(true) - last(true)) / max(noise(e.sound("val_true_reward")), 0.02)
        if len(true) >= 3
        else 0.0
    )
    away = last(kl) / max(last(e.sound("kl")), 1e-3) if kl else 0.0
    return Judgement(rise > 3 and (drop > 3 or away > 5), {"rise": rise, "drop": drop, "kl": away})


def forgetting(e: Evidence) -> Judgement:
    """The printed old score falls by > 0.1 from its first value, or from the printed one before training."""
    old = e.values("val_old_accuracy")
    start = e.before.get("old_accuracy", old[0] if old else 0.0)
    drop = start - last(old) if len(old) >= 2 else 0.0
    return Judgement(drop > 0.1, {"drop": drop})


def data_order(e: Evidence) -> Judgement:
    """In at least 16 records of steps (10 of epochs) the detrended losses correlate > 0.3 with themselves one pass or one class later, and swing by > 0.2 ranges and 2 noises of the twin."""
    series = [(step, value) for step, value in e.run.get("loss", []) if math.isfinite(value)]
    if len(series) < (16 if e.step_layout else 10):
        return Judgement(False, {"records": len(series)})
    stride = (series[-1][0] - series[0][0]) / (len(series) - 1)
    values = [value for _, value in series]
    best, swing = 0.0, 0.0
    for period in (e.period, e.period / e.classes):
        lag = round(period / stride)
        if not 2 <= lag <= len(values) * 0.6:
            continue
        half = max(lag // 2, 1)
        trend = [
            statistics.fmean(values[max(0, k - half) : k + half + 1]) for k in range(len(values))
        ]
        left = [value - level for value, level in zip(values, trend, strict=True)]
        power = statistics.fmean(one * one for one in left) or 1e-12
        products = [a * b for a, b in zip(left, left[lag:], strict=False)]
        likeness = statistics.fmean(products) / power
        if likeness > best:
            best = likeness
            swing = 2 * math.sqrt(power) / max(loss_range(e), 2 * noise(e.sound("loss")))
    return Judgement(best > 0.3 and swing > 0.2, {"likeness": best, "swing": swing})


def spike(e: Evidence) -> Judgement:
    """After at least 3 records before the event one loss stands 1 range and 6 noises above them, or a NaN follows."""
    series = e.run.get("loss", [])
    before = [
        value for step, value in series if step <= (e.event_step or 0) and math.isfinite(value)
    ]
    after = [value for step, value in series if step > (e.event_step or 0)]
    if len(before) < 3 or not after:
        return Judgement(False, {"before": len(before)})
    if not all(map(math.isfinite, after)):
        return Judgement(
            True,
            nonfinite(e).figures,
            "",
            "numerics.nonfinite-unknown" if not finite(after) else "",
        )
    level = last(before)
    height = (max(after) - level) / max(loss_range(e), 6 * noise(before), 0.3 * abs(level))
    return Judgement(height > 1, {"height": height})


def jump(e: Evidence) -> Judgement:
    """The level after the boundary lies 0.25 ranges and 3 noises above the level before, with 3 records on each side."""
    series = [(step, value) for step, value in e.run.get("loss", []) if math.isfinite(value)]
    at = e.event_step or 0
    before = [value for step, value in series if step <= at]
    after = [value for step, value in series if step > at]
    if len(before) < 3 or len(after) < 3:
        return Judgement(False, {"before": len(before), "after": len(after)})
    rise = statistics.median(after) - last(before)
    return Judgement(
        rise > max(0.25 * loss_range(e), 3 * noise(before)), {"rise": rise / loss_range(e)}
    )


def noisy(e: Evidence) -> Judgement:
    """As a too high rate; besides, steps > 4 times the twin's noise at a level > 0.35 ranges above it in at least 8 records."""
    found = high_rate(e)
    rough = noise(e.values("loss")) / max(noise(e.sound("loss")), 1e-9)
    worse = (last(e.values("loss")) - last(e.sound("loss"))) / loss_range(e)
    loud = rough > 4 and worse > 0.35 and len(e.values("loss")) >= 8
    return Judgement(
        found.visible or loud, {**found.figures, "roughness": rough, "worse": worse}, found.cause
    )


def zero_loss(e: Evidence) -> Judgement:
    """The printed loss is 0 in at least 3 records."""
    values = e.values("loss")
    return Judgement(len(values) >= 3 and not any(values), {"records": len(values)})


def fp16(e: Evidence) -> Judgement:
    """NaN or infinity is printed, with a falling printed loss scale as float16's sign; or the loss diverges or stands still."""
    scales = e.values("loss_scale")
    drops = sum(b < a for a, b in itertools.pairwise(scales))
    bad = nonfinite(e)
    named = drops >= 2 or (bool(scales) and scales[-1] <= 1)
    if bad.visible:
        return Judgement(
            True,
            {**bad.figures, "scale_drops": drops},
            "",
            "numerics.fp16-overflow" if named else "numerics.nonfinite-unknown",
        )
    if named:
        return Judgement(True, {"scale_drops": drops}, "", "numerics.fp16-overflow")
    found = divergence(e)
    return Judgement(found.visible, found.figures, "", found.cause or "numerics.lr-divergence")


def loss_scale(e: Evidence) -> Judgement:
    """The printed loss scale falls in at least 2 records or ends at 1, or a gradient norm of NaN is printed."""
    scales = e.values("loss_scale")
    drops = sum(b < a for a, b in itertools.pairwise(scales))
    bad = nonfinite(e)
    low = drops >= 2 or (len(scales) >= 2 and scales[-1] <= 1 < scales[0])
    return Judgement(
        low or bad.visible,
        {"drops": drops, **bad.figures},
        "",
        "" if low else "numerics.nonfinite-unknown",
    )


def input_bound(e: Evidence) -> Judgement:
    """Printed data time is at least half of the printed step time."""
    data, step = e.values("data_time"), e.values("step_time")
    share = statistics.median(data) / max(statistics.median(step), 1e-9) if data and step else 0.0
    return Judgement(share >= 0.5, {"share": share})


def slower(e: Evidence) -> Judgement:
    """The printed step time doubles from first to last (or the throughput halves), or printed clock times do, over at least 4 records."""
    steps, speed = e.values("step_time"), e.values("throughput")
    ratio = last(steps) / max(first(steps), 1e-9) if len(steps) >= 4 else 0.0
    if len(speed) >= 4:
        ratio = max(ratio, first(speed) / max(last(speed), 1e-9))
    if e.clock_shown and len(e.clocks) >= 6:
        paces = [
            (int(c2) - int(c1)) / (s2 - s1)
            for (s1, c1), (s2, c2) in itertools.pairwise(e.clocks)
            if s2 > s1
        ]
        third = max(1, len(paces) // 3)
        early, late = statistics.fmean(paces[:third]), statistics.fmean(paces[-third:])
        whole = int(e.clocks[-1][1]) - int(e.clocks[0][1])
        if whole >= 12:
            ratio = max(ratio, late / max(early, 1e-9))
    return Judgement(ratio >= 2, {"ratio": ratio})


def resumed(e: Evidence) -> Judgement:
    """The log names the checkpoint, counts on from it, and the loss starts in the upper third of the twin's range."""
    start = (first(e.values("loss")) - last(e.sound("loss"))) / loss_range(e)
    moved = share_moved(e)
    return Judgement(
        e.resumed_shown and start > 0.6 and moved > 0.3 and not e.head_cut,
        {"start": start, "moved": moved},
    )


SPECIAL: tuple[Callable[[Evidence], Judgement], ...] = (
    majority, embedding_collapse, mode_collapse, posterior_collapse, entropy_collapse, vanished_entropy, return_stuck,
    value_explosion, constant_reward, reward_drift, forgetting, data_order, spike, jump, noisy, zero_loss,
    fp16, loss_scale, input_bound, slower, resumed,
)  # fmt: skip
ALL_RULES: dict[str, Callable[[Evidence], Judgement]] = {
    **RULES,
    **{one.__name__: one for one in SPECIAL},
}
