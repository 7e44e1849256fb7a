"""The catalogue of all anomaly types.

In: the anomaly types of curves, jobs, machines, processes and hints. Out: `CATALOGUE`, by id. Not
here: finding anomalies (`detectors.registry`), what an anomaly means for a cause
(`patterns/causes`).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from postmortem.rules import curve_anomalies as curve_kinds
from postmortem.rules import divergence_anomalies, no_learning_anomalies, nonfinite_hint_anomalies
from postmortem.rules import job_anomalies as job_kinds
from postmortem.rules import machine_anomalies as machine_kinds
from postmortem.rules import process_anomalies as process_kinds
from postmortem.rules.anomaly_type import AnomalyType

CATALOGUE: Final[Mapping[str, AnomalyType]] = MappingProxyType(
    {
        kind.id: kind
        for module in (
            curve_kinds,
            divergence_anomalies,
            job_kinds,
            machine_kinds,
            process_kinds,
            nonfinite_hint_anomalies,
            no_learning_anomalies,
        )
        for kind in module.ANOMALY_TYPES
    }
)
