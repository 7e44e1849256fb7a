"""How far a run came, and its course, read off whole logs."""

from pathlib import Path

import pytest

import postmortem
from postmortem.core.diagnosis import Diagnosis
from postmortem.report.about_run import describe_progress
from postmortem.report.words import Words

NAN = "Iter(train) [{step}/2000]  lr: 1.0000e-04  eta: 0:10:00  time: 0.5000  data_time: 0.0100  memory: 1000  loss: {loss}"


def mm(minute: int, text: str) -> str:
    """A line as mmengine prints it."""
    return f"05/01 12:{minute:02d}:00 - mmengine - INFO - {text}"


def run(*marks: tuple[int, str]) -> str:
    """A run of 40 records, 50 steps apart and a minute each, with NaN from step 750 on.

    Further lines behind the steps named.
    """
    lines = []
    for index in range(1, 41):
        step = 50 * index
        lines.append(
            mm(
                index,
                NAN.format(step=step, loss="nan" if step >= 750 else f"{2.0 - step / 1000:.4f}"),
            )
        )
        lines += [mm(index, text) for at, text in marks if at == step]
    return "\n".join(lines) + "\n"


def diagnosed(folder: Path, text: str, **others: str) -> Diagnosis:
    """Write the files of a job and diagnose it."""
    for name, content in {"train": text, **others}.items():
        (folder / f"{name}.log").write_text(content, encoding="utf-8")
    return postmortem.analyze(
        [folder / "train.log", *(folder / f"{name}.log" for name in others)]
    ).diagnosis


@pytest.mark.parametrize(
    ("saved", "state", "sentence"),
    [
        pytest.param(
            (500,),
            ("500 iterations", "yes", "500 iterations"),
            "the last checkpoint, that at 500 iterations, precedes the first bad value at step 750: resume from it",
            id="the last is good",
        ),
        pytest.param(
            (500, 1000),
            ("1000 iterations", "yes", "500 iterations"),
            "the last checkpoint, that at 1000 iterations, was saved after the first bad value at step 750: resume from that at 500 iterations, the last one before it",
            id="an earlier one is good",
        ),
        pytest.param(
            (1000,),
            ("1000 iterations", "no", None),
            "the last checkpoint, that at 1000 iterations, was saved after the first bad value at step 750, and none before it: do not resume from it",
            id="none is good",
        ),
        pytest.param((), (None, "unknown", None), None, id="none was saved"),
    ],
)
def test_the_checkpoint_to_go_back_to(
    tmp_path: Path,
    saved: tuple[int, ...],
    state: tuple[str | None, str, str | None],
    sentence: str | None,
) -> None:
    """The last one from before the first bad value, in the report's words too."""
    diagnosis = diagnosed(
        tmp_path, run(*((step, f"Saving checkpoint at {step} iterations") for step in saved))
    )
    done = diagnosis.progress
    assert (done.last_checkpoint, done.checkpoint_before_first_bad, done.resume_from) == state
    assert (done.last_good_step, done.first_bad and done.first_bad[0]) == (700, 750)
    shown = " ".join(
        postmortem.analyze(tmp_path / "train.log").render("terminal", full=True).split()
    )
    assert sentence is None or sentence in shown


def test_a_checkpoint_that_was_deleted_is_gone(tmp_path: Path) -> None:
    """With save_total_limit the last good one may be the first to go."""
    lines = [
        line
        for step in (100, 200, 300)
        for line in (
            f"{{'loss': {'nan' if step > 100 else '1.5'}, 'grad_norm': 1.0, 'learning_rate': 1e-05, 'epoch': 0.{step}}}",
            f"Saving model checkpoint to out/checkpoint-{step}",
        )
    ]
    lines.insert(5, "Deleting older checkpoint [out/checkpoint-100] due to args.save_total_limit")
    done = diagnosed(tmp_path, "\n".join(lines) + "\n").progress
    assert (done.last_checkpoint, done.checkpoint_before_first_bad, done.resume_from) == (
        "out/checkpoint-300",
        "no",
        None,
    )


def test_the_time_that_was_lost(tmp_path: Path) -> None:
    """From the first bad value to the last line: 25 minutes by the log's own clock."""
    diagnosis = diagnosed(tmp_path, run())
    assert diagnosis.progress.seconds_after_failure == 25 * 60
    assert diagnosis.first_failure is not None
    assert diagnosis.first_failure.time == "--05-01T12:15:00"


def test_a_saving_that_broke_off_is_no_checkpoint(tmp_path: Path) -> None:
    """The disk was full while the second checkpoint was written."""
    lines = [
        mm(1, NAN.format(step=500, loss="1.5")),
        mm(1, "Saving checkpoint at 500 iterations"),
        mm(2, NAN.format(step=1000, loss="1.2")),
        mm(2, "Saving checkpoint at 1000 iterations"),
        "Traceback (most recent call last):",
        '  File "/opt/venv/lib/python3.10/site-packages/torch/serialization.py", line 944, in save',
        "    zip_file.write_record(name, storage, num_bytes)",
        "OSError: [Errno 28] No space left on device",
    ]
    diagnosis = diagnosed(tmp_path, "\n".join(lines) + "\n")
    assert diagnosis.verdict.cause == "io.disk-full"
    assert diagnosis.progress.resume_from == diagnosis.progress.last_checkpoint == "500 iterations"


def test_the_course_of_a_run(tmp_path: Path) -> None:
    """Records, checkpoints, the first bad value and the end, in order.

    They have the steps that are printed.
    """
    diagnosis = diagnosed(
        tmp_path,
        run(
            (500, "Saving checkpoint at 500 iterations"),
            (1000, "Saving checkpoint at 1000 iterations"),
        ),
    )
    told = [(event.line, event.step, event.role, event.text) for event in diagnosis.timeline]
    assert [one for one in told if "Iter(train)" not in one[3]] == [
        (1, 50, "context", "first metric record"),
        (11, 500, "context", "checkpoint saved: 500 iterations"),
        (16, 750, "cause", "first failure: loss nan at step 750"),
        (22, 1000, "context", "checkpoint saved: 1000 iterations"),
        (42, 2000, "context", "last metric record"),
    ]


def test_two_files_go_by_the_clock(tmp_path: Path) -> None:
    """Where all files print full times, what happened earlier stands earlier.

    It does so whatever file it is in.
    """
    stamp = "[2024-05-01 12:{:02d}:00,000] [INFO] [{}.py:1:x] "
    worker = [
        stamp.format(minute, "engine")
        + f"[Rank 0] step={10 * minute}, skipped=0, lr=[1e-05], mom=[(0.9, 0.999)]"
        for minute in range(1, 20)
    ]
    launcher = [
        stamp.format(5, "loss_scaler")
        + "[deepspeed] OVERFLOW! Rank 1 Skipping step. Attempted loss scale: 65536, reducing to 32768",
        stamp.format(25, "launch") + "Killing subprocess 4242",
        stamp.format(26, "launch")
        + "['/usr/bin/python3', '-u', 'train.py'] exits with return code = -9",
    ]
    worker.insert(
        9, stamp.format(9, "engine") + "[Torch] Saved out/global_step90/mp_rank_00_model_states.pt."
    )
    diagnosis = diagnosed(tmp_path, "\n".join(worker) + "\n", launcher="\n".join(launcher) + "\n")
    order = [(event.source, event.line) for event in diagnosis.timeline]
    assert (
        order.index((0, 1))
        < order.index((1, 1))
        < order.index((0, 10))
        < order.index((1, 2))
        < order.index((1, 3))
    )


def test_ranks_within_one_second_go_by_their_steps(tmp_path: Path) -> None:
    """Times of day in whole seconds put the ranks side by side.

    Which of them was first, the steps tell.
    """
    lines = {
        name: [
            f"[10:00:{step // 20:02d}][I] step={step} loss={'nan' if step >= bad else 1.5}"
            for step in range(1, 60)
        ]
        for name, bad in (("rank_0", 43), ("rank_1", 42))
    }
    folder = tmp_path / "job"
    folder.mkdir()
    for name, text in lines.items():
        (folder / f"{name}.log").write_text("\n".join(text) + "\n", encoding="utf-8")
    events = postmortem.analyze(folder).diagnosis.timeline
    told = [event.step for event in events if event.step is not None]
    assert told == sorted(told)
    assert len({event.source for event in events[:2]}) == 2
    bad = [(event.source, event.step) for event in events if event.step in {42, 43}]
    assert bad[0] == (1, 42)


def test_a_long_log_keeps_what_matters(tmp_path: Path) -> None:
    """Hundreds of checkpoints do not push out the failure or the one to go back to."""
    marks = [
        mm(1, NAN.format(step=step, loss="nan" if step > 605 else "1.5"))
        + "\n"
        + mm(1, f"Saving checkpoint at {step} iterations")
        for step in range(1, 900)
    ]
    diagnosis = diagnosed(tmp_path, "\n".join(marks) + "\n")
    texts = [event.text for event in diagnosis.timeline]
    assert len(texts) <= 60
    assert diagnosis.progress.resume_from == "605 iterations"
    assert "checkpoint saved: 605 iterations" in texts
    assert any(text.startswith("first failure") for text in texts)


def test_a_healthy_run_has_nothing_to_go_back_for(tmp_path: Path) -> None:
    """No failure: no time was lost, and no checkpoint is called the good one of two."""
    text = (
        "\n".join(
            mm(index, NAN.format(step=50 * index, loss=f"{2.0 - index / 40:.4f}"))
            for index in range(1, 20)
        )
        + "\n"
        + mm(20, "Saving checkpoint at 950 iterations")
        + "\n"
    )
    done = diagnosed(tmp_path, text).progress
    assert (
        done.last_checkpoint,
        done.checkpoint_before_first_bad,
        done.seconds_after_failure,
        done.first_bad,
    ) == ("950 iterations", "unknown", None, None)


def test_a_checkpoint_saved_upon_the_notice_is_good(tmp_path: Path) -> None:
    """What the scheduler stopped has spoilt nothing: the last checkpoint can be resumed from."""
    text = "".join(
        f"2024-05-01 12:00:{second:02d},000 trainer INFO step {second * 10}/1000 loss {3 - second / 20:.3f}\n"
        for second in range(1, 21)
    )
    text += (
        "2024-05-01 12:00:30,000 trainer WARNING received SIGUSR1: preemption notice from the"
        " scheduler, checkpointing\n"
        "2024-05-01 12:00:31,000 trainer INFO saved checkpoint to out/checkpoint-200\n"
        "slurmstepd: error: *** JOB 11 ON n1 CANCELLED AT 2024-05-01T12:01:00 DUE TO PREEMPTION ***\n"
    )
    diagnosis = diagnosed(tmp_path, text)
    assert diagnosis.verdict.cause == "scheduler.preempted"
    assert diagnosis.progress.resume_from == "out/checkpoint-200"
    assert "do not resume" not in " ".join(describe_progress(diagnosis, Words("en")))


def test_a_good_checkpoint_tells_how_far_the_run_came(tmp_path: Path) -> None:
    """The last good step is not before the step of the checkpoint to resume from."""
    diagnosis = diagnosed(tmp_path, run((700, "Saving checkpoint at 740 iterations")))
    assert diagnosis.progress.resume_from == "740 iterations"
    assert diagnosis.progress.last_good_step == 740
