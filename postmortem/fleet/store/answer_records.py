"""The places where trackers ask, what stands there by now, and who may write there now.

In: owners, claims, rows. Out: rows. Not here: what a lease is (`store.leases`), what is written.
"""

from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import Select, and_, func, select, update
from sqlalchemy.sql.elements import ColumnElement

from postmortem.fleet.store.answer_rows import AnswerRow, AskedPlace
from postmortem.fleet.store.databases import Database, Seconds
from postmortem.fleet.store.delivery_records import match_thread
from postmortem.fleet.store.leases import FREE, Leases, extend, grant
from postmortem.fleet.store.store_tables import ANSWERS, DELIVERIES
from postmortem.fleet.store.stored_rows import WAITING

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
        return None if found is None else _build_row(found._asdict())

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
        return _build_row(found._asdict())

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


def _build_row(values: dict[str, Any]) -> AnswerRow:
    place = AskedPlace(*(values[name] for name in AskedPlace._fields))
    own = {name: values[name] for name in ("comment", "run", "claim")}
    return AnswerRow(place, labels=tuple(values["labels"]), failed_tries=values["attempts"], **own)
