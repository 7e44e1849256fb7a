"""The tables of a store, as the newest revision has them.

In: nothing. Out: tables for SQLAlchemy Core. Not here: how a store comes to have them
(`migrations/`; a test holds that both are the same), what is done with them.
"""

from typing import Final

from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    UniqueConstraint,
)

from postmortem.store.column_types import AnyText, PlainJson
from postmortem.store.stored_rows import WAITING

PREFIX: Final = "postmortem_"
"""A database may hold the tables of others."""
REVISION_TABLE: Final = f"{PREFIX}revision"

METADATA: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _text(name: str, default: str = "") -> "Column[str]":
    return Column(name, AnyText, nullable=False, server_default=default)


TRIAGES: Final = Table(
    f"{PREFIX}triages",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("options", PlainJson, nullable=False),
    Column("began", Float, nullable=False),
    Column("finished", Float),
)

JOBS: Final = Table(
    f"{PREFIX}jobs",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("identity", AnyText, nullable=False, unique=True),
    _text("title"),
    _text("scheduler_id"),
    Column("attempt", Integer, nullable=False),
    Column("files", PlainJson, nullable=False),
    _text("digest"),
    Column("first_triage", ForeignKey(TRIAGES.c.number), nullable=False),
    Column("last_triage", ForeignKey(TRIAGES.c.number), nullable=False),
)
"""One row a job, over all triages."""

JUDGINGS: Final = Table(
    f"{PREFIX}judgings",
    METADATA,
    Column("triage", ForeignKey(TRIAGES.c.number), primary_key=True),
    Column("job", ForeignKey(JOBS.c.number), primary_key=True),
    _text("key"),
    _text("state", WAITING),
    _text("reason_en"),
    _text("reason_zh"),
)
"""One row a job and triage: two triages at once do not take each other's jobs away."""
Index(None, JUDGINGS.c.triage, JUDGINGS.c.key)

ANALYSES: Final = Table(
    f"{PREFIX}analyses",
    METADATA,
    Column("key", AnyText, primary_key=True),
    _text("state", WAITING),
    _text("owner"),
    _text("claim"),
    Column("lease_until", Float, nullable=False, server_default="0"),
    _text("reason_en"),
    _text("reason_zh"),
    Column("cause", AnyText),
    _text("category"),
    Column("probability", Float, nullable=False, server_default="0"),
    _text("status"),
    _text("outcome"),
    _text("title_en"),
    _text("title_zh"),
    _text("fix_en"),
    _text("fix_zh"),
    _text("retry"),
    _text("whose"),
    _text("failing_line"),
    _text("template"),
    _text("fingerprint"),
    Column("frameworks", PlainJson, nullable=False, server_default="[]"),
    _text("where"),
    Column("hosts", PlainJson, nullable=False, server_default="[]"),
    Column("blob", LargeBinary),  # last, so that what stands before it is read without it
)
"""One row a key. It is there as soon as someone computes it: `owner` may until `lease_until`."""
Index(None, ANALYSES.c.owner)

GROUPS: Final = Table(
    f"{PREFIX}groups",
    METADATA,
    Column("identity", AnyText, primary_key=True),
    Column("version", AnyText, primary_key=True),
    Column("cause", AnyText),
    _text("template"),
    _text("title_en"),
    _text("title_zh"),
    Column("first_triage", ForeignKey(TRIAGES.c.number), nullable=False),
)

GROUP_MEMBERS: Final = Table(
    f"{PREFIX}group_members",
    METADATA,
    Column("triage", ForeignKey(TRIAGES.c.number), primary_key=True),
    Column("identity", AnyText, primary_key=True),
    Column("version", AnyText, primary_key=True),
    Column("jobs", Integer, nullable=False),
    ForeignKeyConstraint(["identity", "version"], [GROUPS.c.identity, GROUPS.c.version]),
)

ALLOCATIONS: Final = Table(
    f"{PREFIX}allocations",
    METADATA,
    Column("scheduler_id", AnyText, primary_key=True),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("facts", PlainJson, nullable=False),
)

DELIVERIES: Final = Table(
    f"{PREFIX}deliveries",
    METADATA,
    Column("number", Integer, primary_key=True),
    _text("tracker"),
    _text("delivery"),
    _text("project"),
    _text("kind"),
    _text("name"),
    _text("ask"),
    _text("about"),
    _text("comment"),
    _text("asker"),
    _text("asker_name"),
    _text("run"),
    _text("state", WAITING),
    _text("reason"),
    Column("received", Float, nullable=False),
    UniqueConstraint("tracker", "delivery"),
)
"""One row a delivery of a tracker's webhook that asks for something; never its text."""
Index(None, DELIVERIES.c.state, DELIVERIES.c.number)
Index(None, DELIVERIES.c.tracker, DELIVERIES.c.project, DELIVERIES.c.kind, DELIVERIES.c.name)

ANSWERS: Final = Table(
    f"{PREFIX}answers",
    METADATA,
    Column("tracker", AnyText, primary_key=True),
    Column("project", AnyText, primary_key=True),
    Column("kind", AnyText, primary_key=True),
    Column("name", AnyText, primary_key=True),
    _text("comment"),
    _text("run"),
    Column("labels", PlainJson, nullable=False, server_default="[]"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("not_before", Float, nullable=False, server_default="0"),
    _text("owner"),
    _text("claim"),
    Column("lease_until", Float, nullable=False, server_default="0"),
)
"""One row a place that was asked about: what stands there by now, and who is at it."""
Index(None, ANSWERS.c.owner)
