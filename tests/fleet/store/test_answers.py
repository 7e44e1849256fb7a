"""A delivery is kept once; a place is answered by one owner at a time."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from postmortem.fleet.store import open_store
from postmortem.fleet.store.opened_store import Store
from postmortem.fleet.store.stored_rows import AskedPlace, DeliveryRow

HERE = AskedPlace("github", "acme/train", "issue", "7")
THERE = HERE._replace(name="8")
ALL = ("github",)
PROCESSES, PLACES = 3, 40


def asked(delivery: str, place: AskedPlace = HERE) -> DeliveryRow:
    """A delivery that asks to look."""
    return DeliveryRow(place, delivery, "look", asker="u1", asker_name="ada")


def test_a_delivery_is_kept_once(store: Store) -> None:
    """Another tracker may use the same id for one of its own."""
    assert store.deliveries.note(asked("d1"))
    assert not store.deliveries.note(asked("d1", THERE))
    assert store.deliveries.note(asked("d1", HERE._replace(tracker="gitlab")))
    (row,) = store.deliveries.list_waiting(HERE)
    assert replace(row, number=0) == asked("d1")


def test_a_place_is_granted_once_and_in_order(store: Store) -> None:
    """The longest waiting first; what came meanwhile makes it due again."""
    for delivery, place in (("d1", THERE), ("d2", HERE), ("d3", THERE)):
        store.deliveries.note(asked(delivery, place))
    first, second = (store.answers.claim("me", 60, ALL) for _ in range(2))
    assert first is not None
    assert second is not None
    assert (first.place, second.place) == (THERE, HERE)
    assert store.answers.claim("you", 60, ALL) is None
    assert store.answers.claim("you", 60, ()) is None
    done = [row.number for row in store.deliveries.list_waiting(THERE)]
    store.deliveries.note(asked("d4", THERE))
    store.deliveries.settle(done, "done", claim=first.claim)
    assert store.answers.keep(replace(first, comment="c1", labels=("cause: oom",)))
    again = store.answers.claim("you", 60, ALL)
    assert again is not None
    assert (again.comment, again.labels, again.failed_tries) == ("c1", ("cause: oom",), 0)
    assert [row.delivery for row in store.deliveries.list_waiting(THERE)] == ["d4"]


def test_a_lost_lease_cannot_be_used(store: Store) -> None:
    """What ran out is another's; the first owner's claim writes nothing any more."""
    store.deliveries.note(asked("d1"))
    lost = store.answers.claim("paused", -1, ALL)
    held = store.answers.claim("me", 60, ALL)
    assert lost is not None
    assert held is not None
    assert not store.answers.holds(lost.claim, 60)
    assert not store.answers.note(replace(lost, comment="wrong"))
    assert not store.answers.keep(replace(lost, comment="wrong"))
    assert not store.answers.postpone(lost, 60)
    assert store.answers.holds(held.claim, 60)
    store.answers.renew([lost.claim, held.claim], -1)
    assert store.answers.list_owners() == ["me"]
    assert store.answers.claim("you", 60, ALL) is not None


def test_a_place_waits_as_long_as_it_is_told(store: Store) -> None:
    """Attempts are counted until one succeeds."""
    store.deliveries.note(asked("d1"))
    row = store.answers.claim("me", 60, ALL)
    assert row is not None
    assert store.answers.postpone(row, 60)
    assert store.answers.claim("me", 60, ALL) is None
    kept = store.answers.get_answer(HERE)
    assert kept is not None
    assert (kept.failed_tries, kept.claim) == (1, "")


def test_a_run_is_answered_where_it_turns_out_to_belong(store: Store) -> None:
    """Its row moves, and the place is made if nobody has asked there."""
    run = HERE._replace(kind="run", name="4711")
    store.deliveries.note(replace(asked("d1", run), run="4711"))
    row = store.answers.claim("me", 60, ALL)
    assert row is not None
    assert row.place == run
    numbers = [one.number for one in store.deliveries.list_waiting(run)]
    store.deliveries.move(numbers, THERE, "lost")
    assert store.deliveries.list_waiting(THERE) == []
    store.deliveries.move(numbers, THERE, row.claim)
    store.answers.keep(row)
    moved = store.answers.claim("me", 60, ALL)
    assert moved is not None
    assert moved.place == THERE
    assert [one.run for one in store.deliveries.list_waiting(THERE)] == ["4711"]


def test_what_is_settled_is_forgotten_in_time(store: Store) -> None:
    """What waits is not."""
    for delivery in ("d1", "d2"):
        store.deliveries.note(asked(delivery))
    row = store.answers.claim("me", 60, ALL)
    assert row is not None
    first = store.deliveries.list_waiting(HERE)[0].number
    for claim in ("lost", row.claim):
        assert len(store.deliveries.list_waiting(HERE)) == 2
        store.deliveries.settle([first], "done", claim=claim)
    assert store.deliveries.forget(1) == 0
    assert store.deliveries.forget(-1) == 1
    assert [row.delivery for row in store.deliveries.list_for_tracker("github")] == ["d2"]


def test_what_an_owner_left_is_free(store: Store) -> None:
    """At once."""
    store.deliveries.note(asked("d1"))
    store.answers.claim("gone", 600, ALL)
    assert store.answers.release("gone") == 1
    assert store.answers.claim("me", 60, ALL) is not None


def claimed(url: str, owner: str) -> list[str]:
    """Take places until there are none, in a process of its own."""
    found = []
    with open_store(url) as store:
        while row := store.answers.claim(owner, 600, ALL):
            found.append(row.place.name)
    return found


def test_no_place_is_granted_to_two_processes(url: str) -> None:
    """All at once, several times over; a delivery that comes to all of them is kept once."""
    with open_store(url) as store:
        places = [HERE._replace(name=str(number)) for number in range(PLACES)]
        with ThreadPoolExecutor(4) as threads:
            kept = list(
                threads.map(
                    lambda at: store.deliveries.note(asked(at.name, at)), [*places, *places]
                )
            )
    assert sum(kept) == PLACES
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        found = pool.starmap(claimed, [(url, f"owner-{n}") for n in range(PROCESSES)])
    assert sorted(int(name) for names in found for name in names) == list(range(PLACES))
