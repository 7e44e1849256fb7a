"""What stands around an error: who tells of it, whether the program goes on, what a script says."""

import pytest

from postmortem.extraction.trailing_context import infer_level, is_script
from postmortem.reading.prefixes import clean
from tests.extraction.made_tracebacks import first

HEAD = "Traceback (most recent call last):\n"
CAUGHT = "  File \"layers.py\", line 3, in has_fused\n    import apex\nModuleNotFoundError: No module named 'apex'\n"


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("", ""),
        ("epoch 1\n", ""),
        ("Exception ignored in: <function Pool.__del__ at 0x7f>\n", "exit"),
        ("Exception ignored in atexit callback: <function f at 0x7f>\n", "exit"),
        ("Error in atexit._run_exitfuncs:\n", "exit"),
        ("--- Logging error ---\n", "exit"),
        ("Exception in thread Thread-4 (_pin_memory_loop):\n", "thread"),
        ("Task exception was never retrieved\nfuture: <Task finished>\n", "thread"),
        ("[rank1]: Exception ignored in: <object>\n", "exit"),
    ],
)
def test_who_tells(before: str, expected: str) -> None:
    """Finalizers, exit handlers and threads announce what they print."""
    assert first(before + HEAD + CAUGHT).aside == expected


@pytest.mark.parametrize(
    ("behind", "expected"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("dictionary: 32000 types\n", 5, id="the program prints on"),
        pytest.param("\n\nbegin training epoch 1\n", 7, id="behind blank lines"),
        pytest.param("saving emergency checkpoint\n", 0, id="what follows from an error"),
        pytest.param("srun: step done\n", 0, id="another program"),
        pytest.param("How can I get rid of it?\n", 0, id="a person"),
        pytest.param("10%|#   | 1/10\n", 0, id="a bar drawn once more"),
        pytest.param(HEAD + "epoch 1\n", 0, id="another traceback"),
        pytest.param("[rank3]: epoch 1\n", 0, id="a process that may be another"),
    ],
)
def test_whether_the_program_goes_on(behind: str, expected: int) -> None:
    """Only ordinary output of the same process shows that a program goes on."""
    assert first(HEAD + CAUGHT + behind).went_on == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/env/torchvision/io/image.py:13: UserWarning: undefined symbol: _ZN3", "WARNING"),
        ("2026-01-01 10:00:00 ERROR out of memory", "ERROR"),
        ("Error caught was: No module named 'triton'", "CAUGHT"),
        ("flash_attn is missing. Falling back to eager attention", "CAUGHT"),
        ("ValueError: the result can be ignored", ""),
        ("RuntimeError: boom", ""),
    ],
)
def test_level(text: str, expected: str) -> None:
    """A line says itself how serious it is."""
    assert infer_level(clean(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#!/bin/bash", True),
        ("#SBATCH --requeue   # DUE TO PREEMPTION we start again", True),
        ("# CUDA out of memory: lower the batch", True),
        ("+ grep -q 'No space left on device' last.log", True),
        ("trap 'echo Received SIGTERM' TERM", True),
        ('srun python train.py || echo "Killed"', True),
        ("RuntimeError: CUDA out of memory", False),
        ("### 12 of 30", False),
        ("+ 3 more errors", False),
        ("echoes of a process", False),
    ],
)
def test_text_of_a_script(text: str, *, expected: bool) -> None:
    """Scripts and traces of shells quote errors that have not happened."""
    assert is_script(text) is expected
