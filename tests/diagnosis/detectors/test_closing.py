"""What stands behind the last record: the end of a run, or that it is not well."""

import pytest

from postmortem.core import names
from postmortem.core.findings import NOWHERE
from postmortem.diagnosis.detectors import closing
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Series


def told(*lines: str) -> list[str]:
    """The shapes of a log whose last record is its first line."""
    text = "\n".join(["step 90 loss 0.81", *lines]) + "\n"
    observed = Observed(tails={0: (1, text)}, last_records={0: 1})
    return [shape.id for shape in closing.detect_after_last_record(observed)]


@pytest.mark.parametrize(
    "line",
    [
        "Training pipeline completed successfully!",
        "done, weights in /out/model",
        "finished in 0:41:12",
        "✅ All done! Model saved to ./model",
        "2024-05-01 12:00:00,123 - INFO - Job finished",
        "saved policy to out/lander/final.pt",
        "Final model written to out",
        "training finished after 900 steps, best score 0.71",
        "reached max_steps=3600; bye",
        "final checkpoint written",
        "Finished training after 25 epochs; failed jobs: 0",
        "done: 3 epochs, 9 samples skipped",
        "unpacking finished: 10 files, 1 archive skipped",
        "report complete: 3 figures",
        "[train] finished",
        "INFO root: done, results in knn.json",
        "10:00:00 INFO root 分词完成,共处理 3 句",
        "Finish training: the best accuracy is 0.77 in epoch 299.",
        "10:00:00.403 [main] INFO app.Trainer - Training is Done",
        "====  sweep done  ====",
        "Environment solved in 934 episodes!",
        "Early stopping at epoch 31",
        "Early Stopping....@ 72 epoch for patience @ 10.0",
        "==>> Done Elapsed=79 s",
    ],
)
def test_a_program_says_that_it_is_through(line: str) -> None:
    """Without a wording that is known."""
    assert told(line) == ["closing-words"]


@pytest.mark.parametrize(
    "behind",
    [
        "Starting epoch 2/6",
        "training ...",
        "[before the start of training step] datetime: 2024-12-25",
        " 43%|####      | 1003/2332 [30:31<2:24:29,  6.52s/it]",
    ],
)
def test_what_goes_on_is_not_through(behind: str) -> None:
    """Work that begins, or a bar in its midst, stands behind what says that something is done."""
    assert told("done with setup", "final model saved", behind) == []


@pytest.mark.parametrize(
    "line",
    [
        "Evaluation done in 31 s",
        "Checkpoint saving finished",
        "Epoch 3 finished",
        "Training not finished, resuming later",
        "finished loading the tokenizer",
        "Run aborted, final state dumped to out/final.pt",
        "done downloading 3 files",
        "Finished training epoch 4",
        "Finished training, 2 jobs failed",
        "训练完成，退出码: 1",
        "unpacking finished with exit code 2",
    ],
)
def test_a_part_of_it_is_not_the_end(line: str) -> None:
    """An evaluation, an epoch, a download, or what failed."""
    assert told(line) == []


def test_words_of_any_work_close_a_log_only_as_its_last_line() -> None:
    """What follows shows that they closed a part of it."""
    assert told("unpacking finished: 10 files", "reading 10 files") == []


def test_closing_words_count_without_a_record() -> None:
    """A script that measures nothing ends too."""
    observed = Observed(tails={0: (1, "reading\nall done\n")}, last_records={})
    assert [shape.id for shape in closing.detect_after_last_record(observed)] == ["closing-words"]


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("WARNING: the loss of this batch is nan, using 0 instead", "nan-in-closing"),
        ("[WARN] non-finite gradients in layer 3, update skipped", "nan-in-closing"),
        ("wandb:   val/accuracy nan", "nan-in-closing"),
        ("│ test_loss │ nan │", "nan-in-closing"),
        ("{'train_runtime': 3.1, 'train_loss': nan}", "nan-in-closing"),
        ("[E1122 10:11:12.123456 engine.cpp:77] lost its lease", "trouble-at-end"),
        ("2024-05-01 12:00:00,123 - run - ERROR - lost its lease", "trouble-at-end"),
        ("Traceback (most recent call last):", "traceback-cut"),
        (
            " 62%|██████▏   | 62/100 [10:11<06:12]Traceback (most recent call last):",
            "traceback-cut",
        ),
    ],
)
def test_it_is_not_well(line: str, shape: str) -> None:
    """A figure or a line that tells of such values; an error that nothing follows."""
    assert told(line) == [shape]


@pytest.mark.parametrize(
    "line",
    [
        "no nan loss found in 40 batches",
        "best val_loss: inf",
        "nan_iterations: 0",
        "checking for nan in outputs",
        "max_grad_norm: inf",
        "saving logs of nanoGPT",
    ],
)
def test_a_word_alone_says_nothing(line: str) -> None:
    """A bound, a check, a name."""
    assert told(line) == []


def test_an_error_that_something_follows_was_survived() -> None:
    """Only the last line counts."""
    assert told("[E1122 10:11:12.123456 engine.cpp:77] one request failed", "going on") == []


@pytest.mark.parametrize(
    "prompt",
    [
        "(base) anna@node7:~/run$ ",
        "[root@node7 run]# ",
        "PS C:\\run>",
        "C:\\Users\\anna>",
        "$",
    ],
)
def test_a_prompt_behind_a_step_that_was_not_the_last(prompt: str) -> None:
    """The process has ended, and nothing says why; behind the last step it is the end."""

    def ends(record: str) -> list[str]:
        text = f"{record}\n\n{prompt}\n"
        observed = Observed(tails={0: (1, text)}, last_records={0: 1})
        return [shape.id for shape in closing.detect_after_last_record(observed)]

    assert ends("step 90/400 loss 0.81") == ["shell-prompt"]
    assert ends("step 400/400 loss 0.81") == []
    assert ends("step 90 loss 0.81") == []


def test_the_mean_norm_that_one_skipped_step_has_spoilt() -> None:
    """The norm itself is finite, and so is the loss; a loss whose mean is not has been bad."""
    assert told("Summary: loss: 6.5 (6.6)  grad_norm: 0.41 (nan)") == []
    assert told("Summary: loss: 6.5 (nan)  grad_norm: 0.41 (0.40)") == ["nan-in-closing"]


@pytest.mark.parametrize(
    ("line", "shapes"),
    [
        ("saving the model as net.model", ["closing-results"]),
        ("Best test error: 0.184", ["closing-results"]),
        ("wandb: Synced 5 W&B file(s), 0 media file(s)", ["closing-results"]),
        ("saved ckpt 8, model and optimiser", []),
        ("[Eval FINAL]: {'rmse': 0.0187}", ["closing-results"]),
        ("Best test roc/f1: test_roc_1:0.9046, test_f1_1:0.9412", ["closing-results"]),
        ("Test HITS at step 9: 0.88", []),
        ("evaluating", []),
    ],
)
def test_results_that_are_printed_for_the_first_time(line: str, shapes: list[str]) -> None:
    """What every epoch prints closes none of them."""
    epochs = [
        text
        for number in range(8)
        for text in (f"step {number} loss 0.81", f"saved ckpt {number}, model and optimiser")
    ]
    rows = [*epochs[:-1], line]
    observed = Observed(tails={0: (1, "\n".join(rows) + "\n")}, last_records={0: 15})
    assert [shape.id for shape in closing.detect_after_last_record(observed)] == shapes


def test_a_test_ends_what_validations_watched() -> None:
    """It comes once; without a validation it may be of the first epoch."""

    def ends(*before: str) -> list[str]:
        rows = [
            *(text for number in range(8) for text in (f"step {number}", *before)),
            "Test F1: 0.8",
        ]
        observed = Observed(tails={0: (1, "\n".join(rows) + "\n")}, last_records={0: len(rows) - 1})
        return [shape.id for shape in closing.detect_after_last_record(observed)]

    assert ends("Valid F1: 0.7") == ["closing-results"]
    assert ends("loss 0.4") == []


def test_figures_of_a_test_may_follow_the_words() -> None:
    """The words stand behind the last loss of the training, the test behind the words."""
    losses = Series(names.LOSS, "plain", 0, NOWHERE)
    rows = [*(f"step {number} loss 0.5" for number in range(6)), "Training finished", "acc 0.9"]
    for line in range(1, 7):
        losses.append(line, 0.5, line)
    losses.settle()
    observed = Observed(
        series=(losses,), tails={0: (1, "\n".join(rows) + "\n")}, last_records={0: 8}
    )
    assert "closing-words" in {shape.id for shape in closing.detect_after_last_record(observed)}
