"""The places where trackers ask, what stands there by now, and who may write there now.

In: owners, claims, rows. Out: rows. Not here: who an owner is, what is written. Leases are measured
by the clock of the database, as those of analyses (`store.analysis_records`).
"""

from collections.abc import Collection
from typing import Any, Final
from uuid import uuid4

from sqlalchemy import Select, and_, func, select, update

from postmortem.fleet.store.answer_rows import AnswerRow, AskedPlace
from postmortem.fleet.store.databases import Database, Seconds
from postmortem.fleet.store.delivery_records import match_thread
from postmortem.fleet.store.store_tables import ANSWERS, DELIVERIES
from postmortem.fleet.store.stored_rows import WAITING

_LOOKED_AT: Final = 20
"""Places that are tried for one claim: others may be faster."""
_FREE: Final = {"owner": "", "claim": "", "lease_until": 0.0}
_IS_FREE: Final = (ANSWERS.c.owner == "") | (ANSWERS.c.lease_until < Seconds())
_IS_DUE: Final = ANSWERS.c.not_before <= Seconds()


class AnswerRecords:
    """The answers, each under its place."""

    def __init__(self, database: Database) -> None:
        self._database = database

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
                for row in connection.execute(_select_pending_threads(trackers))
            ]
        return next((row for place in places if (row := self._claim(place, owner, seconds))), None)

    def renew(self, claims: Collection[str], seconds: float) -> None:
        """Let leases hold for so many seconds from now; one that was taken over stays lost."""
        with self._database.writing() as connection:
            connection.execute(
                update(ANSWERS)
                .where(ANSWERS.c.claim.in_(claims))
                .values(lease_until=Seconds() + seconds)
            )

    def holds(self, claim: str, seconds: float) -> bool:
        """Say whether a claim is still granted, and renew it."""
        return self._change(claim, {"lease_until": Seconds() + seconds})

    def note(self, row: AnswerRow) -> bool:
        """Keep what stands in a place now; the lease goes on. False if it was lost before."""
        return self._change(row.claim, _build_row_values(row))

    def keep(self, row: AnswerRow) -> bool:
        """Keep what stands in a place now and end the lease; False if it was lost before."""
        return self._change(
            row.claim, {**_FREE, **_build_row_values(row), "attempts": 0, "not_before": 0.0}
        )

    def end(self, claim: str) -> bool:
        """End a lease and forget the attempts; False if it was lost before."""
        return self._change(claim, {**_FREE, "attempts": 0, "not_before": 0.0})

    def postpone(self, row: AnswerRow, seconds: float) -> bool:
        """Have it tried again, not before so many seconds have gone by; the lease ends."""
        later = {"attempts": row.attempts + 1, "not_before": Seconds() + seconds}
        return self._change(row.claim, {**_FREE, **later})

    def answer(self, place: AskedPlace) -> AnswerRow | None:
        """Give what is kept of a place."""
        with self._database.reading() as connection:
            found = connection.execute(
                select(ANSWERS).where(match_thread(ANSWERS, place))
            ).one_or_none()
        return None if found is None else _build_row(found._asdict())

    def owners(self) -> list[str]:
        """Give who holds leases now, sorted."""
        wanted = select(ANSWERS.c.owner).where(ANSWERS.c.owner != "").distinct()
        with self._database.reading() as connection:
            return sorted(connection.execute(wanted).scalars())

    def release(self, owner: str) -> int:
        """Give back all that an owner has not finished; give the number."""
        with self._database.writing() as connection:
            done = connection.execute(
                update(ANSWERS).where(ANSWERS.c.owner == owner).values(**_FREE)
            )
            return int(done.rowcount)

    def _claim(self, place: AskedPlace, owner: str, seconds: float) -> AnswerRow | None:
        mark = uuid4().hex
        with self._database.writing() as connection:
            done = connection.execute(
                update(ANSWERS)
                .where(match_thread(ANSWERS, place), _IS_FREE, _IS_DUE)
                .values(owner=owner, claim=mark, lease_until=Seconds() + seconds)
            )
            if not done.rowcount:
                return None
            found = connection.execute(select(ANSWERS).where(match_thread(ANSWERS, place))).one()
        return _build_row(found._asdict())

    def _change(self, claim: str, values: dict[str, Any]) -> bool:
        with self._database.writing() as connection:
            done = connection.execute(
                update(ANSWERS).where(ANSWERS.c.claim == claim).values(**values)
            )
            return bool(done.rowcount)


def _select_pending_threads(trackers: Collection[str]) -> "Select[Any]":
    """Ask for the places where something waits and nobody is at work."""
    keys = [ANSWERS.c[name] for name in AskedPlace._fields]
    same = and_(*(DELIVERIES.c[key.name] == key for key in keys))
    first = func.min(DELIVERIES.c.number)
    return (
        select(*keys, first)
        .join(DELIVERIES, same)
        .where(DELIVERIES.c.state == WAITING, ANSWERS.c.tracker.in_(trackers), _IS_FREE, _IS_DUE)
        .group_by(*keys)
        .order_by(first)
        .limit(_LOOKED_AT)
    )


def _build_row_values(row: AnswerRow) -> dict[str, Any]:
    return {"comment": row.comment, "run": row.run, "labels": list(row.labels)}


def _build_row(values: dict[str, Any]) -> AnswerRow:
    place = AskedPlace(*(values[name] for name in AskedPlace._fields))
    own = {name: values[name] for name in ("comment", "run", "attempts", "claim")}
    return AnswerRow(place, labels=tuple(values["labels"]), **own)
