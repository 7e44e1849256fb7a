"""Memory that rises over a run."""

from postmortem.core.findings import NOWHERE
from postmortem.diagnosis.detectors import machine_limits
from postmortem.diagnosis.detectors.observed import Curves, Observed
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.extraction.facts.series import Series


def memory(*values: float) -> Curves:
    """A memory in MiB that is recorded at each step."""
    one = Series("memory", "test", 0, NOWHERE, "MiB")
    for index, value in enumerate(values):
        one.append(float(index), value, index + 1)
    one.settle()
    return Curves([one])


def test_rising_memory_is_carried_on_to_the_full_device() -> None:
    """Slope and step: 40 MiB a step from 1000 MiB fill 2 GiB at step 26."""
    curves = memory(*(1000.0 + 40 * index for index in range(20)))
    facts = FactStore()
    facts.add("gpu_memory_gib", "2", 2, 0, 1)
    [known] = machine_limits.detect_memory_trend(Observed(facts=facts, curves=curves))
    [unknown] = machine_limits.detect_memory_trend(Observed(curves=curves))
    assert known.id == unknown.id == "memory-rising"
    assert known.message.text("en").endswith("40 a step: 2 GiB are full at step 26")
    assert unknown.message.text("en").endswith("40 a step")


def test_memory_that_stays_level() -> None:
    """The later half of the records, with its bounds; a last leap is no level."""
    level = [1000.0, *[4000.0 + 10 * (index % 3) for index in range(20)]]
    [flat] = machine_limits.detect_memory_trend(Observed(curves=memory(*level)))
    assert (flat.id, flat.line) == ("memory-flat", 21)
    assert "4000 to 4020 MiB" in flat.message.text("en")
    assert not list(machine_limits.detect_memory_trend(Observed(curves=memory(*level, 5000.0))))
