"""Whether reruns show the recorded failure: its step, its losses; what an exception says: nothing."""

from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from postmortem.core.message import Message  # noqa: E402
from postmortem.replay.capsule.manifest import DeviceUsed, MicroBatch, Reason, WindowStep  # noqa: E402
from postmortem.replay.rerun import replay_report  # noqa: E402
from postmortem.replay.rerun.baseline_run import BaselineRun  # noqa: E402
from postmortem.replay.rerun.counterfactuals import TABLE  # noqa: E402
from postmortem.replay.rerun.regime import MicroPlace, Regime, StepRun, WindowRun  # noqa: E402
from postmortem.replay.rerun.replay_report import build_verdicts, compare_losses  # noqa: E402
from postmortem.replay.rerun.verdicts import CONFIRMED, judge_causes  # noqa: E402

NAN, INF = float("nan"), float("inf")


def bench(losses: list[float | None], reason: str = "nonfinite-loss", device: str = "cpu") -> Any:
    """A stand-in for a bench whose window recorded these losses and failed in its last step."""
    steps = tuple(
        WindowStep(number, (MicroBatch({}, loss=loss),), (0.1,))
        for number, loss in enumerate(losses, 1)
    )
    manifest = SimpleNamespace(
        reason=Reason(reason, len(steps)), device=DeviceUsed("cpu"), optimizer=None
    )
    return SimpleNamespace(
        manifest=manifest, steps=steps, device=torch.device(device), can_step=True, seconds=1.0
    )


def ran(losses: list[float], bad: str = "", **fields: Any) -> WindowRun:
    """A run with these losses that broke in its last step, if in any."""
    steps = [StepRun(number, (loss,), 1.0) for number, loss in enumerate(losses, 1)]
    if bad:
        steps[-1] = steps[-1].end(bad)
    place = MicroPlace(len(steps) - 1, 0) if bad else None
    return WindowRun(tuple(steps), place, **fields)


def rerun(on: Any, first: WindowRun, second: WindowRun | None = None) -> BaselineRun:
    """Two reruns of a window, alike if only one is given."""
    return BaselineRun(on, first, second or first, first.nonfinite_at)


@pytest.mark.parametrize(
    ("recorded", "again", "how"),
    [
        pytest.param([2.0, 1.9, 1.8, NAN], [2.0, 1.9, 1.8, NAN], "yes", id="the same step"),
        pytest.param([2.0, 1.9, 1.8, NAN], [2.0, 1.9, NAN], "yes", id="a step sooner"),
        pytest.param([2.0, 1.9, 1.8, NAN], [2.0, NAN], "elsewhere", id="two steps sooner"),
        pytest.param([2.0] * 8 + [NAN], [NAN], "elsewhere", id="at once"),
    ],
)
def test_the_step_is_that_of_the_recorded_run(
    recorded: list[float | None], again: list[float], how: str
) -> None:
    """Two reruns that agree with each other may still show another failure."""
    baseline = rerun(bench(recorded), ran(again, "loss"))
    assert replay_report.get_reproduction_status(baseline) == how
    assert baseline.is_repeated
    assert baseline.is_reproduced == (how == "yes")


def test_another_failure_decides_on_no_cause() -> None:
    """Whatever the trials showed."""
    on = bench([2.0] * 8 + [NAN])
    baseline = rerun(on, ran([NAN], "loss"))
    faith = compare_losses(on, baseline.first_rerun)
    tested = build_verdicts(baseline, frozenset({"reproduced", "in-float32"}), faith)
    assert {one.verdict for one in tested} == {"not-testable"}
    assert "step 1, the recorded run in step 9" in str(tested[0].reasons[0])


@pytest.mark.parametrize(
    ("loss", "how"),
    [(2.0, "elsewhere"), (NAN, "yes"), (None, "yes")],
    ids=["finite", "nan", "none"],
)
def test_a_capsule_that_was_asked_for_names_no_step(loss: float | None, how: str) -> None:
    """There the recorded loss tells whether it failed."""
    on = bench([loss, 2.0, 2.0, 2.0], "asked")
    assert replay_report.get_reproduction_status(rerun(on, ran([NAN], "loss"))) == how


@pytest.mark.parametrize(
    ("recorded", "again", "faithful", "said"),
    [
        pytest.param([2.0, 1.9, NAN], [2.0, 1.9, NAN], True, "bit-equal", id="equal"),
        pytest.param([2.0, 1.9, 1.8], [2.0, 1.91, 1.8], True, "not bit-equal", id="near"),
        pytest.param([2.0, 1.9, 1.8], [2.0, 17.0, 16.0], False, "not bit-equal", id="later not"),
        pytest.param([2.0, 1.9, 1.8], [2.0, NAN], False, "come out NaN", id="finite became NaN"),
        pytest.param([1e-4, 2e-4], [1e-4, 3e-4], True, "not bit-equal", id="next to nothing"),
        pytest.param(
            [2.0, 2.1, 60.0, 4e3], [2.0, 2.1, 66.0, 9e3], True, "step 3", id="behind jump"
        ),
        pytest.param(
            [2.0, 2.1, 60.0, 4e3], [2.0, 4.1, 60.0, 4e3], False, "step 3", id="before jump"
        ),
        pytest.param([NAN], [NAN], True, "no finite loss", id="nothing to compare"),
        pytest.param([None, None], [2.0, 1.0], True, "no finite loss", id="none recorded"),
    ],
)
def test_the_worst_loss_decides(
    recorded: list[float | None], again: list[float], *, faithful: bool, said: str
) -> None:
    """Not the first, which is equal wherever the weights are."""
    found = compare_losses(bench(recorded), ran(again))
    assert found.is_faithful == faithful
    assert said in str(found.summary)


@pytest.mark.parametrize(
    ("run", "outcome"),
    [
        pytest.param(ran([2.0, 2.0]), "finite", id="finite"),
        pytest.param(ran([2.0, NAN], "loss"), "not-finite", id="NaN"),
        pytest.param(ran([2.0, 2.0, 9.0, 90.0]), "diverges", id="climbs"),
        pytest.param(ran([2.0], error="ValueError: x"), "error", id="an exception"),
        pytest.param(ran([2.0], stopped=True), "stopped", id="no time"),
    ],
)
def test_a_run_has_one_outcome(run: WindowRun, outcome: str) -> None:
    """An exception is no NaN, and a part of a window is no finite window."""
    assert run.outcome == outcome


@pytest.mark.parametrize("trial", [ran([], error="ValueError: x"), ran([], stopped=True)])
def test_a_trial_that_broke_off_says_nothing(trial: WindowRun) -> None:
    """No other trial is skipped because "it fails without any update too"."""
    on = bench([2.0, 2.0, 2.0, NAN])
    on.manifest.clipping = None
    baseline = rerun(on, ran([2.0, 2.0, 2.0, NAN], "loss"))
    clipped = next(one for one in TABLE if one.id == "clipped").regime
    baseline.runs["rate-0"] = trial
    assert isinstance(clipped(baseline), Regime)
    baseline.runs["rate-0"] = ran([NAN], "loss")
    assert isinstance(clipped(baseline), Message)


@pytest.mark.parametrize(
    ("more", "count"),
    [
        ("weights-clean", 1),
        ("without-jump:not-finite", 1),
        ("without-jump:finite", 0),
        ("without-jump:error", 0),
        ("without-jump:stopped", 0),
    ],
)
def test_a_condition_with_not_wants_a_decided_trial(more: str, count: int) -> None:
    """The rate is not confirmed where the trial of its rival raised an exception."""
    seen = (
        "reproduced climbs the-updates wide-diverges rate-tenth:finite weights-clean"
        " samples-settled"
    )
    found = judge_causes(frozenset({*seen.split(), more}))
    assert sum(one.verdict == CONFIRMED for one in found) == count
