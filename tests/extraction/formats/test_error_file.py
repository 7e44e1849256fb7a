"""The error file of torchelastic: what the worker has died of, found on the file's one line."""

import json
from pathlib import Path

import pytest

import postmortem
from postmortem.extraction import source_reader

STACK = 'Traceback (most recent call last):\n  File "/home/me/train.py", line 65, in main\n    loss.backward()\nRuntimeError: CUDA error: an illegal memory access was encountered\n'
RECORD = json.dumps(
    {
        "message": {
            "message": STACK.splitlines()[-1],
            "extraInfo": {"py_callstack": STACK, "timestamp": "1714564801"},
        }
    }
)


def test_the_exception_is_read_as_if_printed() -> None:
    """The call stack ends in the exception; it is not doubled."""
    assert source_reader.is_error_file(RECORD)
    assert source_reader.extract_traceback(RECORD) == STACK


def test_a_signal_has_a_message_alone() -> None:
    """Without a call stack the message stands alone."""
    assert (
        source_reader.extract_traceback(
            '{"message": {"message": "Signal 9 (SIGKILL) received by PID 7", "extraInfo": {}}}'
        )
        == "Signal 9 (SIGKILL) received by PID 7\n"
    )


@pytest.mark.parametrize("raw", [RECORD[:60], '{"message": {"message": ', '{"message": "x"}', "[]"])
def test_what_is_cut_off_gives_nothing(raw: str) -> None:
    """It is read as a plain log then."""
    assert source_reader.extract_traceback(raw) is None


def test_an_error_file_alone_is_enough(tmp_path: Path) -> None:
    """Cause and place come out of it, on line 1, under the rank of its folder."""
    (tmp_path / "rank3").mkdir()
    (tmp_path / "rank3" / "error.json").write_text(RECORD)
    report = postmortem.analyze(tmp_path).diagnosis
    assert report.verdict.cause == "cuda.illegal-memory-access"
    assert report.first_failure is not None
    assert (report.first_failure.line, report.first_failure.where.rank) == (1, 3)
    assert report.sources[0].note == source_reader.ERROR_FILE_NOTE.en
