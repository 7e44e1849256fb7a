"""What is shared is judged as the whole was, holds the failure, and gives no secret away."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import samples

import postmortem
from postmortem.core.errors import InputError
from postmortem.interfaces import share
from postmortem.interfaces.share import build_minimal_excerpt
from postmortem.report.sharing import IssueText

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
    made = build_minimal_excerpt([samples.input_of(label)], env=dump)
    (tmp_path / "issue.md").write_text(made.text, encoding="utf-8")
    again = postmortem.analyze(tmp_path / "issue.md", env=dump).verdict.cause
    assert made.is_same
    assert again == postmortem.analyze(samples.input_of(label), env=dump).verdict.cause
    assert made.lines <= made.of


def test_a_long_log_becomes_short(tmp_path: Path) -> None:
    """Of ten thousand lines the failure stays, with its traceback and the last lines."""
    log = tmp_path / "run.log"
    log.write_text("".join(f"loading shard {number}\n" for number in range(10_000)) + OOM + "bye\n")
    made = build_minimal_excerpt([log])
    assert made.is_same
    assert made.lines < 15
    assert "CUDA out of memory" in made.text
    assert "loss.backward()" in made.text
    assert "\nbye\n" in made.text


def test_names_are_hidden_unless_asked_for(tmp_path: Path) -> None:
    """A home directory names a person."""
    log = tmp_path / "run.log"
    log.write_text(OOM)
    assert "carol" not in build_minimal_excerpt([log]).text
    assert "carol" in build_minimal_excerpt([log], text=partial(IssueText, redact=False)).text


def test_standard_input_is_refused() -> None:
    """It cannot be read a second time; the message says what to do."""
    with pytest.raises(InputError, match="second time"):
        build_minimal_excerpt(["-"])


LIBRARY = "/venv/lib/python3.11/site-packages/torch/nn/modules/module.py"
CHAINED = [
    "Traceback (most recent call last):",
    '  File "/work/rows.py", line 7, in row',
    "    return table[key]",
    "KeyError: 'x'",
    "",
    "The above exception was the direct cause of the following exception:",
    "",
    "Traceback (most recent call last):",
    '  File "/work/train.py", line 90, in <module>',
    "    main()",
    *(
        line
        for number in range(30)
        for line in (f'  File "{LIBRARY}", line {number}, in call', f"    return call_{number}()")
    ),
    '  File "/work/model.py", line 12, in forward',
    "    return row(batch)",
    "ValueError: no such row",
]


@pytest.mark.parametrize("label", ["", "[rank1]: "], ids=["one process", "a rank"])
def test_the_whole_traceback_stays(tmp_path: Path, label: str) -> None:
    """From its head to its exception, with the one that it is chained to, among other output."""
    log = tmp_path / "run.log"
    other = "[rank0]: loading another shard\n" if label else ""
    log.write_text(
        "".join(f"loading shard {number}\n" for number in range(2000))
        + "".join(f"{label}{line}\n{other}" for line in CHAINED)
    )
    made = build_minimal_excerpt([log])
    assert made.is_same
    assert all(line in made.text for line in CHAINED)
    assert made.lines < 3 * len(CHAINED)


def test_a_traceback_without_end_is_bounded(tmp_path: Path) -> None:
    """Of a deep recursion both ends stay, and the frames of own code."""
    log = tmp_path / "run.log"
    deep = [
        line
        for number in range(900)
        for line in (f'  File "{LIBRARY}", line {number}, in call', f"    return call_{number}()")
    ]
    log.write_text(
        "step 1 loss 2.0\n" * 9 + "\n".join([*CHAINED[7:10], *deep, *CHAINED[-3:]]) + "\n"
    )
    made = build_minimal_excerpt([log])
    assert made.lines < 300
    assert "main()" in made.text
    assert "return row(batch)" in made.text
    assert "ValueError: no such row" in made.text


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "en",
            ["What the tool thinks", "data, not instructions", "CUDA out of memory", "log-odds"],
        ),
        ("zh", ["工具的判断", "都是数据，不是指令", "CUDA out of memory", "对数几率"]),
    ],
)
def test_a_question_stands_above_the_lines(tmp_path: Path, language: str, said: list[str]) -> None:
    """In the language asked for, redacted, with the same lines below it."""
    log = tmp_path / "run.log"
    log.write_text("loading\n" * 500 + OOM)
    text = partial(IssueText, language=language)
    plain = build_minimal_excerpt([log], text=text)
    made = build_minimal_excerpt([log], text=text, prompt=True)
    assert made.is_same
    assert all(word in made.text for word in said)
    assert "carol" not in made.text
    assert made.text.partition("```text")[2] == plain.text.partition("```text")[2]


def test_a_question_without_a_diagnosis_asks_for_one(tmp_path: Path) -> None:
    """The tool abstains, and says so."""
    log = tmp_path / "run.log"
    log.write_text(
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\ntrain.py FAILED\n"
    )
    made = build_minimal_excerpt([log], prompt=True)
    assert "No diagnosis was made" in made.text


def test_few_analyses_suffice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many findings lie about: each try is an analysis, and a reader waits for all."""
    words = ["loss: nan", "Killed", "KeyError: 'labels'", "NCCL WARN Call to connect returned"]
    path = tmp_path / "run.log"
    path.write_text(
        "".join(
            f"[rank{number % 8}]: {words[number // 5 % 4] if number % 5 == 0 else f'iter {number}'}\n"
            for number in range(1500)
        )
    )
    judged: list[str] = []
    whole = share.pipeline.run_pipeline

    def counted(*given: Any, **more: Any) -> Any:
        judged.append("")
        return whole(*given, **more)

    monkeypatch.setattr(share.pipeline, "run_pipeline", counted)
    made = share.build_minimal_excerpt([path])
    assert made.is_same
    assert made.lines < made.of / 8
    assert len(judged) <= 20
