"""A short fuzz: a few hundred broken logs through everything, the same in each run.

`python tools/fuzz.py --minutes 60` is the long one.

Which input is made of what, and what is held against an answer, is told in `tools/mutations.py` and
`tools/answers.py`.
"""

import random
from pathlib import Path

import answers
import fuzz
import mutations
import pytest
import trials
import uses

import postmortem

INPUTS = 220
"""About a minute of processor time."""
BATCHES = 11


@pytest.mark.parametrize("batch", range(BATCHES))
def test_nothing_breaks(batch: int) -> None:
    """No crash, no input that takes long, no text that its schema or parser refuses.

    No planted secret is shown.
    """
    tried = {number: uses.tried(1, number) for number in range(batch, INPUTS, BATCHES)}
    assert {
        f"--seed 1 --first {number}": trial.findings
        for number, trial in tried.items()
        if trial.findings
    } == {}


def test_an_input_is_the_same_again() -> None:
    """A seed and a number are enough to make it."""
    assert [mutations.make(3, number) for number in range(20)] == [
        mutations.make(3, number) for number in range(20)
    ]
    assert mutations.make(3, 0) != mutations.make(4, 0)


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        pytest.param("json", '{"schema": NaN}', "NaN", id="NaN in JSON"),
        pytest.param("json", "{}", "schema", id="JSON without its fields"),
        pytest.param("sarif", '{"version": "1"}', "schema", id="another SARIF"),
        pytest.param("html", "<p><b>x</p></b>", "closes nothing", id="crossed elements"),
        pytest.param("html", "<p>", "not closed", id="an open element"),
        pytest.param(
            "html",
            '<script type="application/json">{"x": NaN}</script>',
            "NaN",
            id="NaN in the page's figures",
        ),
        pytest.param("markdown", "x" * 70_000, "more than", id="a comment too long"),
        pytest.param("markdown", "<details>", "not closed", id="an open fold"),
        pytest.param("terminal", "a\x1b[2Jb", "0x1b", id="a terminal's command"),
        pytest.param("github", "error", "no command", id="no command of a runner"),
        pytest.param("html", "\ud800", "surrogates", id="what no file can hold"),
    ],
)
def test_a_broken_answer_is_seen(tmp_path: Path, form: str, text: str, said: str) -> None:
    """Each check refuses what it is there for."""
    trial = trials.Trial(mutations.make(3, 0), tmp_path, random.Random(0))
    trial.checked(form, lambda: answers.CHECKS[form](text))
    assert said in trial.findings[0].what


def test_a_crash_and_a_secret_are_findings(tmp_path: Path) -> None:
    """An exception that is not ours is one, an error of ours is none."""
    made = mutations.make(3, 0)._replace(secrets={"hunter2hunter2": "password {}"})
    trial = trials.Trial(made, tmp_path, random.Random(0))
    trial.timed("analyze", lambda: 1 / 0)
    trial.timed("analyze", lambda: postmortem.analyze(tmp_path / "none.log"))
    trial.hidden("json", "x hunter2hunter2")
    assert [one.what for one in trial.findings] == [
        "ZeroDivisionError: division by zero",
        "secret: password {}",
    ]


def test_an_input_is_made_small() -> None:
    """What the finding does not need goes."""
    assert fuzz.reduced(b"a\nb\nX\nc\nd", b"\n", lambda data: b"X" in data) == b"X"
    assert fuzz.reduced(b"abXcd", b"", lambda data: b"X" in data) == b"X"


def test_a_run_tells_its_rate_and_goes_on_behind_a_dead_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An input that ends the interpreter is a finding with its files.

    The next child begins behind it.
    """
    child = tmp_path / "child.py"
    child.write_text(
        "import json, os, sys\nfirst = int(sys.argv[sys.argv.index('--first') + 1])\nprint(json.dumps({'begins': first}), flush=True)\nif first == 7: os.abort()\n"
        "print(json.dumps({'ends': first, 'seconds': 200.0, 'bytes': 9, 'times': [['analyze', 0.5, 2.0]], 'findings': []}))\n",
    )
    monkeypatch.setattr(fuzz, "__file__", str(child))
    assert fuzz.main(["--minutes", "5", "--first", "7", "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().out
    assert "0/7  process: the process ends with -6" in told
    assert "seed 0: inputs 7 to 8" in told
    assert (tmp_path / "out" / "0-7" / "finding.jsonl").is_file()
