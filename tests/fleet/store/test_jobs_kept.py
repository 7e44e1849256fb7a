"""Jobs are kept under their identity over all triages, and what became of them in each."""

from dataclasses import replace

import pytest

from postmortem.fleet.store.opened_store import Store
from postmortem.fleet.store.stored_rows import (
    AllocationRow,
    AnalysisRow,
    AnalysisSummary,
    FileRow,
    GroupRow,
    JobRow,
    TriageRow,
)


def job(identity: str, stamp: str = "1", **fields: object) -> JobRow:
    """A job with one file."""
    file = FileRow("log.txt", f"/logs/{identity}", 10, stamp)
    return replace(JobRow(identity, f"job {identity}", (file,)), **fields)


def one(store: Store, triage: int, identity: str) -> JobRow:
    """A job as a triage has it."""
    return next(row for row in store.jobs.iter_triage_jobs(triage) if row.identity == identity)


def test_a_job_comes_back_as_it_was_noted(store: Store) -> None:
    """With all its files, in the order of their names, and the triage that found it."""
    triage = store.triages.begin({}, 1.0)
    files = tuple(FileRow(f"job/rank{rank}.log", f"s3://b/{rank}", 2**40, "e") for rank in (0, 1))
    noted = JobRow("17.2", "train", files[::-1], scheduler_id="17", attempt=2)
    store.jobs.note(triage, [noted])
    assert list(store.jobs.iter_triage_jobs(triage)) == [
        replace(noted, files=files, first_triage=triage, last_triage=triage)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\0b",
        "caf\udce9.log",
        "名字 \U0001f525",
        "\ufdd0",
        "\ufdd00000",
        "'; DROP TABLE x --",
        "%s {x} :y",
    ],
    ids=ascii,
)
def test_any_text_is_kept(store: Store, text: str) -> None:
    """NUL, broken bytes of a path, the mark that escapes them, what looks like SQL."""
    triage = store.triages.begin({text: text}, 1.0)
    noted = JobRow("x" + text, text, (FileRow(text, text, 0, text),))
    store.jobs.note(triage, [noted])
    store.jobs.note_refused(triage, "x" + text, "unreadable", text, text)
    row = one(store, triage, "x" + text)
    assert (row.title, row.files, row.reason_en) == (text, noted.files, text)
    assert store.triages.get_row(triage) == TriageRow(triage, {text: text}, 1.0, None)


def test_a_changed_file_forgets_the_digest(store: Store) -> None:
    """The same files keep it, over triages too; another size or stamp, or one file more, does not."""
    triage = store.triages.begin({}, 1.0)
    store.jobs.note(triage, [job("a"), job("b"), job("c")])
    store.jobs.note_digests([job("a", digest="A"), job("b", digest="B"), job("c", digest="C")])
    later = store.triages.begin({}, 2.0)
    more = (*job("c").files, FileRow("more.txt", "/m", 1, "1"))
    store.jobs.note(later, [job("a", title="renamed"), job("b", stamp="2"), job("c", files=more)])
    rows = {row.identity: row for row in store.jobs.iter_triage_jobs(later)}
    assert {name: row.digest for name, row in rows.items()} == {"a": "A", "b": "", "c": ""}
    assert rows["a"].title == "renamed"
    assert {(row.first_triage, row.last_triage) for row in rows.values()} == {(triage, later)}


def test_a_digest_of_files_that_have_changed_meanwhile_is_not_kept(store: Store) -> None:
    """One triage reads a job, another notes it anew before the first has its digest."""
    first = store.triages.begin({}, 1.0)
    store.jobs.note(first, [job("a")])
    store.jobs.note(store.triages.begin({}, 2.0), [job("a", stamp="2")])
    store.jobs.note_digests([job("a", digest="old")])
    assert one(store, first, "a").digest == ""
    store.jobs.note_digests([job("a", stamp="2", digest="new")])
    assert one(store, first, "a").digest == "new"


def test_two_triages_at_once_keep_their_own_jobs(store: Store) -> None:
    """Neither takes the other's jobs, keys or refusals away."""
    first, second = store.triages.begin({}, 1.0), store.triages.begin({}, 1.0)
    store.jobs.note(second, [job("b"), job("c")])
    store.jobs.note(first, [job("a"), job("b")])
    store.jobs.note_keys(first, {"a": "k1", "b": "k2", "c": "not of this one"})
    store.jobs.note_refused(second, "b", "unreadable", "gone", "没有了")
    found = [
        [(row.identity, row.key, row.state) for row in store.jobs.iter_triage_jobs(t)]
        for t in (first, second)
    ]
    assert found == [
        [("a", "k1", "waiting"), ("b", "k2", "waiting")],
        [("b", "", "unreadable"), ("c", "", "waiting")],
    ]
    assert one(store, first, "b").last_triage == second


def test_a_job_has_the_state_of_its_analysis(store: Store) -> None:
    """Waiting until it is kept; a refusal stands whatever the analysis says."""
    triage = store.triages.begin({}, 1.0)
    store.jobs.note(triage, map(job, "abcd"))
    store.jobs.note_keys(triage, {"a": "k1", "b": "k2", "c": "k3", "d": "k1"})
    store.analyses.claim(["k3"], "me", 60)
    store.analyses.keep(
        [
            AnalysisRow(AnalysisSummary("k1", "judged"), b"x"),
            AnalysisRow(AnalysisSummary("k2", "timed-out", "too slow", "太慢")),
        ]
    )
    store.jobs.note_refused(triage, "d", "unreadable", "no rights", "无权限")
    assert [
        (r.identity, r.state, r.reason_en, r.reason_zh) for r in store.jobs.iter_triage_jobs(triage)
    ] == [
        ("a", "judged", "", ""),
        ("b", "timed-out", "too slow", "太慢"),
        ("c", "waiting", "", ""),
        ("d", "unreadable", "no rights", "无权限"),
    ]


def test_a_job_that_is_noted_again_begins_anew(store: Store) -> None:
    """Its key belongs to files that may be others now."""
    triage = store.triages.begin({}, 1.0)
    store.jobs.note(triage, [job("a")])
    store.jobs.note_keys(triage, {"a": "k"})
    store.jobs.note(triage, [job("a", stamp="2")])
    assert (one(store, triage, "a").key, len(list(store.jobs.iter_triage_jobs(triage)))) == ("", 1)


def test_ten_thousand_jobs_come_in_order(store: Store) -> None:
    """In the order of code points, in which Python sorts, whatever the order they were noted in."""
    triage = store.triages.begin({}, 1.0)
    names = [f"{'aAé名_-.'[number % 7]}{number * 7919 % 10_000}" for number in range(10_000)]
    store.jobs.note(triage, map(job, names))
    assert [row.identity for row in store.jobs.iter_triage_jobs(triage)] == sorted(names)


def test_jobs_can_be_changed_while_they_are_read(store: Store) -> None:
    """No transaction stays open between the rows; those not yet read are read as they are then."""
    triage = store.triages.begin({}, 1.0)
    store.jobs.note(triage, (job(f"{number:04}") for number in range(1200)))
    for row in store.jobs.iter_triage_jobs(triage):
        if row.identity == "0003":
            store.jobs.note_keys(triage, {"0003": "k", "1100": "k"})
    assert one(store, triage, "1100").key == "k"


def test_the_triage_before_is_the_last_that_finished(store: Store) -> None:
    """Not one that was broken off, nor one of other paths if that is asked for."""
    options = [{"paths": "a"}, {"paths": "b"}, {"paths": "a"}, {"paths": "a", "engine": "ray"}]
    first, second, third, fourth = [store.triages.begin(some, 1.0) for some in options]
    assert store.triages.find_earlier(fourth) is None
    store.triages.finish(first, 5.0)
    store.triages.finish(second, 6.0)
    assert [store.triages.find_earlier(t) for t in (first, second, third, fourth)] == [
        None,
        first,
        second,
        second,
    ]
    assert store.triages.find_earlier(fourth, same=["paths"]) == first
    assert store.triages.get_row(first) == TriageRow(first, {"paths": "a"}, 1.0, 5.0)
    assert store.triages.get_row(99) is None


def test_groups_remember_who_met_them_first(store: Store) -> None:
    """A triage that notes its groups again replaces its own; another version is another group."""
    first, second = store.triages.begin({}, 1.0), store.triages.begin({}, 2.0)
    known = GroupRow("g1", "1", "data.empty", "no samples <n>", "Empty", "空", jobs=3)
    gone = GroupRow("g2", "1", None, "odd", jobs=1)
    store.groups.note(first, [gone, GroupRow("g3", "1", None, "withdrawn", jobs=2)])
    store.groups.note(first, [gone, known])
    store.groups.note(second, [replace(known, version="2"), replace(known, jobs=5)])
    assert store.groups.list_triage_groups(first) == [
        replace(g, first_triage=first) for g in (known, gone)
    ]
    assert store.groups.list_triage_groups(second) == [
        replace(known, jobs=5, first_triage=first),
        replace(known, version="2", first_triage=second),
    ]
    assert [(g.identity, g.version, g.first_triage) for g in store.groups.list_known()] == [
        ("g1", "1", first),
        ("g1", "2", second),
        ("g2", "1", first),
        ("g3", "1", first),
    ]
    store.groups.note(second, [])
    assert store.groups.list_triage_groups(second) == []


def test_allocations_are_kept_by_attempt(store: Store) -> None:
    """Over more than a page; what the scheduler says later replaces what it said."""
    rows = [AllocationRow(f"{n // 3}", n % 3, {"nodes": ["n\0", 1.5, None]}) for n in range(1500)]
    store.allocations.note(rows)
    store.allocations.note([AllocationRow("7", 1, {"state": "FAILED"})])
    rows[22] = AllocationRow("7", 1, {"state": "FAILED"})
    wanted = sorted(rows, key=lambda row: (row.scheduler_id, row.attempt))
    assert list(store.allocations.iter_all()) == wanted
