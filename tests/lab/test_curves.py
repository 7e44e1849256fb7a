"""The lab of curves: runs resume, repeat themselves, and their labels fit their logs."""

from pathlib import Path

import pytest
import yaml

torch = pytest.importorskip("torch")

from curves.faults import FAULTS, VARIANTS  # noqa: E402
from curves.judging_special import ALL_RULES  # noqa: E402
from curves.recording import Member, members, record_group  # noqa: E402
from curves.tasks import TASKS  # noqa: E402

from postmortem.rules.base import load  # noqa: E402

RUNS = [
    Member("table-mlp", "sound", 3),
    Member("table-mlp", "evaluation-of-old-weights", 3),
    Member("preference-rl", "nan-batch", 1),
]
# In the shared taxonomy, not yet among the program's causes.
NEWER = {
    "learning.data-order",
    "learning.forgetting",
    "learning.reward-drift",
    "learning.too-slow",
}
TIMES = {"data_time", "step_time", "throughput"}


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """As the command does."""
    torch.set_num_threads(1)


def record(out: Path) -> list[str]:
    """Run all of RUNS."""
    return [name for one in RUNS for name in record_group(one.task, one.seed, [one], out)]


def label(out: Path, run: Member) -> dict[str, object]:
    """A run's label."""
    return dict(yaml.safe_load((out / f"{run.id}.yaml").read_text(encoding="utf-8")))


def test_runs_are_resumed_and_repeat_themselves(tmp_path: Path) -> None:
    """What is there is skipped; a second folder gets the same labels, whatever the machine's speed."""
    first, second = tmp_path / "a", tmp_path / "b"
    assert record(first) == [one.id for one in RUNS]
    before = {path: path.read_bytes() for path in first.iterdir() if path.is_file()}
    assert record(first) == []
    assert {path: path.read_bytes() for path in first.iterdir() if path.is_file()} == before
    record(second)
    assert [label(first, one) for one in RUNS] == [label(second, one) for one in RUNS]
    for run in RUNS:
        logs = [
            (folder / f"{run.id}.log").read_text(encoding="utf-8").splitlines()
            for folder in (first, second)
        ]
        assert len(logs[0]) == len(logs[1])
        if not TIMES & set(label(first, run)["metrics"]):
            assert sum(a != b for a, b in zip(*logs, strict=True)) <= len(logs[0])


def test_a_label_fits_its_log(tmp_path: Path) -> None:
    """A visible NaN stands in the log; the sound run is healthy; the names of metrics are printed."""
    record(tmp_path)
    for run in RUNS:
        found = label(tmp_path, run)
        text = (tmp_path / f"{run.id}.log").read_text(encoding="utf-8")
        assert found["fault"] == (None if run.name == "sound" else run.name)
        assert all(name in text for name in found["metrics"].values())
        if run.name == "sound":
            assert found["answer"] in {"healthy.completed", "healthy.running"}
        if run.name == "nan-batch":
            assert found["visible"] == ("nan" in text.lower())


def test_every_fault_has_a_rule_and_its_causes_exist() -> None:
    """Causes are ids of the taxonomy; each fault and each variant has a task."""
    for fault in FAULTS:
        assert fault.rule in ALL_RULES
        assert {fault.cause, *fault.also, *filter(None, [fault.seen])} <= set(load().causes) | NEWER
        assert any(fault.applies(task) for task in TASKS.values())
    assert all(any(one.applies(task) for task in TASKS.values()) for one in VARIANTS)


def test_the_list_of_runs_begins_with_the_shorter_list() -> None:
    """Ids are unique, two fifths are sound at least, and a longer list goes on from the shorter."""
    runs = members(1200)
    assert runs[:300] == members(300)
    assert len({one.id for one in runs}) == len(runs)
    faults = {one.name for one in FAULTS}
    assert sum(one.name not in faults for one in runs) >= 0.4 * len(runs)
    assert faults <= {one.name for one in runs}
