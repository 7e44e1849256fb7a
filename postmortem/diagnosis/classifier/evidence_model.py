"""The evidence model: how far a verdict that is not proved may be believed.

In: the path of a model, figures by name. Out: log-odds. Not here: the figures
(`inference.belief`), fitting (`learn.evidence_fit`).

The file is JSON: for each question a start and a weight for each figure, so that the log-odds are
one sum that can be read. It stands beside the model of text, whose opinion is among the figures.
"""

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import xxhash

from postmortem.core.errors import InputError
from postmortem.core.message import say

FORMAT: Final = 1


class LogOddsSum(NamedTuple):
    """A sum of figures that answers one question in log-odds."""

    start: float
    weights: Mapping[str, float]

    def odds(self, figures: Mapping[str, float]) -> float:
        """Add up what the figures say; one that has no weight says nothing."""
        return self.start + sum(
            weight * figures.get(name, 0.0) for name, weight in self.weights.items()
        )


class EvidenceModel(NamedTuple):
    """The questions."""

    alone: LogOddsSum
    """Is a verdict of the rules right, by its evidence alone?"""
    together: LogOddsSum
    """The same, where a text is heard as well."""
    proposed: LogOddsSum
    """Is what the text says right, where the rules abstain?"""
    digest: str = ""


_ITSELF: Final = LogOddsSum(0.0, {"odds": 1.0})
UNFITTED: Final = EvidenceModel(_ITSELF, _ITSELF, LogOddsSum(0.0, {"share": 1.0}))
"""What the rules and the text say of themselves."""


def load_evidence_model(path: Path) -> EvidenceModel:
    """Open a model.

    Raises:
        InputError: there is none, or it is damaged.
    """
    try:
        return parse_evidence_model(path.read_bytes())
    except (OSError, LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            say("the evidence model cannot be used"),
            path,
            "install the program again, or leave the models out with --no-model",
        ) from error


@functools.lru_cache(maxsize=4)
def parse_evidence_model(content: bytes) -> EvidenceModel:
    """Give the model that the content of a file holds."""
    model = json.loads(content)
    if model["format"] != FORMAT:
        raise ValueError(model)
    return EvidenceModel(
        _parse_weights(model["alone"]),
        _parse_weights(model["together"]),
        _parse_weights(model["proposed"]),
        xxhash.xxh3_64_hexdigest(content),
    )


def serialize_evidence_model(model: EvidenceModel) -> bytes:
    """Write a model."""
    parts = {name: getattr(model, name) for name in ("alone", "together", "proposed")}
    document: dict[str, Any] = {"format": FORMAT}
    document |= {name: {"start": part.start, **part.weights} for name, part in parts.items()}
    return (json.dumps(document, indent=1) + "\n").encode()


def _parse_weights(entry: Mapping[str, Any]) -> LogOddsSum:
    weights = {name: float(weight) for name, weight in entry.items() if name != "start"}
    return LogOddsSum(float(entry["start"]), weights)
