"""A log of sound records that ends in an error which no rule knows is not healthy.

Figures, caught errors and a run that goes on are no end.
"""

from pathlib import Path

import pytest

import postmortem

RECORDS = "".join(
    f"{{'loss': {2.5 - i / 20:.4f}, 'grad_norm': 1.2345678, 'learning_rate': {5e-5 - i * 1.1e-6:.8g}, 'epoch': 0.{i:02d}}}\n"
    for i in range(1, 13)
)
LAST = 13
USER, UNKNOWN, RUNNING = "code.user-exception", "unknown.no-cause-shown", "healthy.running"


def judged(tmp_path: Path, text: str) -> postmortem.Report:
    """The report on a log of one file."""
    log = tmp_path / "run.log"
    log.write_text(text)
    return postmortem.analyze(log)


@pytest.mark.parametrize(
    ("line", "cause", "outcome"),
    [
        pytest.param("ValueError: boom", USER, "failed", id="an exception without its traceback"),
        pytest.param("RuntimeError: something unusual", USER, "failed", id="another"),
        pytest.param(
            "my_package.errors.ShardError", USER, "failed", id="a class without a message"
        ),
        pytest.param("[rank3]: ValueError: boom", USER, "failed", id="behind a rank's label"),
        pytest.param(
            "2024-05-01 12:00:00,000 - train - ERROR - ValueError: boom",
            USER,
            "failed",
            id="behind a logger's prefix",
        ),
        pytest.param(
            "ValueError: boom\nsee the manual\nor ask",
            USER,
            "failed",
            id="with more lines of its message",
        ),
        pytest.param("Error: could not go on", UNKNOWN, "failed", id="an error line"),
        pytest.param("error: exiting with status 1", UNKNOWN, "failed", id="another error line"),
        pytest.param("Fatal error, aborting", UNKNOWN, "failed", id="a fatal error"),
        pytest.param(
            "2024-05-01 12:00:00,000 - train - CRITICAL - the head node said stop",
            UNKNOWN,
            "failed",
            id="logged as critical",
        ),
        pytest.param(
            "2024-05-01 12:00:00,000 - train - ERROR - the head node said stop",
            UNKNOWN,
            "unknown",
            id="logged as an error",
        ),
    ],
)
def test_an_error_at_the_end_is_the_first_failure(
    tmp_path: Path, line: str, cause: str, outcome: str
) -> None:
    """The run is not healthy, the line is the first failure and stands as evidence."""
    report = judged(tmp_path, RECORDS + line + "\n")
    failure = report.diagnosis.first_failure
    assert (report.causes[0].id, report.diagnosis.outcome) == (cause, outcome)
    assert failure is not None
    assert failure.line == LAST
    assert [item.line for item in report.causes[0].evidence] == [LAST]
    assert report.verdict.cause == (cause if cause == USER else None)


def test_an_exception_before_a_silent_exit_is_named(tmp_path: Path) -> None:
    """Of several lines the exception counts, wherever it stands among the last."""
    failure = judged(
        tmp_path,
        RECORDS + "Error: worker stopped\nValueError: boom\nerror: exiting with status 1\n",
    ).diagnosis.first_failure
    assert failure is not None
    assert (failure.line, failure.why) == (LAST + 1, "ValueError: boom")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ValueError: boom\n" + RECORDS, id="before the records"),
        pytest.param(
            RECORDS + "ERROR: could not reach the tracker\n" + RECORDS, id="between records"
        ),
        pytest.param(RECORDS + "error: 0.1234\n", id="a measured error"),
        pytest.param(RECORDS + "Error: 12.5 %\n", id="a measured error in per cent"),
        pytest.param(RECORDS + "mean_error=0.12 max_error=0.4\n", id="names of metrics"),
        pytest.param(RECORDS + "validation finished with 0 errors\n", id="no errors"),
        pytest.param(RECORDS + "errors: 3 of 200 samples were not exact\n", id="a count"),
        pytest.param(
            RECORDS + "wandb: ERROR Error while calling the server\n",
            id="another program beside the run",
        ),
        pytest.param(
            RECORDS + "ERROR: object 'libx.so' from LD_PRELOAD cannot be preloaded: ignored.\n",
            id="ignored",
        ),
        pytest.param(RECORDS + "ValueError: bad sample 17, skipping it\n", id="skipped"),
        pytest.param(
            RECORDS + "2024-05-01 12:00:00,000 - train - WARNING - ValueError: boom\n",
            id="logged as a warning",
        ),
        pytest.param(
            RECORDS + "ValueError: boom\n 45%|████      | 450/1000 [01:00<01:20,  6.8it/s]\n",
            id="a bar goes on behind it",
        ),
        pytest.param(
            RECORDS
            + "ValueError: boom\n"
            + "".join(f"saved shard {index}\n" for index in range(8)),
            id="the program goes on behind it",
        ),
    ],
)
def test_what_is_no_end_leaves_a_run_healthy(tmp_path: Path, text: str) -> None:
    """Errors that were survived do not speak against a running log.

    Nor do figures that are called errors.
    """
    report = judged(tmp_path, text)
    assert (report.causes[0].id, report.diagnosis.outcome) == (RUNNING, "running")
    assert report.diagnosis.first_failure is None


def test_the_last_line_of_one_rank_speaks_for_the_job(tmp_path: Path) -> None:
    """Files of the other ranks that simply end do not outweigh it."""
    for rank in range(3):
        (tmp_path / f"rank{rank}.log").write_text(
            RECORDS + ("ValueError: boom\n" if rank == 2 else "")
        )
    report = postmortem.analyze(tmp_path)
    failure = report.diagnosis.first_failure
    assert failure is not None
    assert (report.diagnosis.outcome, report.causes[0].id, failure.where.rank, failure.line) == (
        "failed",
        USER,
        2,
        LAST,
    )
