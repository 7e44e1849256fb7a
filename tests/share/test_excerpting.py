"""What is shared is judged as the whole was, holds the failure, and gives no secret away."""

from functools import partial
from pathlib import Path

import pytest
import samples

import postmortem
from postmortem.errors import InputError
from postmortem.report.sharing import IssueText
from postmortem.share.excerpting import smallest_text

LABELS = samples.labels_in(samples.ROOT / "sample_logs")[::12]
OOM = (
    'Traceback (most recent call last):\n  File "/home/carol/train.py", line 90, in <module>\n    loss.backward()\n'
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.20 GiB is free. Including non-PyTorch memory, this process has 22.40 GiB memory in use."
    " Of the allocated memory 21.90 GiB is allocated by PyTorch, and 290.00 MiB is reserved by PyTorch but unallocated.\n"
)


@pytest.mark.parametrize("label", LABELS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_text_is_judged_as_the_job_was(tmp_path: Path, label: Path) -> None:
    """Read back as whoever receives it would, it gives the same cause.

    Where it does not, it says so.
    """
    dump = [path for path in [label.with_suffix(".env")] if path.exists()]
    made = smallest_text([samples.input_of(label)], env=dump)
    (tmp_path / "issue.md").write_text(made.text, encoding="utf-8")
    again = postmortem.analyze(tmp_path / "issue.md", env=dump).verdict.cause
    assert made.is_same
    assert again == postmortem.analyze(samples.input_of(label), env=dump).verdict.cause
    assert made.lines <= made.of


def test_a_long_log_becomes_short(tmp_path: Path) -> None:
    """Of ten thousand lines the failure stays, with its traceback and the last lines."""
    log = tmp_path / "run.log"
    log.write_text("".join(f"loading shard {number}\n" for number in range(10_000)) + OOM + "bye\n")
    made = smallest_text([log])
    assert made.is_same
    assert made.lines < 15
    assert "CUDA out of memory" in made.text
    assert "loss.backward()" in made.text
    assert "\nbye\n" in made.text


def test_names_are_hidden_unless_asked_for(tmp_path: Path) -> None:
    """A home directory names a person."""
    log = tmp_path / "run.log"
    log.write_text(OOM)
    assert "carol" not in smallest_text([log]).text
    assert "carol" in smallest_text([log], text=partial(IssueText, redact=False)).text


def test_standard_input_is_refused() -> None:
    """It cannot be read a second time; the message says what to do."""
    with pytest.raises(InputError, match="second time"):
        smallest_text(["-"])
