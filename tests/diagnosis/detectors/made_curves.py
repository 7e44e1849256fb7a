"""The shapes of curves that a test makes up."""

from collections.abc import Mapping, Sequence

from postmortem.core.findings import NOWHERE
from postmortem.diagnosis.detectors import registry
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Series


def found(
    values: Mapping[str, Sequence[float | None]],
    *,
    first: float = 0.0,
    steps: Sequence[float] | None = None,
) -> set[str]:
    """The shapes of one process with such curves."""
    series = make_series(values, first=first, steps=steps)
    return set(registry.detect_anomalies(Observed(series=series)))


def make_series(
    values: Mapping[str, Sequence[float | None]],
    *,
    first: float = 0.0,
    steps: Sequence[float] | None = None,
) -> list[Series]:
    """Make the curves of one process; the n-th record stands on line n.

    It is of step `first` + 10 n unless steps are given; None where it lacks the value.
    """
    series = []
    for name, figures in values.items():
        one = Series(name, "test", 0, NOWHERE)
        for index, value in enumerate(figures):
            if value is not None:
                one.append(steps[index] if steps else first + 10.0 * index, value, index + 1)
        one.settle()
        series.append(one)
    return series
