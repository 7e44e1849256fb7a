"""Labels are read as they are recorded; figures are those that a table of cases has."""

from pathlib import Path

import pytest

from postmortem.core.errors import InputError, UsageError
from postmortem.learn.evaluating import WAYS, JudgedCase, find_causes_by_grep, words
from postmortem.learn.labelled_logs import list_labelled_cases, record
from postmortem.learn.metrics import (
    compute_abstention_metrics,
    compute_metrics,
    compute_precision_coverage_curve,
    compute_reliability,
)
from postmortem.pipeline import get_matcher

KNOWN = {"io.storage", "config.rl"}


def tried(way: str, cause: str, verdict: str | None, probability: float) -> JudgedCase:
    """A case, and what was made of it."""
    first = verdict or "unknown.no-cause-shown"
    return JudgedCase(
        way,
        cause,
        frozenset({cause}),
        is_held_out=False,
        first=first,
        three=(first,),
        verdict=verdict,
        probability=probability,
    )


@pytest.mark.parametrize("is_copied", [True, False])
def test_a_correction_is_read_again(tmp_path: Path, *, is_copied: bool) -> None:
    """Beside a copy, or with a reference; labelled again, the last label stands."""
    log = tmp_path / "run.log"
    log.write_text("the walrus is asleep\n")
    for cause in ("config.rl", "io.storage"):
        record(log, cause, KNOWN, folder=tmp_path / "own", also=["config.rl"], is_copied=is_copied)
    (one,) = list_labelled_cases([tmp_path / "own"])
    assert (one.cause, {*one.right}) == ("io.storage", KNOWN)
    assert one.log.read_text() == "the walrus is asleep\n"
    assert (one.log == log) is not is_copied


def test_another_run_at_the_same_path_is_another_case(tmp_path: Path) -> None:
    """The log of the next run is often written over the last one's; its note is kept."""
    log, own = tmp_path / "run.log", tmp_path / "own"
    for text in ("the walrus is asleep\n", "the otter has left\n", "the otter has left\n"):
        log.write_text(text)
        label = record(log, "io.storage", KNOWN, folder=own, note="夜班说的")
    assert len(list_labelled_cases([own])) == 2
    assert "note: 夜班说的" in label.read_text(encoding="utf-8")


def test_an_unknown_cause_is_refused_with_the_nearest(tmp_path: Path) -> None:
    """A slip of the finger would otherwise be learnt."""
    log = tmp_path / "run.log"
    log.touch()
    with pytest.raises(UsageError, match=r"io\.storage"):
        record(log, "io.storag", KNOWN, folder=tmp_path / "own")
    assert not (tmp_path / "own").exists()


@pytest.mark.parametrize(
    ("label", "group"),
    [
        ("source: https://github.com/Ada/net/issues/7", "ada/net"),
        ("script: faults/a.py", "faults/a.py"),
        ("pair: p1", "cases/p1"),
        ("note: none", "cases/run"),
    ],
)
def test_cases_of_one_origin_share_a_group(tmp_path: Path, label: str, group: str) -> None:
    """So that none is judged by a model that has seen its twin."""
    folder = tmp_path / "cases"
    folder.mkdir()
    (folder / "run-3.log").touch()
    (folder / "run-3.yaml").write_text(f"cause: io.storage\npart: check\n{label}\n")
    (one,) = list_labelled_cases([folder])
    assert (one.group, one.is_held_out, one.is_decidable) == (group, True, True)


def test_a_folder_without_labels_is_refused(tmp_path: Path) -> None:
    """Rather than trained on in silence."""
    with pytest.raises(InputError, match="no labelled log"):
        list_labelled_cases([tmp_path])


def test_figures_of_a_small_table() -> None:
    """Two right, one wrong, one abstention."""
    rows = [
        tried("rules", "io.storage", "io.storage", 0.9),
        tried("rules", "io.storage", "io.storage", 0.7),
        tried("rules", "config.rl", "io.storage", 0.85),
        tried("rules", "config.rl", None, 0.3),
    ]
    found = compute_metrics(rows)
    assert (found["top1"], found["coverage"], found["confident_wrong"]) == (0.5, 0.75, 0.25)
    assert found["verdict_precision"] == pytest.approx(2 / 3)
    assert compute_precision_coverage_curve(rows)[0] == (0.9, 0.25, 1.0)
    assert found["coverage_at_precision_0.95"] == 0.25


def test_what_another_way_makes_of_abstentions() -> None:
    """Of the cases that have a cause."""
    rows = [
        tried("rules", "io.storage", None, 0.3),
        tried("both", "io.storage", "io.storage", 0.6),
        tried("rules", "unknown.no-cause-shown", None, 0.3),
        tried("both", "unknown.no-cause-shown", None, 0.3),
    ]
    assert compute_abstention_metrics(rows, "both") == {"cases": 1, "right": 1.0, "precision": 1.0}


@pytest.mark.parametrize(
    ("label", "told"),
    [
        pytest.param("cause: io.storag\n", r"did you mean io\.storage", id="a slip"),
        pytest.param("cause: io.storage\nalso: [nonsense]\n", "'nonsense'", id="a slip in also"),
        pytest.param("cause: [io.storage]\n", "the id of a cause", id="a list"),
        pytest.param("cause:\n", "the id of a cause", id="nothing"),
        pytest.param("cause: io.storage\nalso: config.rl\n", "a list of ids", id="no list"),
        pytest.param("cause: {io\n", "no YAML", id="no YAML"),
        pytest.param("cause: io.storage\nlog: gone.log\n", "is gone", id="no log"),
    ],
)
def test_a_bad_label_is_refused_with_its_path(tmp_path: Path, label: str, told: str) -> None:
    """Rather than learnt, or left out in silence."""
    (tmp_path / "run.log").touch()
    (tmp_path / "run.yaml").write_text(label)
    with pytest.raises(InputError, match=told) as refused:
        list_labelled_cases([tmp_path], KNOWN)
    assert str(tmp_path) in str(refused.value)


@pytest.mark.parametrize(
    ("label", "origin"),
    [
        ("source: https://github.com/Ada/net/issues/7", "public"),
        ("source: composed", "composed"),
        ("script: faults/a.py\ncomposed: true", "composed"),
        ("script: faults/a.py", "samples"),
        ("origin: night shift", "night shift"),
        ("note: none", "cases"),
    ],
)
def test_figures_are_parted_by_where_a_case_is_from(
    tmp_path: Path, label: str, origin: str
) -> None:
    """What the label says, else what its source is, else the folder."""
    folder = tmp_path / "cases"
    folder.mkdir()
    (folder / "run.log").touch()
    (folder / "run.yaml").write_text(f"cause: io.storage\n{label}\n")
    assert [one.origin for one in list_labelled_cases([folder])] == [origin]


@pytest.mark.parametrize(
    ("text", "causes"),
    [
        ("error: CUDA out of memory\n", ["memory.cuda-oom"]),
        ("loss is nan\nRuntimeError: NCCL error\n", ["distributed.nccl-network"]),
        ("NCCL timeout\nOSError: No space left\nall is well\n", ["io.disk-full"]),
        ("all is well\n", []),
    ],
)
def test_grep_reads_from_the_end(tmp_path: Path, text: str, causes: list[str]) -> None:
    """The last line with a known word is what it says."""
    log = tmp_path / "run.log"
    log.write_text(text)
    assert find_causes_by_grep(log)[:1] == causes


def test_the_table_of_words_names_causes_that_there_are() -> None:
    """Each of them; and every way has a name of its own."""
    assert {cause for _, cause in words()} <= {*get_matcher(()).knowledge.causes}
    assert next(iter(WAYS)) == "rules"


def test_reliability_sets_promise_beside_outcome() -> None:
    """A row for each tenth with cases; a way without probabilities has none."""
    rows = [
        tried("rules", "io.storage", "io.storage", 0.9),
        tried("rules", "config.rl", "io.storage", 0.92),
        tried("rules", "config.rl", "config.rl", 1.0),
    ]
    (one,) = compute_reliability(rows)
    assert (one["from"], one["cases"], one["right"]) == (0.9, 3, pytest.approx(2 / 3))
    bare = [row._replace(probability=None) for row in rows]
    assert (
        compute_reliability(bare),
        compute_metrics(bare)["ece"],
        compute_metrics(bare)["coverage"],
    ) == (
        [],
        None,
        1,
    )
