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

from postmortem.fleet.store.column_types import AnyText, PlainJson
from postmortem.fleet.store.stored_rows import WAITING

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


def _build_text_column(name: str, default: str = "") -> "Column[str]":
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
    _build_text_column("title"),
    _build_text_column("scheduler_id"),
    Column("attempt", Integer, nullable=False),
    Column("files", PlainJson, nullable=False),
    _build_text_column("digest"),
    Column("first_triage", ForeignKey(TRIAGES.c.number), nullable=False),
    Column("last_triage", ForeignKey(TRIAGES.c.number), nullable=False),
)
"""One row a job, over all triages."""

JUDGINGS: Final = Table(
    f"{PREFIX}judgings",
    METADATA,
    Column("triage", ForeignKey(TRIAGES.c.number), primary_key=True),
    Column("job", ForeignKey(JOBS.c.number), primary_key=True),
    _build_text_column("key"),
    _build_text_column("state", WAITING),
    _build_text_column("reason_en"),
    _build_text_column("reason_zh"),
)
"""One row a job and triage: two triages at once do not take each other's jobs away."""
Index(None, JUDGINGS.c.triage, JUDGINGS.c.key)

ANALYSES: Final = Table(
    f"{PREFIX}analyses",
    METADATA,
    Column("key", AnyText, primary_key=True),
    _build_text_column("state", WAITING),
    _build_text_column("owner"),
    _build_text_column("claim"),
    Column("lease_until", Float, nullable=False, server_default="0"),
    _build_text_column("reason_en"),
    _build_text_column("reason_zh"),
    Column("cause", AnyText),
    _build_text_column("category"),
    Column("probability", Float, nullable=False, server_default="0"),
    _build_text_column("status"),
    _build_text_column("outcome"),
    _build_text_column("title_en"),
    _build_text_column("title_zh"),
    _build_text_column("fix_en"),
    _build_text_column("fix_zh"),
    _build_text_column("retry"),
    _build_text_column("whose"),
    _build_text_column("failing_line"),
    _build_text_column("template"),
    _build_text_column("fingerprint"),
    Column("frameworks", PlainJson, nullable=False, server_default="[]"),
    _build_text_column("where"),
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
    _build_text_column("template"),
    _build_text_column("title_en"),
    _build_text_column("title_zh"),
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
    _build_text_column("tracker"),
    _build_text_column("delivery"),
    _build_text_column("project"),
    _build_text_column("kind"),
    _build_text_column("name"),
    _build_text_column("ask"),
    _build_text_column("about"),
    _build_text_column("comment"),
    _build_text_column("asker"),
    _build_text_column("asker_name"),
    _build_text_column("run"),
    _build_text_column("state", WAITING),
    _build_text_column("reason"),
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
    _build_text_column("comment"),
    _build_text_column("run"),
    Column("labels", PlainJson, nullable=False, server_default="[]"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("not_before", Float, nullable=False, server_default="0"),
    _build_text_column("owner"),
    _build_text_column("claim"),
    Column("lease_until", Float, nullable=False, server_default="0"),
)
"""One row a place that was asked about: what stands there by now, and who is at it."""
Index(None, ANSWERS.c.owner)
