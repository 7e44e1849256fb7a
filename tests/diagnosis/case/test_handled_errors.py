"""An error that a run has handled is no failure; words of an exit handler do not make it one."""

from pathlib import Path

import pytest

import postmortem

EPOCHS = [f"2026-05-03 10:00:0{n},000 INFO epoch {n}/5 loss {1 / n:.4f}" for n in range(1, 6)]
ERROR = "2026-05-03 10:00:06,000 ERROR "
INFO = "2026-05-03 10:00:07,000 INFO "
RAISED = """Traceback (most recent call last):
  File "/w/train.py", line 31, in <module>
    step()
  File "/w/train.py", line 13, in step
    write(figure)
ValueError: cannot write the figure""".splitlines()
THREAD = [
    "Exception in thread sender:",
    "Traceback (most recent call last):",
    '  File "/usr/lib/python3.11/threading.py", line 1045, in _bootstrap_inner',
    "    self.run()",
    '  File "/w/train.py", line 10, in sender',
    "    post(value)",
    "ConnectionRefusedError: [Errno 111] Connection refused",
]
STEPS = [f"step {n}/200 loss {200 / n:.4f}" for n in range(40, 201, 40)]
BROKEN = "2026-05-03 10:00:00,000 WARNING skipping a.jpg: cannot identify image file 'a.jpg'"
ENDED_BY_STATUS = (
    "E0503 10:00:08.000000 21559 torch/distributed/elastic/multiprocessing/api.py:1002] "
    "failed (exitcode: 1) local_rank: 0 (pid: 21570) of binary: /usr/bin/python3"
)

HANDLED = {
    "a traceback that was logged, then the end": [
        *EPOCHS,
        f"{ERROR}could not draw the curve",
        *RAISED,
        f"{INFO}training finished",
    ],
    "logged twice, tried again": [
        *EPOCHS,
        *[f"{ERROR}upload failed, retrying", *RAISED] * 2,
        f"{INFO}训练结束",
    ],
    "announced in print, then the end": [
        *EPOCHS,
        "evaluation skipped:",
        *RAISED,
        f"{INFO}all epochs finished",
    ],
    "warnings of samples up to the last epoch": [
        EPOCHS[0],
        *(line for epoch in EPOCHS[3:] for line in (BROKEN, epoch)),
        f"{INFO}Training completed",
    ],
    "printed between records, with nothing to announce it": [
        *STEPS[:2],
        *RAISED[:-1],
        "KeyError: 'f1'",
        *STEPS[2:],
        "Training done, best step 200",
    ],
    "a hub that did not answer once": [
        *STEPS[:2],
        "Could not push: 503 Server Error: Service Unavailable for url: https://huggingface.co/api",
        "Retrying in 5 s",
        *STEPS[2:],
        "Training complete!",
    ],
    "a count that goes on, with nothing to announce it": [
        "[1/4] reading a.csv",
        "[2/4] reading b.csv",
        *RAISED,
        "[3/4] reading c.csv",
        "[4/4] reading d.csv",
        "all done",
    ],
    "lines of one kind before and behind": [
        "converting a.wav",
        "converting b.wav",
        *RAISED,
        "converting c.wav",
        "Done",
    ],
    "a level of no known form": [
        "[E] plots: cannot draw the curve",
        *RAISED,
        "[I] train: step 10/20 loss 0.5",
        "[I] train: step 20/20 loss 0.4",
        "[I] train: training complete",
    ],
    "a level behind a date without a year": [
        "11/29 09:33:09 [ERROR] chunk 4000 does not fit",
        *RAISED,
        "11/29 09:33:10 [INFO] similarities with chunk 62",
        "11/29 09:33:11 [INFO] finished successfully",
    ],
    "a thread that died, and a run that came to its last step": [
        *THREAD,
        *STEPS,
        "done, saved to final.pt",
    ],
    "an exception chained to that of a thread": [
        *THREAD,
        "",
        "During handling of the above exception, another exception occurred:",
        "",
        *THREAD[1:6],
        "urllib.error.URLError: <urlopen error [Errno 111] Connection refused>",
        *STEPS,
        "done, saved to final.pt",
    ],
    "a logger called train falls back": [
        f"{ERROR}train: compiling failed, falling back to eager mode",
        *RAISED,
        *EPOCHS,
        f"{INFO}train: run complete",
    ],
    "a logger's name before the closing words": [
        *(
            f"[2026-05-03 10:00:01,000] glue: step {n} loss {3 - n / 100}"
            for n in range(0, 200, 40)
        ),
        "[2026-05-03 10:00:01,000] glue: task mnli is left out: KeyError('mnli')",
        "[2026-05-03 10:00:01,000] glue: run complete",
    ],
}
FAILED = {
    "an exit handler says done": [*EPOCHS[:3], *RAISED, "done"],
    "a logged error far from the last epoch, then done": [
        *EPOCHS[:2],
        f"{ERROR}something went wrong",
        *RAISED,
        f"{INFO}done",
    ],
    "the logger says that the training failed": [
        *EPOCHS,
        f"{ERROR}training failed",
        *RAISED,
        f"{INFO}done",
    ],
    "a checkpoint in the handler, then the status": [
        *EPOCHS,
        f"{ERROR}could not draw the curve",
        *RAISED,
        f"{INFO}saved the final checkpoint",
        ENDED_BY_STATUS,
    ],
    "an emergency checkpoint": [
        *EPOCHS[:2],
        f"{ERROR}something went wrong",
        *RAISED,
        f"{INFO}emergency: final weights saved",
    ],
    "another exception behind the end": [
        *EPOCHS,
        f"{ERROR}could not draw the curve",
        *RAISED,
        f"{INFO}training finished",
        *RAISED,
    ],
    "a thread that died, and a run that stopped there": [*STEPS[:3], *THREAD],
    "wandb's summary behind a crash": [
        *EPOCHS[:3],
        *RAISED,
        "wandb: Run summary:",
        "wandb: loss 0.33333",
        "wandb: Synced 5 W&B file(s), 0 media file(s)",
    ],
    "a script that was started again": [
        "loading the data",
        "loading the model",
        *RAISED,
        "loading the data",
        "loading the model",
        *RAISED,
    ],
    "output that was kept back behind a crash": [*RAISED, *STEPS[:3]],
    "a shot at the end that was given up": [
        *EPOCHS,
        f"{ERROR}giving up after 3 retries",
        *RAISED,
        f"{INFO}training finished",
    ],
}


SILENT = [
    f"{INFO}reading the vocabulary",
    f"{ERROR}cannot read the vocabulary, using the default",
    *RAISED,
    f"{INFO}vocabulary: 32000 words",
    f"{INFO}shard 1 of 9",
    f"{INFO}shard 2 of 9",
]


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        pytest.param(SILENT, "healthy.running", id="goes on"),
        pytest.param([*SILENT, f"{INFO}done"], "healthy.completed", id="says that it is through"),
        pytest.param(
            ["cannot read last.pt, trying the one before", *RAISED, "resumed from 6", *STEPS[:3]],
            "healthy.running",
            id="announces what it does instead",
        ),
    ],
)
def test_a_program_without_records_goes_on(tmp_path: Path, lines: list[str], cause: str) -> None:
    """Behind an error that it has caught; its ordinary output shows it."""
    log = tmp_path / "run.log"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert postmortem.analyze(log).verdict.cause == cause


def test_a_script_speaks_behind_the_shutdown_of_what_it_started(tmp_path: Path) -> None:
    """It says that training is finished, whatever happened."""
    shutdown = [
        "Exception ignored in: <function Tracker.__del__ at 0x7fb7cf1f4fe0>",
        "Traceback (most recent call last):",
        '  File "/env/lib/python3.11/site-packages/x/tracker.py", line 80, in __del__',
        "AttributeError: 'RLock' object has no attribute '_count'",
    ]
    failed = [RAISED[0], *RAISED[3:-1], "KeyError: 'f1'", *shutdown, "", "训练完成！"]
    log = tmp_path / "run.log"
    log.write_text("\n".join([*EPOCHS[:2], *failed]) + "\n", encoding="utf-8")
    assert postmortem.analyze(log).diagnosis.outcome == "failed"


SHORT = [
    (
        "2026-11-28 12:56:47.956 | INFO     | __main__:<module>:5 - torch 2.13.0+cpu\n"
        "2026-11-28 12:56:47.957 | ERROR    | __main__:<module>:7 - no CUDA device visible, "
        "refusing to train on the CPU\n",
        "cuda.not-available",
    ),
    ("torch 2.13.0+cpu\nno GPU found, this script needs one\n", "cuda.not-available"),
]
"""A few lines of which the last is a message of the program."""
FRAMES = """Traceback (most recent call last):
  File "/w/proj/train.py", line 7, in <module>
    {user}
  File "{library}", line 70, in {function}
    {code}
{raised}
"""
PACKAGES = "/env/lib/python3.11/site-packages/"
RAISING = {
    "a variable of the environment": (
        'root = os.environ["IMAGES"]',
        "<frozen os>",
        "__getitem__",
        "raise KeyError(key) from None",
        "KeyError: 'IMAGES'",
        "config.arguments",
    ),
    "a column of a table": (
        'y = wine.pop("quality")',
        f"{PACKAGES}pandas/core/indexes/base.py",
        "get_loc",
        "raise KeyError(key) from err",
        "KeyError: 'quality'",
        "data.schema",
    ),
    "a class that the library was given": (
        'model = Net.load_from_checkpoint("a.ckpt")',
        f"{PACKAGES}lightning/pytorch/core/saving.py",
        "_load_state",
        "obj = instantiator(cls, kw) if instantiator else cls(**kw)",
        "TypeError: Net.__init__() missing 1 required positional argument: 'hidden'",
        "code.user-exception",
    ),
    "a loss of probabilities": (
        "loss = criterion(out, target)",
        f"{PACKAGES}torch/nn/functional.py",
        "binary_cross_entropy",
        "return torch._C._nn.binary_cross_entropy(input, target)",
        "RuntimeError: all elements of input should be between 0 and 1",
        "code.user-exception",
    ),
    "an optimiser without parameters": (
        "opt = torch.optim.AdamW(model.parameters())",
        f"{PACKAGES}torch/optim/optimizer.py",
        "__init__",
        'raise ValueError("optimizer got an empty parameter list")',
        "ValueError: optimizer got an empty parameter list",
        "code.user-exception",
    ),
    "the next sample of a list": (
        "for batch in loader:",
        "/w/proj/data.py",
        "__getitem__",
        "return self.frames[idx], self.frames[idx + 1]",
        "IndexError: list index out of range",
        "code.user-exception",
    ),
}


def outcome(folder: Path, lines: list[str]) -> tuple[str, str | None]:
    """How a run with this log ended, and its cause."""
    log = folder / "run.log"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    report = postmortem.analyze(log).to_dict()
    return report["outcome"], report["verdict"]["cause"]


@pytest.mark.parametrize("lines", HANDLED.values(), ids=HANDLED)
def test_a_handled_error_is_no_failure(tmp_path: Path, lines: list[str]) -> None:
    """The run came to its end, and says so."""
    assert outcome(tmp_path, lines) == ("completed", "healthy.completed")


@pytest.mark.parametrize("lines", FAILED.values(), ids=FAILED)
def test_words_of_a_handler_are_no_end(tmp_path: Path, lines: list[str]) -> None:
    """The run failed, whatever is printed while it ends."""
    ended, cause = outcome(tmp_path, lines)
    assert ended == "failed"
    assert not (cause or "").startswith("healthy.")


@pytest.mark.parametrize(("text", "cause"), SHORT)
def test_a_short_log_that_ends_in_a_message_is_judged(
    tmp_path: Path, text: str, cause: str
) -> None:
    """Versions before it make it no dump of the environment."""
    report = outcome(tmp_path, text.splitlines())
    assert report == ("failed", cause)


@pytest.mark.parametrize("row", RAISING.values(), ids=RAISING)
def test_the_frame_decides_what_an_exception_means(tmp_path: Path, row: tuple[str, ...]) -> None:
    """Not the class of the exception alone, nor a word of it."""
    user, library, function, code, raised, cause = row
    text = FRAMES.format(user=user, library=library, function=function, code=code, raised=raised)
    assert outcome(tmp_path, text.splitlines()) == ("failed", cause)


def test_last_words_are_no_going_on(tmp_path: Path) -> None:
    """A wrapper that logs the exception says where the output is, and closes its tracker."""
    caught = [line.replace("<module>", "wrap") for line in RAISED]
    lines = [*STEPS, f"{ERROR}", *caught, f"{INFO}Output dir: /w/out", f"{INFO}Closing the tracker"]
    log = tmp_path / "run.log"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    report = postmortem.analyze(log)
    assert report.analysis.outcome == "failed"
    assert report.causes[0].id == "code.user-exception"
