"""darknet's lines for each region: what is not a number there, and what is no harm."""

from collections.abc import Callable

import pytest

from postmortem.api import Report, analyze

ROUNDS = 14
OLD = (
    "Region {region} Avg IOU: {one}, Class: {one}, Obj: {one}, No Obj: {cells}, .5R: {one},"
    " .75R: 0.000000,  count: {count}\n"
)
NEW = (
    "v3 (mse loss, Normalizer: (iou: 0.75, obj: 1.00, cls: 1.00) Region {region} Avg (IOU: {one}),"
    " count: {count}, class_loss = {part}, iou_loss = {part}, total_loss = {part} \n"
)


def of(region: str, state: Callable[[int], str], *, has_total: bool = True) -> Report:
    """The report of rounds of two regions; the state of each round is sound, empty or broken."""
    text = ""
    for number in range(1, ROUNDS):
        now = state(number)
        sound = f"{0.3 + 0.01 * number:.6f}"
        bad = "-nan" if now == "broken" else sound
        text += region.format(region=82, one=bad, cells=bad, count=4, part=bad)
        empty = sound if now == "sound" else "-nan"
        count = 0 if now == "empty" else 3
        text += region.format(region=94, one=empty, cells=bad, count=count, part=bad)
        if has_total:
            loss = "-nan" if now == "broken" else f"{900 - 40 * number:.6f}"
            text += (
                f" {number}: {loss}, {loss} avg loss, 0.000100 rate, 4.1 seconds,"
                f" {64 * number} images\n"
            )
    return analyze(text.encode())


@pytest.mark.parametrize("region", [OLD, NEW])
@pytest.mark.parametrize("has_total", [True, False])
def test_a_region_without_objects_is_no_harm(region: str, *, has_total: bool) -> None:
    """Its means are 0/0: all is as if nothing of it were printed."""
    report = of(region, lambda n: "empty" if n % 3 else "sound", has_total=has_total)
    assert report.verdict.cause == "healthy.running"
    shown = {one["id"]: one["role"] for one in report.to_dict()["signatures"]}
    assert shown.get("harmless.darknet-empty-region") == "harmless"


@pytest.mark.parametrize("region", [OLD, NEW])
@pytest.mark.parametrize("has_total", [True, False])
def test_a_region_with_objects_that_is_no_number_is_broken(region: str, *, has_total: bool) -> None:
    """So are its cells without any, whether or not the total is printed."""
    report = of(region, lambda n: "sound" if n < 8 else "broken", has_total=has_total)
    assert report.verdict.cause == "numerics.nonfinite-unknown"


def test_a_mean_that_is_no_number_tells_of_a_loss_that_was_none() -> None:
    """A running mean never comes back from it, though the loss of the round does."""
    text = "".join(
        f" {n}: {900 - 40 * n:.6f}, {'nan' if n > 6 else 950 - 30 * n} avg loss, 0.000100 rate,"
        f" 4.1 seconds, {64 * n} images\n"
        for n in range(1, ROUNDS)
    )
    assert analyze(text.encode()).causes[0].id == "numerics.nonfinite-unknown"


def test_the_settings_on_the_line_are_no_figures() -> None:
    """The weights of the parts stand beside the parts."""
    report = of(NEW, lambda _: "sound")
    names = {one["name"] for one in report.to_dict()["series"]}
    assert names.isdisjoint({"iou", "obj", "cls", "count"})
    assert "region_iou" in names
