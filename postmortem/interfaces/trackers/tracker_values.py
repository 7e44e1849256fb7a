"""Values exchanged with a tracker, the same for all of them.

In: nothing. Out: frozen values. Not here: how a tracker spells them (its own module), what is
answered (`bots`). Texts are as people wrote them: hostile until they are escaped.
"""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

ISSUE: Final = "issue"
REQUEST: Final = "request"
"""A request to merge, where the tracker numbers those apart from issues; where both share one row
of numbers, it is an `ISSUE` too."""

OPENED: Final = "opened"
"""An issue was opened, or its text changed."""
COMMENTED: Final = "commented"
"""A comment was written, or its text changed."""
FAILED_RUN: Final = "failed-run"
"""A run of the tracker's continuous integration ended with a failure."""
PING: Final = "ping"
"""The tracker tries the address."""
OTHER: Final = "other"
"""Anything that nobody answers."""


class IssuePlace(NamedTuple):
    """An issue or a request to merge: where the comment stands."""

    project: str
    """As the tracker spells it: `owner/name`, `group/subgroup/name`."""
    kind: str
    """`ISSUE` or `REQUEST`."""
    number: int

    def __str__(self) -> str:
        """Give it as people write it."""
        return f"{self.project}{'!' if self.kind == REQUEST else '#'}{self.number}"


class TrackerUser(NamedTuple):
    """Who writes."""

    identity: str
    """Stays when the name changes; only equality counts."""
    name: str
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class IssueComment:
    """A comment under an issue."""

    identity: str
    """Unique within its place."""
    author: TrackerUser
    text: str = field(repr=False)
    created: str = ""
    """When, in a form that sorts: ISO 8601 in UTC."""
    url: str = ""
    """For people."""

    @property
    def age(self) -> tuple[str, int, str]:
        """Sort by this: the oldest first, alike for everybody who looks."""
        return self.created, len(self.identity), self.identity


@dataclass(frozen=True, slots=True)
class IssueThread:
    """An issue as it stands now, without its comments."""

    place: IssuePlace
    author: TrackerUser
    title: str = field(repr=False)
    text: str = field(repr=False)
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrackerEvent:
    """What a delivery of a webhook says."""

    delivery: str
    """The tracker's own id of it: the same when it is delivered again."""
    kind: str
    """`OPENED`, `COMMENTED`, `FAILED_RUN`, `PING` or `OTHER`."""
    project: str = ""
    author: TrackerUser | None = None
    """Who did it."""
    place: IssuePlace | None = None
    """None for a run: its place is asked for later."""
    comment: IssueComment | None = None
    run: str = ""
    """The id of a run."""


class LinkedFile(NamedTuple):
    """A file that a text links to, and that the tracker keeps."""

    name: str
    """A label; no path is ever made of it."""
    url: str


class NamedLog(NamedTuple):
    """A log with its label."""

    name: str
    content: bytes
