"""The deliveries of trackers, each kept once, and the places that are answered, by whom now.

In: owners, claims, rows. Out: rows. Not here: what a lease is (`store.databases`), what is asked,
what is written.
"""

from collections.abc import Collection
from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import Select, and_, delete, exists, func, select, update
from sqlalchemy.sql.elements import ColumnElement

from postmortem.fleet.store.databases import FREE, Database, Leases, Seconds, extend, grant
from postmortem.fleet.store.store_tables import ANSWERS, DELIVERIES
from postmortem.fleet.store.stored_rows import WAITING, AnswerRow, AskedPlace, DeliveryRow

_DAY: Final = 86_400.0


class DeliveryRecords:
    """The deliveries, each under its tracker and the tracker's id of it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, row: DeliveryRow) -> bool:
        """Keep one; False if it was kept before."""
        values = {**asdict(row), **row.place._asdict(), "received": Seconds()}
        del values["place"], values["number"]
        statement = (
            self._database.insert(DELIVERIES)
            .values(**values)
            .on_conflict_do_nothing(index_elements=[DELIVERIES.c.tracker, DELIVERIES.c.delivery])
            .returning(DELIVERIES.c.number)
        )
        with self._database.writing() as connection:
            is_new = connection.execute(statement).first() is not None
            if is_new:
                self._have_answer(connection, row.place)
            return is_new

    def list_waiting(self, place: AskedPlace) -> list[DeliveryRow]:
        """Give what is to be answered in a place, in the order in which it came."""
        wanted = (
            select(DELIVERIES)
            .where(match_thread(DELIVERIES, place), DELIVERIES.c.state == WAITING)
            .order_by(DELIVERIES.c.number)
        )
        with self._database.reading() as connection:
            return [_build_delivery_row(one._asdict()) for one in connection.execute(wanted)]

    def list_for_tracker(self, tracker: str) -> list[DeliveryRow]:
        """Give all that is kept of a tracker, in the order in which it came."""
        wanted = (
            select(DELIVERIES).where(DELIVERIES.c.tracker == tracker).order_by(DELIVERIES.c.number)
        )
        with self._database.reading() as connection:
            return [_build_delivery_row(one._asdict()) for one in connection.execute(wanted)]

    def settle(self, numbers: Collection[int], state: str, reason: str = "", *, claim: str) -> None:
        """Take note of what became of some, unless the claim to their place was lost."""
        with self._database.writing() as connection:
            connection.execute(
                update(DELIVERIES)
                .where(DELIVERIES.c.number.in_(numbers), _is_held(claim))
                .values(state=state, reason=reason)
            )

    def move(self, numbers: Collection[int], place: AskedPlace, claim: str) -> None:
        """Have some answered in another place than was known when they came.

        Nothing is done if the claim to the place where they are was lost.
        """
        with self._database.writing() as connection:
            connection.execute(
                update(DELIVERIES)
                .where(DELIVERIES.c.number.in_(numbers), _is_held(claim))
                .values(**place._asdict())
            )
            self._have_answer(connection, place)

    def forget(self, days: float) -> int:
        """Drop what was settled and came more than so many days ago; give the number."""
        with self._database.writing() as connection:
            done = connection.execute(
                delete(DELIVERIES).where(
                    DELIVERIES.c.state != WAITING,
                    DELIVERIES.c.received < Seconds() - days * _DAY,
                )
            )
            return int(done.rowcount)

    def _have_answer(self, connection: Any, place: AskedPlace) -> None:
        statement = self._database.insert(ANSWERS).values(**place._asdict())
        connection.execute(
            statement.on_conflict_do_nothing(index_elements=list(ANSWERS.primary_key.columns))
        )


def match_thread(table: Any, place: AskedPlace) -> "ColumnElement[bool]":
    """Ask for the rows of a place."""
    return and_(*(table.c[name] == value for name, value in place._asdict().items()))


def _is_held(claim: str) -> "ColumnElement[bool]":
    return exists().where(ANSWERS.c.claim == claim)


def _build_delivery_row(values: dict[str, Any]) -> DeliveryRow:
    del values["received"]
    place = AskedPlace(*(values.pop(name) for name in AskedPlace._fields))
    return DeliveryRow(place=place, **values)


_LOOKED_AT: Final = 20
"""Places that are tried for one claim: others may be faster."""
_IS_DUE: Final = ANSWERS.c.not_before <= Seconds()


class AnswerRecords:
    """The answers, each under its place."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._leases = Leases(database, ANSWERS)

    def claim(self, owner: str, seconds: float, trackers: Collection[str]) -> AnswerRow | None:
        """Take one place where something waits, the longest waiting first.

        No place is granted twice while a lease holds, whoever asks at the same time.

        Args:
            owner: who asks.
            seconds: how long the lease holds unless it is renewed.
            trackers: of which it may be.
        """
        with self._database.reading() as connection:
            places = [
                AskedPlace(*row[:4])
                for row in connection.execute(
                    _select_pending_threads(trackers, self._leases.is_free())
                )
            ]
        return next((row for place in places if (row := self._claim(place, owner, seconds))), None)

    def renew(self, claims: Collection[str], seconds: float) -> None:
        """Let leases hold for so many seconds from now; one that was taken over stays lost."""
        self._leases.change_claimed(claims, extend(seconds))

    def holds(self, claim: str, seconds: float) -> bool:
        """Say whether a claim is still granted, and renew it."""
        return self._change(claim, extend(seconds))

    def note(self, row: AnswerRow) -> bool:
        """Keep what stands in a place now; the lease goes on. False if it was lost before."""
        return self._change(row.claim, _build_row_values(row))

    def keep(self, row: AnswerRow) -> bool:
        """Keep what stands in a place now and end the lease; False if it was lost before."""
        return self._change(
            row.claim, {**FREE, **_build_row_values(row), "attempts": 0, "not_before": 0.0}
        )

    def end(self, claim: str) -> bool:
        """End a lease and forget the failed tries; False if it was lost before."""
        return self._change(claim, {**FREE, "attempts": 0, "not_before": 0.0})

    def postpone(self, row: AnswerRow, seconds: float) -> bool:
        """Have it tried again, not before so many seconds have gone by; the lease ends."""
        later = {"attempts": row.failed_tries + 1, "not_before": Seconds() + seconds}
        return self._change(row.claim, {**FREE, **later})

    def get_answer(self, place: AskedPlace) -> AnswerRow | None:
        """Give what is kept of a place."""
        with self._database.reading() as connection:
            found = connection.execute(
                select(ANSWERS).where(match_thread(ANSWERS, place))
            ).one_or_none()
        return None if found is None else _build_answer_row(found._asdict())

    def list_owners(self) -> list[str]:
        """Give who holds leases now, sorted."""
        return self._leases.list_owners()

    def release(self, owner: str) -> int:
        """Give back all that an owner has not finished; give the number."""
        return self._leases.release(owner)

    def _claim(self, place: AskedPlace, owner: str, seconds: float) -> AnswerRow | None:
        with self._database.writing() as connection:
            done = connection.execute(
                update(ANSWERS)
                .where(match_thread(ANSWERS, place), self._leases.is_free(), _IS_DUE)
                .values(**grant(owner, seconds))
            )
            if not done.rowcount:
                return None
            found = connection.execute(select(ANSWERS).where(match_thread(ANSWERS, place))).one()
        return _build_answer_row(found._asdict())

    def _change(self, claim: str, values: dict[str, Any]) -> bool:
        return bool(self._leases.change_claimed([claim], values))


def _select_pending_threads(
    trackers: Collection[str], is_free: "ColumnElement[bool]"
) -> "Select[Any]":
    """Ask for the places where something waits and nobody is at work."""
    keys = [ANSWERS.c[name] for name in AskedPlace._fields]
    same = and_(*(DELIVERIES.c[key.name] == key for key in keys))
    first = func.min(DELIVERIES.c.number)
    return (
        select(*keys, first)
        .join(DELIVERIES, same)
        .where(DELIVERIES.c.state == WAITING, ANSWERS.c.tracker.in_(trackers), is_free, _IS_DUE)
        .group_by(*keys)
        .order_by(first)
        .limit(_LOOKED_AT)
    )


def _build_row_values(row: AnswerRow) -> dict[str, Any]:
    return {"comment": row.comment, "run": row.run, "labels": list(row.labels)}


def _build_answer_row(values: dict[str, Any]) -> AnswerRow:
    place = AskedPlace(*(values[name] for name in AskedPlace._fields))
    own = {name: values[name] for name in ("comment", "run", "claim")}
    return AnswerRow(place, labels=tuple(values["labels"]), failed_tries=values["attempts"], **own)
