"""torchelastic's table of failures, whole or cut before the failure that came first."""

from postmortem.api import Report, analyze

HEAD = """\
step 100: loss 2.1 lr 0.0001
step 200: loss 1.9 lr 0.0001
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
"""
ROOT = """\
------------------------------------------------------------
Root Cause (first observed failure):
"""


def entry(number: int, rank: int, code: int, signal: str = "") -> str:
    """An entry of the table."""
    told = f"Signal {-code} ({signal}) received by PID 41{rank}" if signal else "To enable see"
    return (
        f"[{number}]:\n  time      : 2024-05-01_10:10:29\n  host      : node07\n"
        f"  rank      : {rank} (local_rank: {rank % 4})\n  exitcode  : {code} (pid: 41{rank})\n"
        f"  error_file: <N/A>\n  traceback : {told}\n"
    )


def of(*parts: str) -> Report:
    """The analysis of a table of these parts."""
    return analyze((HEAD + "".join(parts)).encode())


STOPPED = entry(1, 5, -15, "SIGTERM")
KILLED = entry(2, 6, -9, "SIGKILL")


def test_siblings_that_were_stopped_are_no_signal_from_outside() -> None:
    """A worker had ended by itself: whole or cut, the table does not say why."""
    for table in ([STOPPED, entry(2, 6, 1)], [STOPPED, ROOT, entry(0, 7, 1)]):
        analysis = of(*table)
        assert analysis.verdict.cause is None
        assert analysis.causes[0].id == "unknown.no-cause-shown"


def test_where_all_were_stopped_the_signal_came_from_outside() -> None:
    """Nobody had ended by itself."""
    analysis = of(STOPPED, ROOT, entry(0, 7, -15, "SIGTERM"))
    assert analysis.causes[0].id == "scheduler.terminated"


def test_a_killed_process_is_no_proof_where_the_first_failure_is_cut_off() -> None:
    """The launcher kills those that do not stop."""
    cut, whole = of(STOPPED, KILLED), of(STOPPED, ROOT, entry(0, 6, -9, "SIGKILL"))
    assert whole.verdict.cause == "memory.host-oom"
    assert cut.verdict.status in {"hypothesis", "unknown"}
    assert cut.causes[0].probability < 0.5 < whole.causes[0].probability


def test_the_process_of_an_entry_is_named() -> None:
    """By its ranks, also where records of others stand in the same file."""
    first = of(STOPPED, KILLED).to_dict()["first_failure"]
    assert (first["where"]["rank"], first["where"]["local_rank"]) == (6, 2)
