"""Every kind of shape once: the one place that says which shapes there are and what follows.

In: the kinds of curves, jobs, machines and told reasons. Out: `CATALOGUE`, by id. Not here: finding
shapes (`shapes.registry`), what a shape means for a cause (`patterns/causes`).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from postmortem.knowledge import (
    curve_kinds,
    departure_kinds,
    job_kinds,
    machine_kinds,
    process_kinds,
    told_kinds,
    unlearnt_kinds,
)
from postmortem.knowledge.kind import AnomalyType

CATALOGUE: Final[Mapping[str, AnomalyType]] = MappingProxyType(
    {
        kind.id: kind
        for module in (
            curve_kinds,
            departure_kinds,
            job_kinds,
            machine_kinds,
            process_kinds,
            told_kinds,
            unlearnt_kinds,
        )
        for kind in module.KINDS
    }
)
