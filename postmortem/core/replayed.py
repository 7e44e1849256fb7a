"""The result of replaying a capsule: trials, modules, the faulty sample, a verdict for each cause.

In: nothing. Out: frozen values. Not here: running (`replay`), rendering (`report`).
"""

from dataclasses import dataclass, field
from typing import Generic

from postmortem.core.wording import Text, get_no_text


@dataclass(frozen=True, slots=True)
class ReplayTrial(Generic[Text]):
    """The window run again, as it was or with one thing changed."""

    id: str
    title: Text
    outcome: str
    """finite | not-finite | diverges | skipped | failed"""
    text: Text
    """What happened, or why it was skipped."""
    losses: tuple[float | None, ...] = ()
    """Of each step."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class CauseTested(Generic[Text]):
    """The result of the trials for one cause."""

    cause: str
    title: Text
    verdict: str
    """confirmed | refuted | not-reproduced | not-testable"""
    reasons: tuple[Text, ...] = ()
    """The observations that decide, or why nothing can be said."""


@dataclass(frozen=True, slots=True)
class ModulePeak:
    """The greatest absolute values at one module, in the order of the forward pass."""

    module: str
    kind: str
    output: float
    """Of the finite numbers in its output."""
    is_finite: bool = True
    gradient: float | None = None
    gradient_is_finite: bool = True


@dataclass(frozen=True, slots=True)
class FaultySample(Generic[Text]):
    """A sample without which the window stays finite."""

    step: int
    micro_batch: int
    position: int
    """Within the micro-batch, from 0."""
    index: int | None
    """In the data set, if it was recorded."""
    preview: tuple[Text, ...] = ()
    """Shapes and ranges, never what stands in it."""


@dataclass(frozen=True, slots=True)
class Replayed(Generic[Text]):
    """Everything that a replay has found out."""

    capsule: str
    device: str
    recorded_on: str
    reason: Text
    summary: Text
    reproduced: str
    """yes | no | intermittent | nothing-failed | not-run"""
    fidelity: Text
    """Bit-equal to what was recorded, or by how much it differs."""
    trials: tuple[ReplayTrial[Text], ...]
    tested: tuple[CauseTested[Text], ...]
    place: Text = field(default_factory=get_no_text)
    """The first module, and the first operation, that left the finite range."""
    module: str = ""
    direction: str = ""
    """forward | backward | empty"""
    operation: str = ""
    culprits: tuple[FaultySample[Text], ...] = ()
    peaks: tuple[ModulePeak, ...] = ()
    limit: float = 0.0
    """The largest number of the type that the modules were computed in."""
    limit_of: str = ""
    peaks_of: Text = field(default_factory=get_no_text)
    """Of which run the peaks are."""
    notes: tuple[Text, ...] = ()

    @property
    def confirmed(self) -> tuple[CauseTested[Text], ...]:
        """Give the causes that the replay proves."""
        return tuple(cause for cause in self.tested if cause.verdict == "confirmed")
