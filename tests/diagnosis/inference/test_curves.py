"""What curves decide: small logs, and the cause that their shapes must lead to, or must not."""

from collections.abc import Iterable
from pathlib import Path

import pytest

import postmortem


def steps(losses: Iterable[object], extra: str = "", start: int = 1) -> str:
    """A plain loop's lines."""
    return "".join(
        f"step {number} loss {loss} lr 1.0e-04{extra}\n"
        for number, loss in enumerate(losses, start)
    )


CALM = [f"{3.0 * 0.97**index + 0.4:.4f}" for index in range(60)]
PAST = steps([*CALM[:40], "60.0", *CALM[:40]])
KEY = "Traceback (most recent call last):\n  File \"/home/me/train.py\", line 3, in <module>\n    main()\nKeyError: 'labels'\n"
DUMP = 'Timeout (0:10:00)!\nThread 0x00007f0000000740 (most recent call first):\n  File "/home/me/queue.py", line 12 in get\n  File "/home/me/train.py", line 40 in <module>\n'
CLOCK = "".join(
    f"2026-03-02 09:14:{10 + index // 4:02d} step {index} loss {loss}\n"
    for index, loss in enumerate(CALM)
)
MONITOR = "".join(
    f"2026-03-02 09:15:{second:02d} monitor: step=59 cpu=0%\n" for second in range(0, 50, 10)
)


@pytest.mark.parametrize(
    ("text", "causes"),
    [
        pytest.param(
            steps(["nan"] * 12, " grad_norm 0.0000"),
            {"numerics.labels-all-masked"},
            id="NaN without a gradient: no label counts",
        ),
        pytest.param(
            steps([*CALM[:30], *["9.8", "8.9"], *CALM[30:]]),
            {"numerics.loss-spike"},
            id="a spike that recovers is no divergence",
        ),
        pytest.param(
            steps(["3.9", "32.1", *[f"{50 - index / 3:.2f}" for index in range(60)], *["3.8"] * 8]),
            {"numerics.lr-divergence"},
            id="blown up for most of the run",
        ),
        pytest.param(
            "GradScaler init_scale 65536\n"
            + "".join(
                f"step {index} loss 1.7{index % 7} scale {65536 / 2**index:g}\n"
                for index in range(1, 31)
            ),
            {"numerics.loss-scale-exhausted", "numerics.fp16-overflow"},
            id="a loss that cannot move because all steps are skipped",
        ),
        pytest.param(
            "".join(
                f"step {index} loss {loss} data 0.412s step 0.451s\n"
                for index, loss in enumerate(CALM, 1)
            ),
            {"performance.input-bound"},
            id="waiting for data",
        ),
        pytest.param(
            "".join(
                f"step {index} loss {loss} data 0.002s step 0.451s\n"
                for index, loss in enumerate(CALM, 1)
            ),
            {"healthy.completed"},
            id="the same with a loader that keeps up, up to step 60",
        ),
        pytest.param(PAST, {"numerics.loss-spike"}, id="a spike long past, and nothing else"),
        pytest.param(
            PAST + "RuntimeError: CUDA error: an illegal memory access was encountered\n",
            {"cuda.illegal-memory-access"},
            id="a spike long past, then a crash",
        ),
        pytest.param(
            PAST + "OSError: [Errno 28] No space left on device\n",
            {"io.disk-full"},
            id="a spike long past, then a full disk",
        ),
        pytest.param(
            PAST + KEY,
            {"data.schema", "code.user-exception"},
            id="a spike long past, then an exception",
        ),
        pytest.param(
            steps([*CALM[:40], "60.0", *CALM[:5]]) + KEY,
            {"numerics.loss-spike"},
            id="a spike just before the exception",
        ),
        pytest.param(CLOCK + MONITOR, {"hang.stalled"}, id="a monitor goes on, the step does not"),
        pytest.param(CLOCK, {"healthy.completed"}, id="the same log without the monitor"),
        pytest.param(CLOCK + DUMP, {"hang.stalled"}, id="threads dumped after the last record"),
        pytest.param(
            "initialising the process group\n" + DUMP,
            {"hang.startup"},
            id="threads dumped before the first record",
        ),
        pytest.param(
            DUMP + CLOCK, {"healthy.completed"}, id="threads dumped, and then the run went on"
        ),
        pytest.param(
            "".join(f"step {index}/60 loss {loss}\n" for index, loss in enumerate(CALM, 1)),
            {"healthy.completed"},
            id="the last step is recorded",
        ),
        pytest.param(
            "".join(f"step {index}/90 loss {loss}\n" for index, loss in enumerate(CALM, 1)),
            {"healthy.running"},
            id="a third of the steps is still to come",
        ),
    ],
)
def test_the_curve_leads_to_the_cause(tmp_path: Path, text: str, causes: set[str]) -> None:
    """The first cause is the one that the curve shows."""
    log = tmp_path / "run.log"
    log.write_text(text)
    assert postmortem.analyze(log).causes[0].id in causes


def test_the_rank_that_went_wrong_first_is_named(tmp_path: Path) -> None:
    """Rank 1's loss is NaN a step before that of the others.

    Not the rate that all share, and the failure is on its line.
    """
    calm = [f"{0.9 - index / 100:.4f}" for index in range(20)]
    for rank in range(3):
        (tmp_path / f"rank{rank}.log").write_text(
            steps([*calm[: 19 if rank == 1 else 20], *["nan"] * 6])
        )
    report = postmortem.analyze(tmp_path)
    assert report.causes[0].id not in {"numerics.lr-divergence", "numerics.gradient-explosion"}
    failure = report.diagnosis.first_failure
    assert failure is not None
    assert (failure.where.rank, failure.line) == (1, 20)


def test_nan_in_the_first_step_is_not_the_rate(tmp_path: Path) -> None:
    """Computed before any update: data, weights or precision, whatever the rate."""
    log = tmp_path / "run.log"
    log.write_text("".join(f"step {number} loss nan lr 5.0e-01\n" for number in range(1, 12)))
    assert postmortem.analyze(log).causes[0].id != "numerics.lr-divergence"


def test_a_clipped_objective_shows_no_learning(tmp_path: Path) -> None:
    """Whatever it does; a loss that is minimised does where it falls."""
    log = tmp_path / "run.log"
    found = []
    for extra in ("", " approx_kl 0.003 clip_fraction 0.1"):
        log.write_text(steps(CALM, extra) + "Training finished\n", encoding="utf-8")
        found.append(postmortem.analyze(log).verdict)
    assert [verdict.cause for verdict in found] == 2 * ["healthy.completed"]
    assert found[0].probability > found[1].probability
