"""Anchors that stand in ordinary lines are refused.

Those that stand where a run begins or ends, or where their rule finds something, are not.
"""

from pathlib import Path
from typing import Any

import pytest

from postmortem.core import resources
from postmortem.extraction import proof
from postmortem.rules.compile import compile_folders

ORDINARY = "2024-05-01 12:00:00,000 - trainer - INFO - step {step} loss 0.5 lr 1e-5\n"


def rule(anchor: str, match: str, **more: Any) -> dict[str, Any]:
    """A rule with an anchor."""
    return {"id": "an.example", "anchors": [anchor], "match": match, **more}


@pytest.mark.parametrize(
    ("found", "refused"),
    [
        pytest.param(rule("- trainer - ", "trainer failed"), 1, id="a logger's name"),
        pytest.param(rule(" loss ", "loss (?:exploded|is too high)"), 1, id="a metric's name"),
        pytest.param(rule(" loss ", r"loss [\d.]+"), 0, id="what each line is looked at for"),
        pytest.param(
            rule(" loss ", r"loss [\d.]+", unless="lr"),
            1,
            id="the same with an exception that always holds",
        ),
        pytest.param(
            rule("Loading checkpoint", "checkpoint is corrupt"), 0, id="a line of the beginning"
        ),
        pytest.param(
            rule("Saving at ", "Saving at nowhere"), 1, id="a line that comes a dozen times"
        ),
        pytest.param(
            rule("Saving at ", "Saving at nowhere", kind="metrics"),
            0,
            id="and may do so beside a program's own records",
        ),
        pytest.param(rule("CUDA out of memory", "CUDA out of memory"), 0, id="an error"),
    ],
)
def test_an_anchor_is_rare_in_healthy_logs(
    found: dict[str, Any], refused: int, tmp_path: Path
) -> None:
    """At most ten lines of a log, and one for each megabyte, are looked at in vain."""
    log = tmp_path / "healthy.log"
    log.write_text(
        "Loading checkpoint\n" * 3
        + "".join(
            ORDINARY.format(step=step) + ("Saving at step\n" if step % 5 == 0 else "")
            for step in range(60)
        ),
        encoding="utf-8",
    )
    told = list(proof.find_frequency_errors([found], [log]))
    assert len(told) == refused
    assert all("an.example" in str(fault) and "healthy.log" in str(fault) for fault in told)


def test_healthy_logs_are_those_whose_label_says_so(tmp_path: Path) -> None:
    """A log beside its label, and all files of a job's folder."""
    for name, cause in (
        ("good", "healthy.completed"),
        ("bad", "memory.cuda-oom"),
        ("job", "healthy.running"),
    ):
        (tmp_path / f"{name}.yaml").write_text(f"cause: {cause}\n", encoding="utf-8")
    for name in ("good.log", "bad.log", "job/rank0.log", "job/rank1.log"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n", encoding="utf-8")
    assert [str(path.relative_to(tmp_path)) for path in proof.list_healthy_logs(tmp_path)] == [
        "good.log",
        "job/rank0.log",
        "job/rank1.log",
    ]


def test_the_built_in_anchors_are_rare() -> None:
    """In every healthy sample."""
    compiled = compile_folders([resources.find_folder("patterns")])
    logs = proof.list_healthy_logs(resources.find_folder("sample_logs"))
    assert len(logs) > 40
    assert [
        str(fault)
        for fault in proof.find_frequency_errors(
            [*compiled["signatures"], *compiled["formats"]], logs
        )
    ] == []
