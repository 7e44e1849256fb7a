"""The first tables: triages, jobs, judgings, analyses, groups, allocations.

In: an empty database. Out: its tables. Not here: what later revisions add.
"""

from typing import Final

import sqlalchemy as sa
from alembic import op

from postmortem.fleet.store.column_types import AnyText, PlainJson

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TRIAGE: Final = "postmortem_triages.number"


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "postmortem_triages",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("options", PlainJson, nullable=False),
        sa.Column("began", sa.Float, nullable=False),
        sa.Column("finished", sa.Float),
    )
    _make_jobs()
    _make_analyses()
    _make_groups()
    op.create_table(
        "postmortem_allocations",
        sa.Column("scheduler_id", AnyText, primary_key=True),
        sa.Column("attempt", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("facts", PlainJson, nullable=False),
    )


def _build_text_column(name: str, default: str = "") -> "sa.Column[str]":
    return sa.Column(name, AnyText, nullable=False, server_default=default)


def _make_jobs() -> None:
    op.create_table(
        "postmortem_jobs",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("identity", AnyText, nullable=False, unique=True),
        _build_text_column("title"),
        _build_text_column("scheduler_id"),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("files", PlainJson, nullable=False),
        _build_text_column("digest"),
        sa.Column("first_triage", sa.Integer, sa.ForeignKey(_TRIAGE), nullable=False),
        sa.Column("last_triage", sa.Integer, sa.ForeignKey(_TRIAGE), nullable=False),
    )
    op.create_table(
        "postmortem_judgings",
        sa.Column("triage", sa.Integer, sa.ForeignKey(_TRIAGE), primary_key=True),
        sa.Column("job", sa.Integer, sa.ForeignKey("postmortem_jobs.number"), primary_key=True),
        _build_text_column("key"),
        _build_text_column("state", "waiting"),
        _build_text_column("reason_en"),
        _build_text_column("reason_zh"),
    )
    op.create_index("ix_postmortem_judgings_triage_key", "postmortem_judgings", ["triage", "key"])


def _make_analyses() -> None:
    op.create_table(
        "postmortem_analyses",
        sa.Column("key", AnyText, primary_key=True),
        _build_text_column("state", "waiting"),
        _build_text_column("owner"),
        _build_text_column("claim"),
        sa.Column("lease_until", sa.Float, nullable=False, server_default="0"),
        _build_text_column("reason_en"),
        _build_text_column("reason_zh"),
        sa.Column("cause", AnyText),
        _build_text_column("category"),
        sa.Column("probability", sa.Float, nullable=False, server_default="0"),
        *map(
            _build_text_column,
            ("status", "outcome", "title_en", "title_zh", "fix_en", "fix_zh", "retry"),
        ),
        *map(_build_text_column, ("whose", "failing_line", "template", "fingerprint")),
        sa.Column("frameworks", PlainJson, nullable=False, server_default="[]"),
        _build_text_column("where"),
        sa.Column("hosts", PlainJson, nullable=False, server_default="[]"),
        sa.Column("blob", sa.LargeBinary),
    )
    op.create_index("ix_postmortem_analyses_owner", "postmortem_analyses", ["owner"])


def _make_groups() -> None:
    op.create_table(
        "postmortem_groups",
        sa.Column("identity", AnyText, primary_key=True),
        sa.Column("version", AnyText, primary_key=True),
        sa.Column("cause", AnyText),
        *map(_build_text_column, ("template", "title_en", "title_zh")),
        sa.Column("first_triage", sa.Integer, sa.ForeignKey(_TRIAGE), nullable=False),
    )
    op.create_table(
        "postmortem_group_members",
        sa.Column("triage", sa.Integer, sa.ForeignKey(_TRIAGE), primary_key=True),
        sa.Column("identity", AnyText, primary_key=True),
        sa.Column("version", AnyText, primary_key=True),
        sa.Column("jobs", sa.Integer, nullable=False),
        sa.ForeignKeyConstraint(
            ["identity", "version"], ["postmortem_groups.identity", "postmortem_groups.version"]
        ),
    )
