"""What stands as a difference between two runs, and what is only another run of the same."""

from pathlib import Path

import pytest

from postmortem.extraction.line_noise import is_uninformative, normalize_line
from postmortem.interfaces.compare import compare_runs

STEPS = "".join(f"step {step} loss {3.0 - step / 20:.4f}\n" for step in range(1, 30))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("took 12.5 s", "took 9 s", id="a number"),
        pytest.param("saved to /data/a/model-3.pt", "saved to out/model.pt", id="a path"),
        pytest.param("reading C:\\sets\\one", "reading D:\\two", id="a path of Windows"),
        pytest.param("see https://wandb.ai/x/runs/3f", "see https://wandb.ai/y", id="an address"),
        pytest.param("started train_a.py", "started run.py", id="a script"),
        pytest.param("Exp name: tiny_20250101_101112", "Exp name: big_20250203_1213", id="a name"),
        pytest.param("run a1b2c3d4e5", "run 9f8e7d6c5b", id="an id"),
        pytest.param("ranks [0, 1, 2, 3] ready", "ranks [0] ready", id="a list"),
        pytest.param(
            "began Mon Jan 5 10:00:01 2026", "began Tue Feb 17 09:10:11 2026", id="a date"
        ),
        pytest.param("final loss nan", "final loss 2.31", id="NaN is a number"),
        pytest.param(
            "world eyJsb2NhbGhvc3QiOiBbMF19", "world eyJhYmNDEFghOiBbMCwxXX0=", id="base64"
        ),
        pytest.param("***** eval *****", "eval", id="ornaments"),
    ],
)
def test_what_is_a_runs_own_makes_no_wording(one: str, other: str) -> None:
    """Numbers, paths, names after their time and ids are taken out."""
    assert normalize_line(one) == normalize_line(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("using bf16", "using fp16", id="a precision"),
        pytest.param("loaded internlm2", "loaded llama3", id="a model"),
        pytest.param("optimizer AdamW", "optimizer Lion", id="an optimizer"),
        pytest.param("attn_implementation=sdpa", "attn_implementation=eager", id="a setting"),
    ],
)
def test_what_was_chosen_does(one: str, other: str) -> None:
    """Names that somebody chose stay."""
    assert normalize_line(one) != normalize_line(other)


@pytest.mark.parametrize(
    "text",
    [
        " 45%|████▌     | 9/20 [00:01<00:01, 8.1it/s]",
        "━━━━━━━━━━ 12/40 0:00:01 • 0:00:02 9.41it/s",
        r"|_   _| | | (_) / __| \__ \ / /_\ \ ",
        "==================== tiny run ====================",
        "***** Running training *****",
        "-----",
        "/data/run-17/ckpt 2026-01-05",
    ],
)
def test_bars_drawings_and_headings_say_nothing(text: str) -> None:
    """No line of these is a difference."""
    assert is_uninformative(text, normalize_line(text))


@pytest.mark.parametrize(
    "text",
    [
        "**** The optimizer is untested with this stage, take care ****",
        "训练开始",
        "ValueError: no rows",
        "shard 3 is missing",
        "| head | Linear | 680 |",
    ],
)
def test_sentences_say_something(text: str) -> None:
    """Nor is what tells of the run taken for an ornament."""
    assert not is_uninformative(text, normalize_line(text))


@pytest.mark.parametrize(
    "text",
    [
        "/usr/lib/python3.11/site-packages/x/y.py:3: UserWarning: no fast kernel\n  warn(\n",
        "train.py:3: FutureWarning: this will go\n  old()\n",
        "[2026-01-05 10:00:00,000] [INFO] [launch.py:100:main] nodes and their slots\n",
        "[E105 10:00:00.1 x.cpp:3]\n",
        "  0%|          | 0/60 [00:00<?, ?it/s]***** Running training *****\n",
    ],
)
def test_launchers_and_imports_are_no_difference(tmp_path: Path, text: str) -> None:
    """What they print before the first record is theirs."""
    good, bad = tmp_path / "good.log", tmp_path / "bad.log"
    good.write_text(STEPS)
    bad.write_text(text + STEPS)
    assert compare_runs([good], [bad]).only_bad == ()


def test_a_traceback_is_its_last_line(tmp_path: Path) -> None:
    """Also where two processes print theirs into each other."""
    good, bad = tmp_path / "good.log", tmp_path / "bad.log"
    good.write_text(STEPS)
    lines = [
        "Traceback (most recent call last):",
        '  File "/w/train.py", line 3, in <module>',
        "    main()",
        "ValueError: no rows",
    ]
    bad.write_text(STEPS + "".join(f"[rank0]: {one}\n[rank1]: {one}\n" for one in lines))
    found = compare_runs([good], [bad]).only_bad
    assert [(one.text, one.times) for one in found] == [("ValueError: no rows", 2)]


def test_records_that_were_not_kept_are_no_difference(tmp_path: Path) -> None:
    """A long curve is thinned; the wording of its records is still that of a curve."""
    good, bad = tmp_path / "good.log", tmp_path / "bad.log"
    good.write_text("start\n" + "".join(f"step {step} loss 1.5\n" for step in range(1, 50)))
    bad.write_text(
        "start\n"
        + "".join(f"step {step} loss {2 + step % 7 / 8:.3f} lr 0.1\n" for step in range(1, 5000))
    )
    assert compare_runs([good], [bad]).only_bad == ()
