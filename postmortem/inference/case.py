"""Everything that a predicate can ask about a job, in one value.

In: gathered findings, tracebacks, shapes, facts. Out: `Case`. Not here: the questions
(`inference.predicates`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from postmortem.model.diagnosis import Environment, Setting
from postmortem.model.findings import Finding, Traceback
from postmortem.shapes.shape import Shape


@dataclass(frozen=True, slots=True)
class Event:
    """A finding with its standing in the run."""

    finding: Finding
    factor: float
    """How much its evidence counts: 1 at the first failure, less for what came after it or was survived."""
    because: str
    """Why the factor is below 1; empty if it is not."""
    is_fatal: bool

    @property
    def role(self) -> str:
        """The finding's role in this run.

        What came after the first failure follows from it, what was survived is a warning.
        """
        return {"after-first-failure": "consequence", "survived": "warning"}.get(
            self.because, self.finding.role
        )


@dataclass(frozen=True, slots=True)
class Case:
    """The evidence of one job."""

    events: tuple[Event, ...]
    tracebacks: tuple[Traceback, ...]
    shapes: Mapping[str, Shape]
    environment: Environment
    settings: Mapping[str, Setting]
    frameworks: Mapping[str, str | None]
    outcome: str
    _by_signature: dict[str, list[int]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    """Numbers of the events by signature: some hundred questions are asked of them."""

    def __post_init__(self) -> None:
        """Sort the events by what they are."""
        for number, event in enumerate(self.events):
            self._by_signature.setdefault(event.finding.signature, []).append(number)

    def signatures(self, name: str) -> list[Event]:
        """Give the events of a signature, in order; a name that ends in `.*` takes all below it."""
        if not name.endswith(".*"):
            return [self.events[number] for number in self._by_signature.get(name, ())]
        below = (
            numbers
            for signature, numbers in self._by_signature.items()
            if signature.startswith(name[:-1])
        )
        return [
            self.events[number]
            for number in sorted(number for numbers in below for number in numbers)
        ]
