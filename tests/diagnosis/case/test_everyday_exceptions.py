"""Everyday exceptions of people's own scripts, as Python and its tools print them.

The logs are what small scripts really printed, each with one mistake.
"""

from pathlib import Path
from typing import NamedTuple

import pytest

import postmortem

LOGS = Path(__file__).parents[2] / "data" / "exceptions"
OWN = "code.user-exception"


class Row(NamedTuple):
    """A log, its cause, the user's own line, and a word of the message."""

    log: str
    cause: str
    file: str
    line: int
    why: str


ROWS = [
    Row("worker-key", "data.schema", "worker_key.py", 8, "KeyError: 'labels'"),
    Row("worker-zero", OWN, "worker_zero.py", 6, "ZeroDivisionError: float division"),
    Row("mp-pool", OWN, "mp_pool.py", 3, "no attribute 'lowr'"),
    Row("futures", OWN, "futures.py", 4, "division by zero"),
    Row("spawn", OWN, "spawn.py", 3, "KeyError: 'port'"),
    Row("raise-from", OWN, "raise_from.py", 5, "KeyError: 'weight_decay'"),
    Row("group", OWN, "group.py", 3, "KeyError: 'b'"),
    Row("group2", OWN, "group2.py", 4, "invalid literal for int()"),
    Row("syntax", OWN, "syntax.py", 2, "was never closed"),
    Row("indent", OWN, "indent.py", 3, "unexpected indent"),
    Row("rich-one", OWN, "rich_one.py", 4, "KeyError: 'scheduler'"),
    Row("rich-tb", OWN, "rich_tb.py", 9, "no attribute 'output'"),
    Row("ipython", OWN, "zero.py", 1, "division by zero"),
    Row("pytest-q", OWN, "test_model.py", 16, "assert torch.Size([2]) == (1, 2)"),
    Row("pytest-short", OWN, "test_model.py", 16, "assert torch.Size([2]) == (1, 2)"),
    Row("typo-lib", OWN, "typo_lib.py", 4, "zero_gradd"),
    Row("attr-own", OWN, "attr_own.py", 7, "encdr"),
    Row("missing-arg", OWN, "missing_arg.py", 5, "'memory'"),
    Row("lambda", OWN, "lambda_.py", 3, "division by zero"),
    Row("value-own", OWN, "value_own.py", 2, "resnet51"),
    Row("wrong-kw", OWN, "wrong_kw.py", 2, "biass"),
    Row("float-conv", OWN, "float_conv.py", 2, "3e-4x"),
    Row("exec-str", OWN, "exec_str.py", 1, "undefined_name"),
    Row("thread-exc", OWN, "thread_exc.py", 2, "KeyError: 'batch'"),
    Row("circular", OWN, "circ_b.py", 1, "circular import"),
    Row("image-mode", OWN, "resize.py", 4, "RGBA"),
    Row("int-from-nan", "data.schema", "int_from_nan.py", 4, "non-finite values"),
    Row("pytest-fixture", OWN, "test_fixture.py", 1, "fixture 'tiny_batch' not found"),
]


@pytest.mark.parametrize("row", ROWS, ids=[row.log for row in ROWS])
def test_the_users_own_line_is_named(row: Row) -> None:
    """With the cause, supported, and the exception that was raised there."""
    report = postmortem.analyze(LOGS / f"{row.log}.log").to_dict(redact=False)
    verdict, first = report["verdict"], report["first_failure"]
    assert (verdict["cause"], verdict["status"]) == (row.cause, "supported")
    assert (first["frame"]["file"].endswith(row.file), first["frame"]["line"]) == (True, row.line)
    assert row.why in first["why"]
    assert report["outcome"] == "failed"


@pytest.mark.parametrize("log", ["log-exception-few", "print-exc", "handled-fallback"])
def test_an_error_that_was_handled_is_no_failure(log: str) -> None:
    """The run goes on behind it and comes to its end; the error is listed as a warning."""
    report = postmortem.analyze(LOGS / f"{log}.log").to_dict(redact=False)
    assert (report["outcome"], report["verdict"]["cause"]) == ("completed", "healthy.completed")
    assert "warning" in {hit["role"] for hit in report["signatures"]}


def test_a_call_that_a_library_refused_is_named_if_nothing_else_is_likely() -> None:
    """As a hypothesis: why the library refused it, no rule knows."""
    report = postmortem.analyze(LOGS / "library-refuses.log").to_dict(redact=False)
    verdict, frame = report["verdict"], report["first_failure"]["frame"]
    assert (verdict["cause"], verdict["status"]) == (OWN, "hypothesis")
    assert (frame["file"], frame["line"]) == ("/home/user/proj/riff.py", 4)


def test_a_log_that_ends_with_an_error_line_is_a_log() -> None:
    """Nothing names a cause, but the line at which the program ended."""
    report = postmortem.analyze(LOGS / "last-line-error.log").to_dict(redact=False)
    assert (report["outcome"], report["verdict"]["cause"]) == ("unknown", None)
    assert "no masks for 12 images" in report["first_failure"]["why"]


def test_a_text_alone_proposes_nothing_below_one_half() -> None:
    """Each cause that is shown rests on more than wording, or is likelier than not."""
    for path in sorted(LOGS.glob("*.log")):
        for cause in postmortem.analyze(path).to_dict(redact=False)["causes"]:
            kinds = {item["kind"] for item in cause["evidence"] if item["weight"] > 0}
            assert kinds - {"classifier"} or cause["probability"] >= 0.5
