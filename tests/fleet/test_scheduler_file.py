"""Files of schedulers, in the forms that Slurm and others write them."""

import csv
import io
import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postmortem.core.errors import InputError
from postmortem.fleet.scheduler.allocations import (
    Allocation,
    SchedulerRecords,
    build_allocation,
    convert_to_values,
)
from postmortem.fleet.scheduler.scheduler_file import read_allocations
from postmortem.fleet.scheduler.scheduler_records import COLUMNS

SHANGHAI = ZoneInfo("Asia/Shanghai")
NEW_YORK = ZoneInfo("America/New_York")


def utc(text: str) -> float:
    """Seconds of a date and time in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()


def read(folder: Path, text: str, zone: Any = timezone.utc) -> SchedulerRecords:
    """What a file with this text holds."""
    path = folder / "jobs"
    path.write_text(text, encoding="utf-8")
    return read_allocations(path, zone=zone)


def told(value: int | None, *, infinite: bool = False) -> dict[str, object]:
    """A number as newer versions write it."""
    return {"set": value is not None, "infinite": infinite, "number": value or 0}


def gres(**counts: int) -> dict[str, Any]:
    """Trackable resources; `gpu_h100` is the typed `gpu:h100`."""
    kinds = [(name.replace("_", ":"), count) for name, count in counts.items()]
    return {"allocated": [{"type": "gres", "name": kind, "count": count} for kind, count in kinds]}


def slurm(**changed: Any) -> dict[str, Any]:
    """A record of `sacct --json`, without what nobody reads."""
    return {
        "job_id": 4711,
        "array": {"job_id": 0, "task_id": told(None), "task": ""},
        "het": {"job_id": 0, "job_offset": told(None)},
        "cluster": "big",
        "user": "ann",
        "name": "pretrain",
        "nodes": "node[01-02]",
        "container": "",
        "time": {"elapsed": 7200, "start": 1767225600, "end": 1767232800, "limit": told(60)},
        "exit_code": {
            "status": ["FAILED"],
            "return_code": told(1),
            "signal": {"id": told(None), "name": ""},
        },
        "state": {"current": ["FAILED"], "reason": "NonZeroExitCode"},
        "tres": gres(gpu=16),
        "steps": [],
    } | changed


EXPECTED = Allocation(
    "4711",
    cluster="big",
    user="ann",
    nodes=("node01", "node02"),
    gpus=16,
    start=1767225600.0,
    end=1767232800.0,
    elapsed=7200.0,
    state="FAILED",
    exit="1:0",
    name="pretrain",
)
OLDER = {
    "array": {"job_id": 0, "task_id": None, "task": None},
    "het": {"job_id": 0, "job_offset": None},
    "container": None,
    "exit_code": {"status": "ERROR", "return_code": 1},
    "state": {"current": "FAILED", "reason": "None"},
}
TIMES_AS_RECORDS = {"elapsed": 7200, "start": told(1767225600), "end": told(1767232800)}


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({}, id="v0.0.40"),
        pytest.param(OLDER, id="v0.0.37 and v0.0.39"),
        pytest.param({"restart_cnt": 0, "submit_line": "sbatch a.sh", "stdout": ""}, id="v0.0.42"),
        pytest.param({"time": TIMES_AS_RECORDS}, id="times as records"),
        pytest.param({"tres": gres(gpu=16, gpu_h100=16)}, id="typed GPUs are not counted twice"),
        pytest.param({"tres": gres(gpu_h100=12, gpu_a100=4)}, id="typed GPUs alone"),
    ],
)
def test_slurm_in_json(tmp_path: Path, changed: dict[str, Any]) -> None:
    """Whatever the version of the data parser, a job is the same."""
    records = read(tmp_path, json.dumps({"jobs": [slurm(**changed)], "meta": {}, "errors": []}))
    assert records == SchedulerRecords("slurm-json", (EXPECTED,))


def ended(code: object, signal: object) -> dict[str, Any]:
    """An exit code with a signal."""
    return {"exit_code": {"return_code": code, "signal": signal}}


TASK = {"array": {"job_id": 4700, "task_id": told(3)}}
NO_TIMES = {"time": {"elapsed": 0, "start": 0, "end": 0}}
RUNS_ON = {"time": {"elapsed": 60, "start": 5, "end": told(0, infinite=True)}}
SUBMITTED = {"submit_line": "srun --container-image=nvcr.io/torch:25.01 a"}
LOG = {"stdout": "/logs/%x-%A_%a-%j-%u-%%.out", **TASK}
FILLED = {"stdout": "/l/%4t-%j.out", "stdout_expanded": "/l/0-4711.out"}


@pytest.mark.parametrize(
    ("changed", "field", "value"),
    [
        pytest.param(TASK, "scheduler_id", "4700_3", id="array"),
        pytest.param({"array": {"job_id": 4700, "task_id": 0}}, "aliases", ("4711",), id="raw id"),
        pytest.param({"restart_cnt": 2}, "attempt", 3, id="requeued twice"),
        pytest.param({"nodes": "None assigned"}, "nodes", (), id="never started"),
        pytest.param(NO_TIMES, "start", None, id="no times"),
        pytest.param(NO_TIMES, "gpu_hours", None, id="no hours"),
        pytest.param(RUNS_ON, "end", None, id="runs on"),
        pytest.param({"tres": {"allocated": []}}, "gpus", None, id="GPUs not told"),
        pytest.param({"tres": gres(nic=4)}, "gpus", 0, id="no GPUs"),
        pytest.param({"state": {"current": ["CANCELLED"]}}, "state", "CANCELLED", id="cancelled"),
        pytest.param(ended(told(None), {"id": told(9)}), "exit", "0:9", id="signal"),
        pytest.param(
            ended(0, {"signal_id": 15, "name": "TERM"}), "exit", "0:15", id="older signal"
        ),
        pytest.param({"container": "/oci/torch"}, "image", "/oci/torch", id="container"),
        pytest.param(SUBMITTED, "image", "nvcr.io/torch:25.01", id="image of the command"),
        pytest.param(LOG, "log", "/logs/pretrain-4700_3-4711-ann-%.out", id="path of the log"),
        pytest.param(FILLED, "log", "/l/0-4711.out", id="path filled by Slurm"),
    ],
)
def test_a_field_of_slurm(
    tmp_path: Path, changed: dict[str, Any], field: str, value: object
) -> None:
    """What each field becomes."""
    records = read(tmp_path, json.dumps({"jobs": [slurm(**changed)]}))
    assert [getattr(one, field) for one in records.allocations] == [value]


def test_a_live_view_of_the_queue_is_read_too(tmp_path: Path) -> None:
    """`squeue --json` and the REST service name the same things otherwise."""
    job = {
        "job_id": 9,
        "array_job_id": told(0),
        "array_task_id": told(None),
        "user_name": "bob",
        "job_state": ["RUNNING"],
        "nodes": "n1",
        "start_time": told(1767225600),
        "end_time": told(1767312000),
        "tres_alloc_str": "cpu=8,mem=64G,node=1,gres/gpu=4",
        "restart_cnt": 1,
    }
    [one] = read(tmp_path, json.dumps({"jobs": [job]})).allocations
    assert (one.user, one.state, one.gpus, one.attempt) == ("bob", "RUNNING", 4, 2)


def test_a_bad_record_is_told_and_the_rest_is_used(tmp_path: Path) -> None:
    """With its place and the reason."""
    jobs = [slurm(), {"user": "x"}, 7, slurm(job_id=2, nodes="n[1-"), slurm(job_id=3, time=[1])]
    records = read(tmp_path, json.dumps({"jobs": jobs}))
    assert [one.scheduler_id for one in records.allocations] == ["4711"]
    assert [row.where for row in records.bad] == ["jobs[1]", "jobs[2]", "jobs[3]", "jobs[4]"]
    assert "brackets do not match" in records.bad[2].why.text("en")


TABLE = """\
JobID|JobIDRaw|JobName|User|Cluster|NodeList|AllocTRES|Start|End|ElapsedRaw|State|ExitCode|NCPUS
100|100|sft|ann|big|node[1-2]|billing=8,cpu=8,gres/gpu=8,node=2|2026-01-02T08:00:00|2026-01-02T09:00:00|3600|NODE_FAIL|0:0|8
100.batch|100.batch|batch||big|node1|cpu=8,gres/gpu=4,node=1|2026-01-02T08:00:00|2026-01-02T09:00:00|3600|CANCELLED|0:15|8
100.0|100.0|python||big|node[1-2]|cpu=8,gres/gpu=8,node=2|2026-01-02T08:00:00|2026-01-02T09:00:00|3600|FAILED|1:0|8
100|100|sft|ann|big|node[3-4]|billing=8,cpu=8,gres/gpu=8,node=2|2026-01-02T10:00:00|2026-01-02T11:00:00|3600|COMPLETED|0:0|8
101_7|108|sweep|bob|big|gpu9|cpu=4,gres/gpu:a100=4|2026-01-02T10:00:00|Unknown|90|RUNNING|0:0|4
102|102|idle|bob|big|None assigned||Unknown|Unknown|0|CANCELLED by 1000|0:0|0
"""


@pytest.mark.parametrize("tail", ["", "|"], ids=["-P", "-p"])
def test_a_table_of_slurm(tmp_path: Path, tail: str) -> None:
    """Steps go into their jobs, requeues become attempts, times are those of the cluster's zone."""
    text = "".join(line + tail + "\n" for line in TABLE.splitlines())
    records = read(tmp_path, text, SHANGHAI)
    assert (records.kind, records.bad) == ("slurm-table", ())
    first, second, third, fourth = records.allocations
    assert (first.scheduler_id, first.attempt, first.state) == ("100", 1, "NODE_FAIL")
    assert (first.start, first.gpus, first.name) == (utc("2026-01-02"), 8, "sft")
    assert (second.attempt, second.nodes) == (2, ("node3", "node4"))
    assert (third.scheduler_id, third.aliases, third.gpus) == ("101_7", ("108",), 4)
    assert (third.end, third.gpu_hours) == (None, 0.1)
    assert (fourth.state, fourth.nodes, fourth.gpu_hours) == ("CANCELLED", (), None)


def test_a_table_of_nothing_but_steps(tmp_path: Path) -> None:
    """The steps of a job that has no row are that job."""
    lines = TABLE.splitlines()
    [one] = read(tmp_path, "\n".join([lines[0], lines[2], lines[3]])).allocations
    assert (one.scheduler_id, one.nodes, one.gpus) == ("100", ("node1", "node2"), 8)
    assert (one.name, one.attempt) == ("", 1)


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    """Nor does a row that stands twice, nor a header in between."""
    head, *rows = TABLE.splitlines()
    whole = read(tmp_path, TABLE)
    assert read(tmp_path, "\n".join([head, *rows[::-1], head, *rows])) == whole


def test_a_command_with_pipes_of_its_own(tmp_path: Path) -> None:
    """In the last column it loses nothing; in the middle it is a bad row."""
    file = tmp_path / "sacct.txt"
    head, row = "JobID|User|State|End", "7|ann|FAILED|2026-01-02T03:04:05"
    command = "sbatch --wrap 'python a.py || python b.py | tee log'"
    file.write_text(f"{head}|SubmitLine\n{row}|{command}\n", encoding="utf-8")
    found = read_allocations(file, zone=timezone.utc)
    assert [(one.user, one.state) for one in found.allocations] == [("ann", "FAILED")]
    assert found.bad == ()
    file.write_text(f"SubmitLine|{head}\n{command}|{row}\n", encoding="utf-8")
    assert len(read_allocations(file, zone=timezone.utc).bad) == 1


def test_parts_of_a_heterogeneous_job_are_one(tmp_path: Path) -> None:
    """On all nodes, with all GPUs; the state is that of the part that failed."""
    rows = (
        "JobID|JobIDRaw|NodeList|AllocTRES|Start|End|State\n"
        "7+0|7|a[1-2]|gres/gpu=16|2026-01-01T00:00:00|2026-01-01T01:00:00|COMPLETED\n"
        "7+1|8|b1|gres/gpu=2|2026-01-01T00:00:00|2026-01-01T01:00:00|FAILED\n"
    )
    [one] = read(tmp_path, rows).allocations
    assert (one.scheduler_id, one.nodes, one.state) == ("7", ("a1", "a2", "b1"), "FAILED")
    assert (one.gpus, one.gpu_hours) == (18, 18.0)
    assert {"7+0", "7+1", "8"} <= {*one.aliases}


FALL = "2026-11-01T01:30:00"
"""In the night in which New York's clocks go back."""


@pytest.mark.parametrize(
    ("zone", "start", "seconds"),
    [
        pytest.param(timezone.utc, FALL, utc(FALL), id="UTC"),
        pytest.param(SHANGHAI, FALL, utc("2026-10-31T17:30"), id="Shanghai"),
        pytest.param(NEW_YORK, FALL, utc("2026-11-01T05:30"), id="twice, the first"),
        pytest.param(NEW_YORK, FALL + "Z", utc(FALL), id="its own zone"),
        pytest.param(SHANGHAI, FALL + "+02:00", utc("2026-10-31T23:30"), id="an offset"),
        pytest.param(SHANGHAI, "1767225600", 1767225600.0, id="seconds"),
        pytest.param(SHANGHAI, "1767225600123", 1767225600.123, id="milliseconds"),
        pytest.param(SHANGHAI, "2026/11/01 01:30", utc("2026-10-31T17:30"), id="slashes"),
    ],
)
def test_a_time(tmp_path: Path, zone: Any, start: str, seconds: float) -> None:
    """In UTC, by the zone that is told, else by that of the cluster."""
    [one] = read(tmp_path, f"job,start,user\n1,{start},ann\n", zone).allocations
    assert one.start == seconds


def test_the_hour_that_comes_twice_does_not_turn_time_back(tmp_path: Path) -> None:
    """A job from 01:50 to 01:10 on the night the clocks go back ran 20 minutes."""
    text = "job,start,end\n1,2026-11-01T01:50:00,2026-11-01T01:10:00\n"
    [one] = read(tmp_path, text, NEW_YORK).allocations
    assert one.seconds == 20 * 60


def test_an_end_before_the_start_gives_no_hours(tmp_path: Path) -> None:
    """A wrong clock is not a job of no length."""
    [one] = read(tmp_path, "job,gpus,start,end\n1,8,2026-01-02,2026-01-01\n").allocations
    assert (one.gpus, one.gpu_hours) == (8, None)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "job,user,nodes,gpus,end,state,image,attempt,name\n"
            'j-1,ann,"n[1-2]",8,1767225600,Failed,img:1,2,sft\n',
            id="CSV",
        ),
        pytest.param(
            "# from the portal\n"
            "Job ID;Owner;Hosts;Num GPUs;Started At;Ended At;Status;Container Image;Attempt;Job Name\n"
            "j-1;ann;n1,n2;8;;2026-01-01T00:00:00Z;failed;img:1;2;sft\n",
            id="other names, a note above",
        ),
        pytest.param(
            "job\tuser\tnodes\tgpus\tend\tstate\timage\tattempt\tname\n"
            "j-1\tann\tn1 n2\ta100:8\t1767225600\tERROR\timg:1\t2\tsft\n",
            id="tabs",
        ),
        pytest.param(
            '{"job": "j-1", "user": "ann", "nodes": ["n1", "n2"], "gpus": 8, "end": 1767225600,'
            ' "state": "failed", "image": "img:1", "attempt": 2, "name": "sft"}\n',
            id="JSON lines",
        ),
        pytest.param(
            '[\n{"id": "j-1", "username": "ann", "hosts": "n[1-2]", "gpu_count": 8, "restarts": 1,'
            ' "finished": "2026-01-01T00:00:00Z", "state": "failed", "image": "img:1",'
            ' "job_name": "sft"}\n]',
            id="JSON",
        ),
    ],
)
def test_another_scheduler(tmp_path: Path, text: str) -> None:
    """A table or records of any scheduler, by the names of the columns."""
    records = read(tmp_path, text)
    expected = Allocation(
        "j-1",
        attempt=2,
        user="ann",
        nodes=("n1", "n2"),
        gpus=8,
        end=1767225600.0,
        state="FAILED",
        image="img:1",
        name="sft",
    )
    assert (records.allocations, records.bad) == ((expected,), ())


def test_a_number_of_nodes_names_none(tmp_path: Path) -> None:
    """A column that counts nodes is not taken for a host called 4."""
    [one] = read(tmp_path, "job,nodes,exit\n1,4,0\n").allocations
    assert (one.nodes, one.state) == ((), "COMPLETED")


def test_bad_rows_of_a_table_are_told_by_line(tmp_path: Path) -> None:
    """Too few cells, times, counts and lists that are none, no id."""
    text = 'job,start,gpus,nodes\n1,,2,n1\n2,x\n3,soon,,\n4,,-1,\n5,,many,\n6,,,"n[2-1]"\n,,1,\n'
    records = read(tmp_path, text)
    assert [one.scheduler_id for one in records.allocations] == ["1"]
    assert [row.where for row in records.bad] == [f"line {number}" for number in range(3, 9)]
    assert all(row.why.text("en") != row.why.text("zh") for row in records.bad)


def test_a_bad_line_of_json_is_told(tmp_path: Path) -> None:
    """A line that was cut off loses nothing else."""
    records = read(tmp_path, '{"job": 1, "user": "ann"}\n{"job": 2, "us\n[]\n')
    assert [one.user for one in records.allocations] == ["ann"]
    assert [row.where for row in records.bad] == ["line 2", "line 3"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("\n\n", id="blank"),
        pytest.param("Epoch 1 loss 2.3\n", id="a log"),
        pytest.param("name,age\na,1\n", id="another table"),
        pytest.param('{"a": 1}', id="another JSON"),
        pytest.param("[1, 2]", id="numbers"),
        pytest.param('{"jobs": 3}', id="no list"),
        pytest.param('{"jobs": [', id="cut off"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param("4711|sft|COMPLETED|\n", id="no header"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    """With what to give instead."""
    with pytest.raises(InputError, match="sacct"):
        read(tmp_path, text)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["set", "number", "id", "count", "name"]), inner)
    ),
    max_leaves=6,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(slurm())), VALUES)
def test_no_value_of_slurm_makes_more_than_a_bad_row(tmp_path: Path, key: str, value: Any) -> None:
    """Whatever stands under a key, the job is used or told of, and the next one is used."""
    records = read(tmp_path, json.dumps({"jobs": [slurm(**{key: value}), slurm(job_id=987654321)]}))
    assert "987654321" in {one.scheduler_id for one in records.allocations}
    assert len(records.allocations) + len(records.bad) == 2


COLUMN_NAMES = st.sampled_from([names[0] for names in COLUMNS.values()])


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(COLUMN_NAMES, VALUES | st.text(max_size=30)))
def test_no_value_of_another_scheduler_makes_more_than_a_bad_row(
    tmp_path: Path, row: dict[str, Any]
) -> None:
    """As JSON lines and as a table."""
    rows = [{"job": "first", "user": "ann"}, row]
    text = "".join(json.dumps(one) + "\n" for one in rows)
    records = read(tmp_path, text)
    assert len(records.allocations) + len(records.bad) == 2
    stream = io.StringIO()
    table = csv.DictWriter(stream, fieldnames=[names[0] for names in COLUMNS.values()])
    table.writeheader()
    table.writerows([{"jobid": "first", "user": "ann"}, row])
    records = read(tmp_path, stream.getvalue())
    assert "first" in {one.scheduler_id for one in records.allocations}


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """By its path."""
    with pytest.raises(InputError, match="none"):
        read_allocations(tmp_path / "none")


def test_an_allocation_can_be_kept_as_json() -> None:
    """And comes back the same."""
    assert build_allocation(json.loads(json.dumps(convert_to_values(EXPECTED)))) == EXPECTED
