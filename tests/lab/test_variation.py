"""The variation tool changes what a log looks like and keeps what is true of it."""

from pathlib import Path
from typing import Any

import pytest
from harness.compare import differences
from harness.faults import FaultError
from harness.labels import TERMINAL, lines_of
from harness.variation import KINDS, varied, vary

LOG = (
    "".join(f"step {step} | loss {3 / step:.4f}\n" for step in range(1, 60)).encode()
    + b"""Traceback (most recent call last):
  File "/workspace/run/train.py", line 9, in <module>
    loss.backward()
RuntimeError: something is wrong with a long explanation that goes on and on, so that a narrow terminal has to break the line, which people then copy
exiting
finished cleaning up
process ends
second process ends
bye
goodbye
last line
"""
)
LABEL = {
    "cause": "code.user-exception",
    "also": [],
    "not": [],
    "signature": "RuntimeError: something",
    "series": {"loss": {"points": 59}},
    "step_basis": "explicit",
    "first_failure": {"line": 63, "text": "RuntimeError: something is wrong"},
    "how": "python sample_logs/lab run x/y",
    "story": "x",
}


def text_at(data: bytes, line: int) -> str:
    """The line as shown."""
    text = data.decode("utf-16") if data.startswith((b"\xff\xfe", b"\xfe\xff")) else data.decode()
    return TERMINAL.sub("", lines_of(text.encode())[line - 1])


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("seed", range(4))
def test_the_failure_is_where_the_label_says(kind: str, seed: int) -> None:
    """After each kind of change, the label's line is the failure's line.

    A second application with the seed gives the same bytes.
    """
    files, label = varied({"": LOG}, LABEL, seed, [kind], b"an earlier run\nwith two lines\n")
    assert LABEL["first_failure"]["text"] in text_at(files[""], label["first_failure"]["line"])
    assert varied({"": LOG}, LABEL, seed, [kind], b"an earlier run\nwith two lines\n") == (
        files,
        label,
    )
    assert files[""] != LOG


@pytest.mark.parametrize(
    "kind", ["verbosity", "warnings", "bars", "coloured", "windows", "prefixed", "utf-16"]
)
def test_curves_stay_where_no_metric_line_is_broken(kind: str) -> None:
    """Every metric line is still there, so the label keeps its curve."""
    files, label = varied({"": LOG}, LABEL, 1, [kind], b"")
    text = TERMINAL.sub("", files[""].decode("utf-16" if kind == "utf-16" else "utf-8"))
    assert "series" in label
    assert all(f"step {step} | loss {3 / step:.4f}" in text for step in range(1, 60))


def test_a_traceback_is_not_torn_by_sprinkled_lines() -> None:
    """Inserted lines stand before or behind a traceback's frames, never inside."""
    files, _ = varied({"": LOG}, LABEL, 2, ["verbosity", "warnings"], b"")
    text = files[""].decode()
    assert text.index("RuntimeError: something") - text.index('  File "/workspace') < 80


def test_a_case_is_varied_beside_its_dump(tmp_path: Path) -> None:
    """The written label says how it was made and that it is no longer a plain record."""
    import yaml

    folder = tmp_path / "pytorch"
    folder.mkdir()
    (folder / "x-0.log").write_bytes(LOG)
    (folder / "x-0.yaml").write_text(yaml.safe_dump(LABEL), encoding="utf-8")
    (folder / "x-0.env").write_text("PyTorch version: 2.5.0\n", encoding="utf-8")
    label = vary(folder / "x-0.log", 5, [], tmp_path / "out")
    written = yaml.safe_load(label.read_text(encoding="utf-8"))
    assert written["composed"] is True
    assert 1 <= len(written["varied"]) <= 4
    assert "--seed 5" in written["how"]
    assert label.with_suffix(".env").is_file()
    with pytest.raises(FaultError, match="unknown kinds"):
        vary(folder / "x-0.log", 5, ["upside-down"], tmp_path / "out")
    with pytest.raises(FaultError, match="is not there"):
        vary(folder / "y-0.log", 5, [], tmp_path / "out")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, ""),
        ({"cause": "data.empty"}, "cause:"),
        ({"signature": "RuntimeError: other"}, "signature:"),
        ({"first_failure": {"line": 70, "text": "RuntimeError: something is wrong"}}, ""),
        ({"first_failure": {"line": 63, "text": "ValueError"}}, "first failure:"),
        ({"series": {}}, "series loss stands"),
    ],
    ids=["the same", "cause", "signature", "a line further down", "another failure", "no curve"],
)
def test_two_labels_are_compared(change: dict[str, Any], said: str) -> None:
    """What another run may move is let go, what it may not is named."""
    series = {"loss": {"points": 59, "nonfinite": 0, "first": [1, 3.0], "last": [59, 0.05]}}
    old = {**LABEL, "series": series}
    found = "; ".join(differences(old, {**old, **change}))
    assert (said in found) if said else not found
