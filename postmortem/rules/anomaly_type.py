"""What is known of an anomaly whatever the run: what it means, and what follows from it.

In: rows of `patterns/anomalies`. Out: `AnomalyType`. Not here: an anomaly that was found
(`detectors.anomaly`), what it means for a cause (`patterns/causes`).
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from postmortem.core.message import Message, parse_bilingual


class FeatureCondition(NamedTuple):
    """Bounds of features that all have to be kept (`detectors.curve_features` names them)."""

    role: str
    """The curve that is told and marked, a role of `detectors.role_curves`.

    Empty in `contradicted_by`.
    """
    above: Mapping[str, float]
    below: Mapping[str, float]
    not_above: Mapping[str, float]
    """Bounds that a feature without a value keeps, too."""

    def holds(self, features: Mapping[str, float]) -> bool:
        """Say whether all bounds are kept; a feature that is NaN is neither above nor below."""
        told = {name: features.get(name, math.nan) for name in self.list_features()}
        return (
            all(told[name] >= bound for name, bound in self.above.items())
            and all(told[name] <= bound for name, bound in self.below.items())
            and not any(told[name] > bound for name, bound in self.not_above.items())
        )

    def list_features(self) -> list[str]:
        """List the features that are bounded."""
        return [*self.above, *self.below, *self.not_above]


class AnomalyType(NamedTuple):
    """A row of `patterns/anomalies`."""

    id: str
    meaning: Message
    is_bad: bool = False
    """A run that shows it is not sound: nobody says of it that no failure is shown."""
    is_grave: bool = False
    """In the story of the run it comes before whatever else is known of its line, and is kept where
    there is too much to show."""
    can_be_first: bool = False
    """Where it stands may be the first failure of the run."""
    spoils: bool = False
    """From its place on the weights are lost: a checkpoint behind it is nothing to go back to."""
    is_turn: bool = False
    """It happens at a place of the run and is shown there in the story of the run."""
    spreads: bool = False
    """The all-reduce carries it from the process that went wrong first, which shows how, to the
    others, which show only what came of it."""
    curve_class: str | None = None
    """The class of the model of curves whose runs look like this; none for what is detected."""
    when: tuple["FeatureCondition", ...] = ()
    """Each of them alone shows it; none for what a detector or the model finds."""
    contradicted_by: tuple["FeatureCondition", ...] = ()
    """Each of them alone contradicts the model, which then only doubts."""


def build_anomaly_types(rows: Iterable[Mapping[str, Any]]) -> dict[str, AnomalyType]:
    """Give the types by id."""
    return {
        row["id"]: AnomalyType(
            **{key: value for key, value in row.items() if key in AnomalyType._fields}
            | {
                "meaning": parse_bilingual(row["meaning"]),
                **{
                    key: tuple(_build_condition(entry) for entry in row.get(key) or ())
                    for key in ("when", "contradicted_by")
                },
            }
        )
        for row in rows
    }


def _build_condition(entry: Mapping[str, Any]) -> FeatureCondition:
    bounds = (entry.get(side) or {} for side in ("above", "below", "not_above"))
    return FeatureCondition(entry.get("role", ""), *bounds)
