"""What makes two failures the same: ids that hold from version to version, and what they rest on."""

import dataclasses
from pathlib import Path

import pytest

from postmortem.core.answer import Excerpt, Verdict
from postmortem.core.message import NOTHING
from postmortem.fleet.fingerprints import (
    FINGERPRINT_VERSION,
    LONGEST,
    FailureSummary,
    Fingerprint,
    build_template,
    compute_fingerprint,
    is_left_open,
    summarize_failure,
)
from postmortem.pipeline import run_pipeline

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"
PINNED = {
    "accelerate/healthy-loop-0.log": "g1-374675a1760f",
    "deepspeed/port-taken-0.log": "g1-c63a7166dd9f",
    "lightning/shape-mismatch-0.log": "g1-b2cd60de86e6",
    "pytorch/code-best-model-0.log": "p1-56f05c63-fa5d43fe",
    "pytorch/env-build-setup-0.log": "g1-c71bc9ba616a",
    "pytorch/scaler-collapse-0.log": "g1-2b1188612e4c",
    "pytorch/slurm-memory-0.log": "g1-85d8f354fa14",
    "pytorch/unknown-wrapper-0.log": "p1-592a9c68-30a332a5",
}
"""Ids of samples.

Where one changes though its verdict stays, groups of all stores do: raise FINGERPRINT_VERSION with it.
"""
OOM = FailureSummary(
    cause="memory.cuda-oom",
    rule="memory.cuda-oom.allocator",
    named=(),
    line="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
    template="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate # GiB",
    exception="OutOfMemoryError",
    frames=("forward (model.py)",),
)
ODD = dataclasses.replace(OOM, cause=None, rule="", exception="", frames=())


def told(name: str) -> Fingerprint:
    """The fingerprint of a sample."""
    return compute_fingerprint(summarize_failure(run_pipeline([str(SAMPLES / name)], model=None)))


@pytest.mark.parametrize("name", PINNED)
def test_ids_hold(name: str) -> None:
    """The same log has the same id in every version of the program with this version of ids."""
    assert FINGERPRINT_VERSION == 1
    assert told(name).id == PINNED[name]


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        ({"line": "another", "template": "another"}, True),
        ({"exception": "RuntimeError"}, True),
        ({"rule": "memory.cuda-oom.words"}, False),
        ({"frames": ("backward (model.py)",)}, False),
        ({"named": ("flash_attn",)}, False),
        ({"cause": "memory.host-oom"}, False),
    ],
)
def test_what_counts_where_the_cause_is_known(change: dict[str, str], *, is_same: bool) -> None:
    """Cause, rule, what it names, and own code; the wording does not."""
    other = dataclasses.replace(OOM, **change)
    assert (compute_fingerprint(other).id == compute_fingerprint(OOM).id) is is_same
    assert not compute_fingerprint(other).is_open


@pytest.mark.parametrize(
    ("change", "is_same", "is_of_one_scope"),
    [
        ({"line": "another"}, True, True),
        ({"template": "another"}, False, True),
        ({"exception": "KeyError"}, False, False),
        ({"frames": ("forward (model.py)",)}, False, False),
        ({"cause": "code.user-exception"}, False, False),
    ],
)
def test_what_counts_where_it_is_not(
    change: dict[str, str], *, is_same: bool, is_of_one_scope: bool
) -> None:
    """The wording, within a scope of cause, exception and own code."""
    one, other = compute_fingerprint(ODD), compute_fingerprint(dataclasses.replace(ODD, **change))
    assert one.is_open
    assert other.is_open
    assert (one.id == other.id) is is_same
    assert (one.id.split("-")[1] == other.id.split("-")[1]) is is_of_one_scope


def test_health_is_one_group_for_each_kind() -> None:
    """However the log says so."""
    ends = [
        dataclasses.replace(OOM, cause=cause, rule=rule)
        for cause in ("healthy.completed", "healthy.running")
        for rule in ("a", "b")
    ]
    assert len({compute_fingerprint(one).id for one in ends}) == 2
    assert not any(compute_fingerprint(one).is_open for one in ends)


def test_which_causes_say_too_little() -> None:
    """None, and those named for want of another; health is none of them."""
    assert is_left_open(None)
    assert is_left_open("code.user-exception")
    assert is_left_open("unknown.no-cause-shown")
    assert not is_left_open("healthy.running")
    assert not is_left_open("memory.cuda-oom")


@pytest.mark.parametrize(
    "lines",
    [
        (
            "open of /data/a7/part-3.bin failed after 12.5 s",
            "open of /mnt/x/part-19.bin failed after 3 s",
        ),
        ("peer 10.0.0.7:29400 is gone (0x7f3a10)", "peer 10.1.0.9:4100 is gone (0x55aa10)"),
        ("bad digest 3fa9c2d41b07aa55 at step 1,200", "bad digest 00c2d41b07aa55ff at step 7"),
        ("cannot read 'shard 3 of 8'", "cannot read 'shard 5 of 8'"),
        (
            "job f81d4fae-7dec-11d0-a765-00a0c91e6bf6 lost",
            "job 0000aaaa-7dec-11d0-a765-00a0c91e6bf6 lost",
        ),
        ("rank 3 of 8 has 12 keys", "rank 511 of 512 has 7 keys"),
        (
            "fit: 30%|███▎      | 3/10 [00:01<00:04, loss=nan]",
            "fit: 9%|▉   | 9/99 [01:01<09:04, loss=nan]",
        ),
    ],
)
def test_what_is_a_runs_own_is_taken_out(lines: tuple[str, str]) -> None:
    """Paths, times, addresses, hashes, ids, counts and quoted values."""
    one, other = map(build_template, lines)
    assert one == other
    assert "#" in one


def test_names_stay_in_a_template() -> None:
    """What the code is called, quoted or not; a machine that is known is none."""
    assert build_template("AttributeError: 'Net' has no 'head'") != build_template(
        "AttributeError: 'Net' has no 'tail'"
    )
    named = build_template("node alpha-b is down", frozenset({"alpha-b"}))
    assert named == build_template("node gamma is down", frozenset({"gamma", "alpha-b"}))


def test_a_line_without_end() -> None:
    """A hundred kilobytes in one line are cut before anything is looked for."""
    for line in (
        "x" * 100_000,
        "1" * 100_000,
        "/a" * 50_000,
        "'" * 100_000,
        "a" * 99_990 + " failed",
    ):
        assert len(build_template(line)) <= LONGEST


def test_a_long_line_of_a_log_has_a_summary(tmp_path: Path) -> None:
    """It is cut, and the job has a group."""
    log = tmp_path / "run.log"
    log.write_text("begin\nFrobnicationError: " + "shard " * 17_000 + "\n", encoding="utf-8")
    summary = summarize_failure(run_pipeline([str(log)], model=None))
    assert len(summary.line) <= LONGEST
    assert compute_fingerprint(summary).id


def test_an_unknown_failure_is_told_by_its_last_bad_line() -> None:
    """Where nothing was recognised: not by what the program prints behind it."""
    analysis = run_pipeline([str(SAMPLES / "accelerate/healthy-loop-0.log")], model=None)
    lines = ("[rank0]: fabric error on port 3", "cleaning up", "========", "")
    blank = dataclasses.replace(
        analysis,
        verdict=Verdict(None, 0.2, "unknown", NOTHING, "", ""),
        first_failure=None,
        signatures=(),
        excerpt=Excerpt(0, 1, lines),
    )
    assert summarize_failure(blank).template == "fabric error on port #"
    silent = dataclasses.replace(blank, excerpt=None)
    assert (
        summarize_failure(silent).line,
        compute_fingerprint(summarize_failure(silent)).is_open,
    ) == ("", True)


def test_the_place_in_the_code_and_what_a_rule_names() -> None:
    """The frame is function and file, without folders and line numbers; the name is a module's."""
    summary = summarize_failure(
        run_pipeline([str(SAMPLES / "lightning/shape-mismatch-0.log")], model=None)
    )
    assert summary.frames == ("forward (cifar.py)",)
    assert summary.exception == "RuntimeError"
    missing = summarize_failure(
        run_pipeline([str(SAMPLES / "pytorch/env-build-setup-0.log")], model=None)
    )
    assert missing.named == ("fastbeam",)
