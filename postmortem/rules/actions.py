"""Kinds of action, and what of a run refutes any fix that takes one.

In: rows of `patterns/actions.yaml`. Out: `ActionRule`. Not here: which fixes a run refutes
(`fixes.refuted`), conditions that one fix names itself (`patterns/fixes`).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from postmortem.rules.conditions import Condition, Conditions


class ActionRule(NamedTuple):
    """A row of `patterns/actions.yaml`."""

    id: str
    pattern: str
    """A regex that is searched in the title and the snippet of a fix."""
    area: str
    """The area of the causes of which it is asked; empty: of all."""
    refuted_by: tuple[Condition, ...]
    """Each of them alone refutes the action."""


def build_action_rule(row: Mapping[str, Any], conditions: Conditions) -> ActionRule:
    """Type a row.

    Raises:
        PatternError: it names no condition that there is.
    """
    asked = conditions.read_conditions({"if": row["refuted_by"]}, "actions.yaml")
    return ActionRule(row["id"], row["pattern"], row.get("area", ""), asked.wanted)
