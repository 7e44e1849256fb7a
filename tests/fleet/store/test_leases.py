"""An analysis is computed by one owner at a time, and kept once."""

import multiprocessing
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from postmortem.fleet.store import open_store
from postmortem.fleet.store.opened_store import Store
from postmortem.fleet.store.stored_rows import AnalysisRow, AnalysisSummary

OWNERS = 3
KEYS = [f"{number:04x}" for number in range(1200)]


def kept(key: str, state: str = "judged", blob: bytes | None = b"analysis") -> AnalysisRow:
    """An analysis that was made."""
    return AnalysisRow(AnalysisSummary(key, state), blob)


def test_a_key_is_granted_once(store: Store) -> None:
    """To another not while the lease holds, and not to the same owner either."""
    assert store.analyses.claim(["b", "a", "a"], "me", 60) == ["a", "b"]
    assert store.analyses.claim(["a", "b", "c"], "you", 60) == ["c"]
    assert store.analyses.claim(["a"], "me", 60) == []
    assert store.analyses.claim([], "me", 60) == []


def test_a_lease_that_has_run_out_is_taken_over(store: Store) -> None:
    """Renewed it holds again; what was taken over cannot be renewed."""
    store.analyses.claim(["a", "b"], "dead", -1)
    assert store.analyses.claim(["a"], "me", 60) == ["a"]
    assert store.analyses.renew("dead", 60) == 1
    assert store.analyses.claim(["a", "b"], "you", 60) == []
    assert store.analyses.renew("me", -1) == 1
    assert store.analyses.claim(["a", "b"], "you", 60) == ["a"]


def test_what_is_released_is_free(store: Store) -> None:
    """Only what the owner has not kept."""
    store.analyses.claim(["a", "b"], "me", 60)
    store.analyses.keep([kept("a")])
    assert store.analyses.release("me") == 1
    assert store.analyses.claim(["a", "b"], "you", 60) == ["b"]


def test_what_is_kept_is_never_granted(store: Store) -> None:
    """Whether it was judged or failed; what failed is tried again only when asked for."""
    store.analyses.claim(["a", "b", "c"], "me", 60)
    store.analyses.keep([kept("a"), kept("b", "crashed", None), kept("c", "timed-out", None)])
    assert store.analyses.claim(["a", "b", "c"], "you", 60) == []
    assert store.analyses.claim(["a", "b", "c"], "you", 60, again=["crashed", "judged"]) == ["b"]
    assert store.analyses.get_states(["b"]) == {"b": "crashed"}
    assert store.analyses.claim(["b"], "me", 60, again=["crashed"]) == []


def test_a_whole_analysis_outlives_a_failed_one(store: Store) -> None:
    """Two owners had the key, one after the other; whoever keeps last, the whole one stays."""
    store.analyses.keep([kept("a"), kept("b", "crashed", None)])
    store.analyses.keep([kept("b"), kept("a", "out-of-memory", None)])
    assert store.analyses.get_states("ab") == {"a": "judged", "b": "judged"}
    assert [store.analyses.read_blob(key) for key in "abc"] == [b"analysis", b"analysis", None]


def test_a_summary_comes_back_as_it_was_kept(store: Store) -> None:
    """Every field, and the blob to the byte."""
    summary = AnalysisSummary(
        *("key", "judged", "why", "为什么", "data.empty", "data", 0.25, "supported", "failed"),
        *("Empty", "空", "Fill it", "填", "no", "code", "ValueError: \0\udc80", "ValueError: <s>"),
        *("0123", ("torch", "deepspeed"), "rank 3", ("n1", "n2")),
    )
    blob = bytes(range(256)) * 5000
    store.analyses.keep([AnalysisRow(summary, blob)])
    assert list(store.analyses.iter_summaries(["key", "unknown"])) == [summary]
    assert store.analyses.read_blob("key") == blob


def test_the_summaries_of_a_triage_come_by_key(store: Store) -> None:
    """Each once however many jobs have it, over more than a page, without those still waited for."""
    from tests.fleet.store.test_jobs_kept import job

    triage, other = store.triages.begin({}, 1.0), store.triages.begin({}, 1.0)
    store.jobs.note(triage, (job(f"{n}") for n in range(len(KEYS) + 1)))
    store.jobs.note(other, [job("x")])
    store.jobs.note_keys(triage, {f"{n}": KEYS[n - 1] for n in range(len(KEYS) + 1)})
    store.jobs.note_keys(other, {"x": "of the other"})
    store.analyses.claim(KEYS[:3], "me", 60)
    store.analyses.keep(kept(key) for key in [*KEYS[3:], "of the other"])
    assert [summary.key for summary in store.analyses.iter_triage_analyses(triage)] == KEYS[3:]
    assert [summary.key for summary in store.analyses.iter_summaries(reversed(KEYS))] == KEYS[3:]
    assert len(store.analyses.get_states(KEYS)) == len(KEYS)


def test_threads_share_a_store(store: Store) -> None:
    """One renews while others claim and keep; each key is granted once."""

    def work(number: int) -> list[str]:
        granted = store.analyses.claim(KEYS[:400], f"thread {number}", 60)
        store.analyses.renew(f"thread {number}", 60)
        store.analyses.keep(map(kept, granted))
        return granted

    with ThreadPoolExecutor(4) as pool:
        granted = list(pool.map(work, range(4)))
    assert sorted(key for some in granted for key in some) == KEYS[:400]


def claims(url: str, owner: str, begin: Any, told: Any) -> None:
    """In a process of its own: open the store, which none has made yet, and claim all keys."""
    begin.wait()
    with open_store(url) as store:
        rng, granted = random.Random(owner), []
        for _ in range(2):
            for start in rng.sample(range(0, len(KEYS), 40), len(KEYS) // 40):
                some = KEYS[start : start + 80]
                granted += store.analyses.claim(rng.sample(some, len(some)), owner, 600)
                store.analyses.renew(owner, 600)
        store.analyses.keep(map(kept, granted))
    told.put(granted)


def test_processes_at_once_never_get_the_same_key(url: str) -> None:
    """They open a new store at the same moment; every key is granted, each exactly once."""
    context = multiprocessing.get_context("spawn")
    begin, told = context.Barrier(OWNERS), context.Queue()
    owners = [
        context.Process(target=claims, args=(url, f"owner {number}", begin, told))
        for number in range(OWNERS)
    ]
    for owner in owners:
        owner.start()
    granted = [told.get(timeout=120) for _ in owners]
    for owner in owners:
        owner.join()
    assert sorted(key for some in granted for key in some) == KEYS
    with open_store(url) as store:
        assert set(store.analyses.get_states(KEYS).values()) == {"judged"}


def keeps_on(url: str, told: Any) -> None:
    """In a process of its own: claim and keep batch upon batch, until it is killed."""
    with open_store(url) as store:
        number = 0
        while True:
            keys = [f"{number:06}-{place:02}" for place in range(50)]
            store.analyses.claim(keys, "killed", 60)
            store.analyses.keep(kept(key, blob=b"x" * 20_000) for key in keys)
            number += 1
            told.send(number)


def end_other_sessions(store: Store) -> None:
    """A server may still be at what a killed client asked last."""
    if store._database.is_server:
        with store._database.reading() as connection:
            connection.exec_driver_sql(
                "SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


def test_a_killed_writer_leaves_a_sound_store(url: str) -> None:
    """All that it was told to be kept is there, no batch in part, and others go on at once."""
    context = multiprocessing.get_context("spawn")
    told, tells = context.Pipe(duplex=False)
    writer = context.Process(target=keeps_on, args=(url, tells))
    writer.start()
    tells.close()
    with told:
        while (batches := told.recv()) < 5:
            pass
        writer.kill()
        writer.join()
        while told.poll():
            try:
                batches = told.recv()
            except EOFError:
                break
    with open_store(url) as store:
        end_other_sessions(store)
        names = [f"{number:06}-{place:02}" for number in range(batches + 3) for place in range(50)]
        states = store.analyses.get_states(names)
        whole = sum(state == "judged" for state in states.values())
        assert whole >= batches * 50
        assert whole % 50 == 0
        left = [key for key, state in states.items() if state == "waiting"]
        assert store.analyses.claim(left, "me", 60) == []
        assert store.analyses.renew("killed", -1) == len(left)
        # A server gives rows in no order of their own.
        assert sorted(store.analyses.claim(["new", *left], "me", 60)) == [*sorted(left), "new"]
        if not store._database.is_server:
            with store._database.reading() as connection:
                assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
