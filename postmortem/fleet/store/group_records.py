"""The groups of failures, and how many jobs of each triage are in them.

In: rows. Out: rows. Not here: which jobs belong together.
"""

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import Select, delete, literal, select

from postmortem.fleet.store.databases import Database
from postmortem.fleet.store.store_tables import GROUP_MEMBERS, GROUPS
from postmortem.fleet.store.stored_rows import GroupRow

_OF_GROUP: Final = ("identity", "version", "cause", "template", "title_en", "title_zh")
_DESCRIBED: Final = tuple(GROUPS.c[name] for name in _OF_GROUP)


class GroupRecords:
    """The groups, each under its identity and the version of the way of grouping."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, triage: int, groups: Iterable[GroupRow]) -> None:
        """Keep the groups of a triage, each with the number of its jobs; earlier ones are replaced.

        A group that no triage has met before is kept with this one as its first.
        """
        rows = sorted(groups, key=lambda group: (group.identity, group.version))
        described = [{name: getattr(row, name) for name in _OF_GROUP} for row in rows]
        counted = [{"identity": r.identity, "version": r.version, "jobs": r.jobs} for r in rows]
        group = self._database.insert(GROUPS)
        with self._database.writing() as connection:
            connection.execute(delete(GROUP_MEMBERS).where(GROUP_MEMBERS.c.triage == triage))
            if not rows:
                return
            connection.execute(
                group.values(first_triage=triage).on_conflict_do_update(
                    index_elements=[GROUPS.c.identity, GROUPS.c.version],
                    set_={name: group.excluded[name] for name in _OF_GROUP[2:]},
                ),
                described,
            )
            connection.execute(self._database.insert(GROUP_MEMBERS).values(triage=triage), counted)

    def list_triage_groups(self, triage: int) -> list[GroupRow]:
        """Give the groups of a triage, each with the number of its jobs in it."""
        members = GROUP_MEMBERS
        return self._rows(
            select(*_DESCRIBED, members.c.jobs, GROUPS.c.first_triage)
            .join_from(members, GROUPS)
            .where(members.c.triage == triage)
        )

    def list_known(self) -> list[GroupRow]:
        """Give the groups of all triages, without numbers of jobs."""
        return self._rows(select(*_DESCRIBED, literal(0), GROUPS.c.first_triage))

    def _rows(self, wanted: "Select[Any]") -> list[GroupRow]:
        with self._database.reading() as connection:
            rows = connection.execute(wanted.order_by(GROUPS.c.identity, GROUPS.c.version))
            return [GroupRow(*row) for row in rows]
