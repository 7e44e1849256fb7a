"""The timeline of a job of many processes.

What they say alike is told once, the odd one out always.
"""

from pathlib import Path

import pytest

from postmortem.api import Report, analyze
from postmortem.report.about_run import list_attempts

OOM = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 5; 79.15 GiB total capacity; 76.20 GiB already allocated; 1.10 GiB free; 76.90 GiB reserved in total by PyTorch)"
TRACE = 'Traceback (most recent call last):\n  File "train.py", line 88, in <module>\n    loss.backward()\n'
WAITED = "[Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1234, OpType=ALLREDUCE, NumelIn=1000, NumelOut=1000, Timeout(ms)=1800000) ran for 1800012 milliseconds before timing out."


def record(rank: int, second: int) -> str:
    """Give a line of metrics."""
    return f"2024-03-01 10:00:{second:02d},{rank:03d} [Rank {rank}] INFO step {second * 10}/1000 loss: {5 - second / 20:.4f} lr: 1.0e-04"


def job(folder: Path, ranks: int, own: dict[int, str], stamp: str = "") -> Report:
    """Write a job of a file a rank, in which all but some wait in vain for those."""
    for rank in range(ranks):
        last = own.get(rank, stamp + WAITED.format(rank=rank))
        (folder / f"rank{rank}.log").write_text(
            "\n".join([*(record(rank, second) for second in range(20)), last]) + "\n",
            encoding="utf-8",
        )
    return analyze(folder)


@pytest.fixture(name="report", scope="module")
def _report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return job(tmp_path_factory.mktemp("job"), 64, {37: TRACE + OOM})


def test_the_odd_one_out_is_the_first_failure(report: Report) -> None:
    """A process that failed by itself comes before those that waited for it.

    Their watchdogs fire long after the last printed time.
    """
    first = report.diagnosis.first_failure
    assert first is not None
    assert (report.diagnosis.sources[first.source].path.rpartition("/")[2], first.line) == (
        "rank37.log",
        24,
    )
    assert report.verdict.cause == "memory.cuda-oom"
    assert {
        hit.role
        for hit in report.diagnosis.signatures
        if hit.id == "distributed.nccl-timeout.watchdog"
    } == {"consequence"}


def test_what_many_say_is_told_once(report: Report) -> None:
    """One entry for 63 processes, behind the failure; nothing is left out."""
    told = [(event.role, event.text) for event in report.diagnosis.timeline]
    assert [role for role, _ in told] == ["context", "context", "cause", "consequence"]
    assert told[2][1].startswith("first failure: torch.cuda.OutOfMemoryError")
    assert told[3][1].endswith("(63 processes)")
    assert report.diagnosis.events_left == 0


def test_the_meaning_stands_before_the_line(report: Report) -> None:
    """People read what a line means; the JSON keeps its fields."""
    last = report.diagnosis.timeline[-1]
    assert last.title == "A collective timed out (watchdog)"
    assert "<div>A collective timed out (watchdog)</div>" in report.render("html")
    assert "A collective timed out (watchdog): [Rank 0] Watchdog" in report.render(
        "markdown"
    ).replace("\n", " ")
    assert all("title" not in event for event in report.to_dict()["timeline"])


def test_a_failure_behind_the_time_out_did_not_cause_it(tmp_path: Path) -> None:
    """Where the watchdog's line has a time of its own, it decides."""
    late = "2024-03-01 11:00:00,000 [Rank 3] INFO shutting down\n" + TRACE + OOM
    report = job(tmp_path, 4, {3: late}, stamp="2024-03-01 10:31:00,000 ")
    first = report.diagnosis.first_failure
    assert first is not None
    assert "Watchdog" in first.why


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    """Beyond 60 entries the forms say how many there are."""
    lines = []
    for step in range(90):
        lines += [
            f"{{'loss': 1.5, 'learning_rate': 1e-05, 'epoch': {step / 10}}}",
            f"{{'eval_loss': {2 - step / 100}, 'epoch': {step / 10}}}",
        ]
    files = []
    for number in range(40):
        files.append(tmp_path / f"part{number}.log")
        files[-1].write_text(
            "\n".join([*lines, f"ValueError: part {number} " + "x" * number]) + "\n",
            encoding="utf-8",
        )
    report = analyze(files)
    assert len(report.diagnosis.timeline) == 60
    left = report.diagnosis.events_left
    assert left > 0
    assert f"{left} more events are left out" in report.render("html")
    assert f"{left} more events are left out" in report.render(full=True, width=200)


def test_a_line_is_told_once(tmp_path: Path) -> None:
    """A line that two rules know is one entry."""
    log = tmp_path / "train.log"
    log.write_text(
        "\n".join(
            [
                *(record(0, second) for second in range(20)),
                "E1121 02:16:59.970000 12355 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: -9) local_rank: 1 (pid: 12431) of binary: /opt/venv/bin/python",
            ]
        )
        + "\n",
        encoding="utf-8",
    )
    events = [event for event in analyze(log).diagnosis.timeline if event.line == 21]
    assert [event.role for event in events if event.text.endswith("/opt/venv/bin/python")] == [
        "cause"
    ]


def test_the_page_of_a_big_job_is_short(tmp_path: Path) -> None:
    """Files that have to do with the failure stand open, the others and the long lists are folded.

    Files of one run are no attempts; the folder stays what the user named.
    """
    folder = tmp_path / "job"
    folder.mkdir()
    report = job(
        folder,
        64,
        {
            37: TRACE + OOM,
            **{
                rank: f"RuntimeWarning: overflow encountered in exp, rank {rank}"
                for rank in range(3)
            },
        },
    )
    page = report.render("html", redact=False)
    body = (
        page[page.index('<article lang="en"') : page.index('<article lang="zh')]
        if '<article lang="en"' in page
        else page
    )
    assert body.count("<summary>52 more</summary>") >= 1
    assert 'id="en-attempts"' not in body
    assert f"postmortem share {folder}</code>" in body
    shown = body[body.index('id="en-excerpt"') :]
    shown = shown[: shown.index("</section>")]
    assert "rank37.log</h3>" in shown.partition("<details")[0]
    assert shown.count("<h3") <= 8


def test_attempts_are_listed_where_a_source_holds_several(tmp_path: Path) -> None:
    """A file with two runs in it has two; one beside it has no part in the list."""
    run = (
        "***** Running training *****\n"
        + "".join(
            f"{{'loss': 1.5, 'learning_rate': 1e-05, 'epoch': {step / 10}}}\n" for step in range(5)
        )
        + TRACE
        + "ValueError: no\n"
    )
    (tmp_path / "a.log").write_text(run * 2, encoding="utf-8")
    (tmp_path / "b.log").write_text(
        "".join(
            f"{{'loss': 1.5, 'learning_rate': 1e-05, 'epoch': {step / 10}}}\n" for step in range(5)
        ),
        encoding="utf-8",
    )
    diagnosis = analyze(tmp_path).diagnosis
    assert [one.source for one in diagnosis.attempts] == [0, 0, 1]
    assert [one.source for one in list_attempts(diagnosis)] == [0, 0]


def test_what_is_cut_ends_with_an_ellipsis(tmp_path: Path) -> None:
    """Evidence, the timeline and the first failure say that a line goes on."""
    log = tmp_path / "train.log"
    text = OOM + " " + "and so on " * 100
    log.write_text(
        "\n".join([*(record(0, second) for second in range(20)), TRACE + text]) + "\n",
        encoding="utf-8",
    )
    diagnosis = analyze(log).diagnosis
    assert diagnosis.first_failure is not None
    told = [item.text for item in diagnosis.causes[0].evidence if OOM[:60] in item.text]
    shown = [
        *told,
        diagnosis.first_failure.why,
        *(event.text for event in diagnosis.timeline if OOM[:60] in event.text),
    ]
    assert len(shown) >= 3
    assert [one[-1] for one in shown] == ["…"] * len(shown)


def test_what_the_launcher_tells_stands_behind_an_undated_failure(tmp_path: Path) -> None:
    """Its clock is no reason to come before what it tells of; its own lines keep their order."""
    launcher = (
        "W1121 01:58:04.100000 7 torch/distributed/elastic/multiprocessing/api.py:908] Sending process 12 closing signal SIGTERM\n"
        "E1121 01:58:04.200000 7 torch/distributed/elastic/multiprocessing/api.py:882] failed (exitcode: 1) local_rank: 0 (pid: 11) of binary: /usr/bin/python\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        "train.py FAILED\n"
    )
    (tmp_path / "launcher.log").write_text(launcher, encoding="utf-8")
    (tmp_path / "rank0.log").write_text(
        "step 1 loss 2.0\nstep 2 loss 1.9\nstep 3 loss 1.8\n" + TRACE + "KeyError: 'label'\n",
        encoding="utf-8",
    )
    report = analyze(tmp_path)
    events = report.diagnosis.timeline
    sources = [report.diagnosis.sources[event.source].path for event in events]
    failed = next(index for index, event in enumerate(events) if event.role == "cause")
    told = [index for index, path in enumerate(sources) if path.endswith("launcher.log")]
    assert sources[failed].endswith("rank0.log")
    assert told
    assert min(told) > failed
    lines = [events[index].line for index in told]
    assert lines == sorted(lines)


def test_a_failure_names_the_users_own_frame(tmp_path: Path) -> None:
    """The innermost frame that is in no library."""
    (tmp_path / "run.log").write_text(
        "step 1 loss 2.0\n"
        "Traceback (most recent call last):\n"
        '  File "/work/run/train.py", line 88, in <module>\n    main()\n'
        '  File "/work/run/train.py", line 61, in main\n    out = model(batch)\n'
        '  File "/env/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 125, in forward\n'
        "    return F.linear(input, self.weight, self.bias)\n"
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x512 and 768x10)\n",
        encoding="utf-8",
    )
    first = analyze(tmp_path / "run.log").diagnosis.first_failure
    assert first is not None
    assert first.frame is not None
    assert (first.frame.file, first.frame.line, first.frame.code) == (
        "/work/run/train.py",
        61,
        "out = model(batch)",
    )
