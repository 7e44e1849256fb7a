"""The deliveries of trackers, each kept once, and what became of them.

In: rows. Out: rows. Not here: what is asked, who answers (`store.answer_records`).
"""

from collections.abc import Collection
from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import and_, delete, exists, select, update
from sqlalchemy.sql.elements import ColumnElement

from postmortem.fleet.store.answer_rows import AskedPlace, DeliveryRow
from postmortem.fleet.store.databases import Database, Seconds
from postmortem.fleet.store.store_tables import ANSWERS, DELIVERIES
from postmortem.fleet.store.stored_rows import WAITING

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
            return [_build_row(one._asdict()) for one in connection.execute(wanted)]

    def list_for_tracker(self, tracker: str) -> list[DeliveryRow]:
        """Give all that is kept of a tracker, in the order in which it came."""
        wanted = (
            select(DELIVERIES).where(DELIVERIES.c.tracker == tracker).order_by(DELIVERIES.c.number)
        )
        with self._database.reading() as connection:
            return [_build_row(one._asdict()) for one in connection.execute(wanted)]

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


def _build_row(values: dict[str, Any]) -> DeliveryRow:
    del values["received"]
    place = AskedPlace(*(values.pop(name) for name in AskedPlace._fields))
    return DeliveryRow(place=place, **values)
