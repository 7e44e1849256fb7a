"""Which rank the others wait for, by dumps of the flight recorder that were really written.

`tests/data/flight_recorder/collectives.tar.gz` holds what `sample_logs/lab/collectives/record.py`
recorded: a folder of dumps for each fault, and the ranks at fault in `faults.tsv`.
"""

import json
import os
import re
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

import postmortem
from postmortem.core.findings import NOWHERE, PendingWork, RankDump, RecordedGroup
from postmortem.diagnosis.detectors.observed import Anomaly, Observed
from postmortem.diagnosis.detectors.waiting_ranks import detect_waiting_ranks
from postmortem.diagnosis.fixes.figures import collect_captures
from postmortem.diagnosis.fixes.select import select_fixes
from postmortem.extraction.formats.binary_files import rank_of_dump, read_dump
from postmortem.rules.base import load
from tests.diagnosis.fixes.runs import case

DUMPS = Path(__file__).resolve().parents[2] / "data" / "flight_recorder" / "collectives.tar.gz"
FETCHED = "POSTMORTEM_FR_TRACES"
"""Names a folder that holds `tests/attribution/unit/fr_traces` of NVIDIA/nvidia-resiliency-ext."""
FAULTY = {
    "gpu_error_1st": "12, 14",
    "gpu_error_2nd": "9, 14",
    "lock_gil_1st": "9, 14",
    "lock_gil_2nd": "10, 15",
}
"""The ranks at fault, as the log of the injected faults beside the dumps has them."""
NOT_SHOWN = {"crash-before-barrier", "crash-of-last"}
"""Gloo ends all waits as soon as a peer is gone, and lists no members: the dumps do not tell."""


@pytest.fixture(scope="module", name="recorded")
def _recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, Path]]:
    """The ranks at fault and the folder of each recorded fault."""
    folder = tmp_path_factory.mktemp("dumps")
    with tarfile.open(DUMPS) as archive:
        archive.extractall(folder, filter="data")
    root = folder / "collectives"
    rows = (line.split("\t") for line in (root / "faults.tsv").read_text().splitlines())
    return {name: (ranks.replace(" ", ", "), root / name) for name, ranks in rows}


def found_in(folder: Path) -> list[Anomaly]:
    """What the dumps of a folder show."""
    dumps = [
        read_dump(path.read_bytes(), rank)
        for path in sorted(folder.iterdir())
        if (rank := rank_of_dump(str(path))) is not None
    ]
    return list(detect_waiting_ranks(Observed(rank_dumps=dumps)))


def names_exactly(anomaly: Anomaly, ranks: str) -> bool:
    """Say whether an anomaly names these ranks, and stands at the first of them."""
    text = anomaly.message.text("en")
    parts = {
        "rank-absent-from-collective": f"wait for rank {ranks}: nothing enqueued",
        "rank-stuck-in-collective": f"wait for rank {ranks}: it stands",
        "ranks-differ": f", rank {ranks} in ",
        "ranks-wait-in-circle": f"rank {ranks} w",
    }
    return parts[anomaly.id] in text and anomaly.where.rank == int(ranks.split(",", maxsplit=1)[0])


def test_the_ranks_at_fault_are_named(recorded: dict[str, tuple[str, Path]]) -> None:
    """Stuck, late, gone on, in another operation: of 22 recorded faults 20 are told exactly."""
    missed = {
        name
        for name, (ranks, folder) in recorded.items()
        if not any(names_exactly(one, ranks) for one in found_in(folder))
    }
    assert missed == NOT_SHOWN
    assert len(recorded) == 22


@pytest.mark.parametrize("name", FAULTY)
def test_the_ranks_at_fault_of_megatron_jobs(name: str) -> None:
    """Sixteen ranks in tensor, pipeline, data and expert groups, dumped by NCCL's time-out."""
    if not (place := os.environ.get(FETCHED)):
        pytest.skip(f"{FETCHED} names no folder with the dumps of nvidia-resiliency-ext")
    (found,) = found_in(Path(place) / name)
    assert names_exactly(found, FAULTY[name])


@pytest.mark.parametrize(
    ("name", "fixes", "rank", "call"),
    [
        ("stuck-deep-in", ("awaited-rank-stack", "awaited-rank-branch"), "6", "gloo:all_reduce"),
        ("three-stuck", ("awaited-rank-stack", "awaited-rank-branch"), "0,4,8", "gloo:"),
        ("other-order", ("circle-order", "one-group-order"), "0", "group 3"),
        ("skips-one", ("circle-order", "one-group-order"), "2", "default_pg"),
        ("other-size", ("differing-branch", "same-collectives"), "3", ""),
    ],
)
def test_the_first_fixes_name_the_rank_and_its_call(
    recorded: dict[str, tuple[str, Path]], name: str, fixes: tuple[str, ...], rank: str, call: str
) -> None:
    """In both languages, and none asks for the dumps that are there."""
    for language in ("en", "zh"):
        report = postmortem.analyze(recorded[name][1]).in_language(language)
        found = report.to_dict()["causes"][0]["fixes"]
        assert tuple(fix["id"].removeprefix("distributed.") for fix in found[:2]) == fixes
        text = f"{found[0]['title']} {found[0]['why']} {found[1]['title']} {found[1]['why']}"
        assert f"rank {rank}" in text
        assert language == "zh" or call in text
        assert "${" not in text
        assert "RANK)=" not in text


def test_a_stuck_rank_is_met_by_its_device() -> None:
    """Its code came to the right place, unlike that of a rank that never came."""
    dumps = [dump(0, 3, work(4), ranks=(0, 1, 2)), *(dump(rank, 4, work(5)) for rank in (1, 2))]
    (found,) = detect_waiting_ranks(Observed(rank_dumps=dumps))
    run = replace(case(), anomalies={found.id: found})
    extra = collect_captures((), run)
    told = select_fixes("distributed.nccl-timeout", run, load(), extra=extra)
    assert [fix.id for fix in told[:2]] == [
        "distributed.stuck-rank-device",
        "distributed.stuck-rank-machine",
    ]
    assert told[0].title.en.endswith("stack of rank 0 first")
    assert "nccl:all_reduce of group tp" in told[0].why.en
    assert "RANK|SLURM_PROCID)=0'" in told[0].snippet.en


def test_without_dumps_no_rank_is_named() -> None:
    """Neither the fixes of one that does not come nor those of a circle are given."""
    own = re.compile(r"\.(awaited|stuck|circle|one-group|differing)")
    for cause in ("distributed.rank-desync", "distributed.nccl-timeout", "hang.stalled"):
        told = [fix.id for fix in select_fixes(cause, case(), load())]
        assert not any(map(own.search, told))
        assert "distributed.flight-recorder" in told


def test_what_would_decide_is_the_stack_of_that_rank(
    recorded: dict[str, tuple[str, Path]],
) -> None:
    """And not the dumps, which are there."""
    need = postmortem.analyze(recorded["stuck-deep-in"][1]).to_dict()["verdict"]["need"]
    assert "the stack of rank 6 " in need[0]["what"]
    assert not any("TRACE_BUFFER" in one["command"] for one in need)


def test_a_point_to_point_operation_is_named_without_its_ends() -> None:
    """What stands in a command has no arrow."""
    send = PendingWork("1", 1, "nccl:send 0->1", "", peer=1)
    dumps = [dump(0, 3, send, ranks=(0, 1)), dump(1, 3, ranks=(0, 1))]
    (found,) = detect_waiting_ranks(Observed(rank_dumps=dumps))
    assert (found.captures["operation"], found.captures["group"]) == ("nccl:send", "tp")


def test_the_report_names_the_rank(recorded: dict[str, tuple[str, Path]]) -> None:
    """From dumps alone: the run stood still, and whose turn it was."""
    told = postmortem.analyze(recorded["stuck-deep-in"][1]).to_dict()
    assert told["outcome"] == "stalled"
    assert told["first_failure"]["where"]["rank"] == 6


def dump(rank: int, completed: int, *pending: PendingWork, ranks: tuple[int, ...] = ()) -> RankDump:
    """A dump of one group."""
    group = RecordedGroup("1", "tp", ranks, completed + len(pending), completed, "")
    return RankDump(rank, rank, {"1": group}, pending)


def work(number: int, operation: str = "nccl:all_reduce", sizes: str = "[[4]]") -> PendingWork:
    """A pending collective."""
    return PendingWork("1", number, operation, sizes)


def test_a_member_without_a_dump_is_named_as_such() -> None:
    """It alone is waited for; of several none is singled out."""
    dumps = [dump(rank, 4, work(5), ranks=(0, 1, 2)) for rank in (0, 2)]
    (found,) = detect_waiting_ranks(Observed(rank_dumps=dumps))
    assert "no dump was handed in of rank 1:" in found.message.text("en")
    assert (found.id, found.where.rank) == ("rank-without-dump", 1)
    (found,) = detect_waiting_ranks(Observed(rank_dumps=dumps[:1]))
    assert "no dump was handed in of rank 1, 2:" in found.message.text("en")
    assert found.where == NOWHERE


def test_a_member_without_a_dump_accuses_nobody_beside_a_proved_one() -> None:
    """A rank that never came, and a circle, explain the wait by themselves."""
    four = (0, 1, 2, 3)
    absent = [dump(0, 4, work(5), ranks=four), dump(1, 4, work(5), ranks=four), dump(2, 4)]
    (found,) = detect_waiting_ranks(Observed(rank_dumps=absent))
    assert (found.id, found.captures["ranks"]) == ("rank-absent-from-collective", "2")
    circle = []
    for rank, own in enumerate("12"):
        groups = {name: RecordedGroup(name, "", four, 4 + (name == own), 4, "") for name in "12"}
        circle.append(RankDump(rank, rank, groups, (PendingWork(own, 5, "nccl:all_reduce", ""),)))
    (found,) = detect_waiting_ranks(Observed(rank_dumps=circle))
    assert (found.id, found.captures["ranks"]) == ("ranks-wait-in-circle", "0,1")


def test_all_in_one_collective_accuse_nobody() -> None:
    """The network or the devices stand: the dumps do not tell whose."""
    dumps = [dump(rank, 4, work(5)) for rank in range(3)]
    (found,) = detect_waiting_ranks(Observed(rank_dumps=dumps))
    assert (found.id, found.where) == ("ranks-wait-alike", NOWHERE)
    assert "rank" not in found.captures


@pytest.mark.parametrize("handed_in", [4, 3, 1])
def test_dumps_that_accuse_nobody_are_reported(tmp_path: Path, handed_in: int) -> None:
    """Alone and without a log: the run stood, no cause is claimed, and what to collect is said."""
    for rank in range(handed_in):
        (tmp_path / f"nccl_trace_rank_{rank}.json").write_text(json.dumps(written(4, 5)))
    told = postmortem.analyze(tmp_path).to_dict()
    assert (told["outcome"], told["verdict"]["status"]) == ("stalled", "unknown")
    first, asked = told["first_failure"], told["verdict"]["need"][0]["what"]
    named = {4: (None, "the dumps of all ranks"), 3: (3, "of rank 3"), 1: (None, "of rank 1,2,3")}
    rank, what = named[handed_in]
    assert what in asked
    assert (first["where"]["rank"] if first else None) == rank


def written(completed: int, enqueued: int, world: int = 4) -> dict[str, object]:
    """A dump of the default group as torch writes it in JSON."""
    counts = {"last_enqueued_collective": enqueued, "last_completed_collective": completed}
    entry = {
        "process_group": ["0", "default_pg"], "collective_seq_id": enqueued, "pg_id": 0,
        "profiling_name": "nccl:all_reduce", "input_sizes": [[4]], "state": "started",
    }  # fmt: skip
    config = {"name": "0", "desc": "default_pg", "ranks": str([*range(world)])}
    return {"pg_config": {"0": config}, "pg_status": {"0": counts}, "entries": [entry]}


def test_sizes_may_differ_where_each_rank_has_its_own() -> None:
    """An all-to-all has uneven parts, a reduction has not."""
    uneven = [dump(rank, 4, work(5, "nccl:all_to_all", f"[[{rank}]]")) for rank in range(3)]
    (found,) = detect_waiting_ranks(Observed(rank_dumps=uneven))
    assert found.id == "ranks-wait-alike"
    odd = [dump(rank, 4, work(5, sizes="[[8]]" if rank == 1 else "[[4]]")) for rank in range(3)]
    (found,) = detect_waiting_ranks(Observed(rank_dumps=odd))
    assert (found.id, found.where.rank) == ("ranks-differ", 1)


def test_groups_of_one_name_are_told_apart_by_their_members() -> None:
    """Where each rank numbers its own groups, those of other members say nothing of this one."""
    dumps = [dump(rank, 4, work(5), ranks=(0, 1)) for rank in (0, 1)]
    dumps += [dump(2, 4, work(5), ranks=(2, 3)), dump(3, 4, ranks=(2, 3))]
    (found,) = detect_waiting_ranks(Observed(rank_dumps=dumps))
    assert (found.id, found.captures["ranks"]) == ("rank-absent-from-collective", "3")


def test_no_dump_says_nothing() -> None:
    """Nor does one whose rank waits for nothing."""
    assert list(detect_waiting_ranks(Observed())) == []
    assert list(detect_waiting_ranks(Observed(rank_dumps=[dump(0, 4)]))) == []
