"""What a report states is so: growth that does not end, how far a run came, how long it went on."""

from pathlib import Path
from typing import Any

import pytest

import postmortem

EXPLOSIONS = {"numerics.lr-divergence", "numerics.gradient-explosion"}


def analyzed(folder: Path, text: str) -> Any:
    """The report of a log with this text."""
    log = folder / "run.log"
    log.write_text(text, encoding="utf-8")
    return postmortem.analyze(str(log), model=None)


def records(*losses: float, norm: float = 1.0, rate: float = 5e-5) -> str:
    """Records of the Trainer; the norm grows with the loss."""
    return "".join(
        f"{{'loss': {loss}, 'grad_norm': {max(norm, loss / 2)}, 'learning_rate': {rate},"
        f" 'epoch': {number / 100:.2f}}}\n"
        for number, loss in enumerate(losses, 1)
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("step 100 loss 2.2\nstep 200 loss 8e27\nstep 300 loss 5e30\n", id="three"),
        pytest.param(records(2.0123, 5.1e18), id="two records of a trainer"),
        pytest.param(records(2.5, 2.3, 2.2, 8e27, 5e30), id="five"),
        pytest.param(records(2.2, 60.0, 2000.0, 1e5, 1e7), id="step by step"),
        pytest.param(records(*[2.5 - 0.02 * n for n in range(12)], 5e10), id="the last of many"),
        pytest.param(
            records(*[2.5 - 0.02 * n for n in range(60)], 4e3, 9e5, 2e7), id="the end of a long one"
        ),
    ],
)
def test_growth_without_return_is_an_explosion(tmp_path: Path, text: str) -> None:
    """Over orders of magnitude, at any number of records; it is never to be run as it is."""
    report = analyzed(tmp_path, text)
    assert report.verdict.cause in EXPLOSIONS
    assert report.verdict.retry == "after-fix"
    assert "numerics.retry-as-is" not in {fix.id for one in report.causes for fix in one.fixes}


@pytest.mark.parametrize(
    ("losses", "retry"),
    [
        pytest.param([*[2.4] * 12, 30.0, *[2.3] * 6], "as-is", id="it is back"),
        pytest.param([*[2.4] * 12, 900.0], "after-fix", id="no record shows the return"),
    ],
)
def test_a_spike_is_run_again_as_it_is_only_if_it_came_back(
    tmp_path: Path, losses: list[float], retry: str
) -> None:
    """The return is what makes it harmless."""
    verdict = analyzed(tmp_path, records(*losses)).verdict
    assert (verdict.cause, verdict.retry) == ("numerics.loss-spike", retry)


FAILED = (
    "Traceback (most recent call last):\n"
    '  File "train.py", line 10, in <module>\n'
    "    main()\n"
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
)


def steps(
    last: int, bad: dict[int, str] | None = None, norms: dict[int, float] | None = None
) -> str:
    """A loss that falls over steps 100, 200 and so on."""
    return "".join(
        f"step {step} loss {(bad or {}).get(step, f'{4 - step / 20000:.4f}')}"
        f" grad_norm {(norms or {}).get(step, 1.0)}\n"
        for step in range(100, last + 1, 100)
    )


@pytest.mark.parametrize(
    ("text", "step"),
    [
        pytest.param(
            steps(50000, norms=dict.fromkeys((800, 900, 1000), 500.0)) + FAILED,
            50000,
            id="norms that were high for a moment",
        ),
        pytest.param(
            steps(50000, bad={900: "nan", 1000: "nan"}), 50000, id="a loss that is finite again"
        ),
        pytest.param(
            "".join(
                f"Epoch {epoch} step {step} loss {4 - epoch / 20:.4f}\n"
                for epoch in range(50)
                for step in range(0, 1000, 200)
            ),
            None,
            id="a count within the epoch tells nothing of the run",
        ),
        pytest.param(
            steps(3000, bad=dict.fromkeys(range(2000, 3100, 100), "nan")), 1900, id="for good"
        ),
    ],
)
def test_the_last_step_is_that_of_the_run(tmp_path: Path, text: str, step: int | None) -> None:
    """Not one of an epoch, nor the one before a moment that the run has outlived."""
    assert analyzed(tmp_path, text).diagnosis.progress.last_good_step == step


def submission(day: int, end: str = "") -> str:
    """Twenty minutes of a run on a day."""
    at = f"2024-03-{day:02d} 10"
    return (
        f"{at}:00:00,000 - INFO - start\n"
        + "".join(
            f"{at}:{n:02d}:00,000 - INFO - step {n} loss {3 - n / 50}\n" for n in range(1, 20)
        )
        + (f"{at}:20:00,000 - {end}\n" if end else "")
    )


@pytest.mark.parametrize(
    ("days", "seconds"),
    [
        pytest.param((1, 3, 5), 0.0, id="other submissions, days later"),
        pytest.param((1, 1), 0.0, id="a process of the same submission"),
    ],
)
def test_no_duration_spans_submissions(
    tmp_path: Path, days: tuple[int, ...], seconds: float
) -> None:
    """What began long after a failure did not go on behind it."""
    for number, day in enumerate(days):
        end = "ERROR - RuntimeError: CUDA error: out of memory" if number == 0 else ""
        (tmp_path / f"rank{number}.log").write_text(submission(day, end), encoding="utf-8")
    report = postmortem.analyze(str(tmp_path), model=None)
    assert (report.diagnosis.progress.seconds_after_failure or 0.0) == seconds


def test_an_unknown_nan_claims_no_line(tmp_path: Path) -> None:
    """A loss that is printed no more is not a NaN that stands in the log."""
    text = records(*[4 - step / 100 for step in range(20)])
    text += "{'grad_norm': 1.0, 'learning_rate': 5e-05, 'epoch': 0.2}\n" * 9
    causes = {one.id: one.explanation for one in analyzed(tmp_path, text).causes}
    unknown = causes.get("numerics.nonfinite-unknown", "")
    assert unknown
    assert "stands in the log" not in unknown


@pytest.mark.parametrize(
    "line",
    ["the assistant said that training is extremely slow on this node", "It just hangs here."],
)
def test_a_text_is_ascribed_to_nobody(tmp_path: Path, line: str) -> None:
    """A sample that a model wrote is no word of the person who sent the log."""
    report = analyzed(tmp_path, steps(1000) + f"sample: {line}\n" + steps(2000))
    for language in ("en", "zh"):
        text = report.in_language(language).render("markdown")
        assert "person who sent" not in text
        assert "提问者" not in text
