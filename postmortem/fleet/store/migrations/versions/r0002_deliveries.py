"""What trackers deliver, and what was answered.

In: the first tables. Out: two more. Not here: what later revisions add.
"""

import sqlalchemy as sa
from alembic import op

from postmortem.fleet.store.column_types import AnyText, PlainJson

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make them."""
    texts = ("tracker", "delivery", "project", "kind", "name", "ask", "about", "comment")
    op.create_table(
        "postmortem_deliveries",
        sa.Column("number", sa.Integer, primary_key=True),
        *map(_build_text_column, (*texts, "asker", "asker_name", "run")),
        _build_text_column("state", "waiting"),
        _build_text_column("reason"),
        sa.Column("received", sa.Float, nullable=False),
        sa.UniqueConstraint(
            "tracker", "delivery", name="uq_postmortem_deliveries_tracker_delivery"
        ),
    )
    place = ["tracker", "project", "kind", "name"]
    for columns in (["state", "number"], place):
        name = f"ix_postmortem_deliveries_{'_'.join(columns)}"
        op.create_index(name, "postmortem_deliveries", columns)
    op.create_table(
        "postmortem_answers",
        *(sa.Column(name, AnyText, primary_key=True) for name in place),
        *map(_build_text_column, ("comment", "run")),
        sa.Column("labels", PlainJson, nullable=False, server_default="[]"),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("not_before", sa.Float, nullable=False, server_default="0"),
        *map(_build_text_column, ("owner", "claim")),
        sa.Column("lease_until", sa.Float, nullable=False, server_default="0"),
    )
    op.create_index("ix_postmortem_answers_owner", "postmortem_answers", ["owner"])


def _build_text_column(name: str, default: str = "") -> "sa.Column[str]":
    return sa.Column(name, AnyText, nullable=False, server_default=default)
