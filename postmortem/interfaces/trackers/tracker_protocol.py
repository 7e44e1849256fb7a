"""The interface of an issue tracker, as far as the bot needs one: its errors, values and methods.

    PostmortemError
    └── TrackerError     do not try again: the reason stands in it (no permission, a wrong text)
        ├── NotThere     what was asked for is gone
        └── TryLater     it may go well later

In: nothing. Out: the protocol `Tracker`, frozen values, exception types. Not here: trackers (a
module each, listed in `tracker_kinds`), turning answers of a server into errors (each tracker's
module), what is answered (`bots`). docs/trackers.md shows how to write another one.

Every method may be called from several threads at once. Those that ask the server raise the errors
above and nothing else; none of them tries again by itself, and above all no request that changes
something is sent twice. No error carries a secret, a header or the text of a log. Texts are as
people wrote them: hostile until they are escaped.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from postmortem.core.errors import PostmortemError


class TrackerError(PostmortemError):
    """A tracker refuses, and will again."""


class NotThere(TrackerError):  # noqa: N818 -- no error of anybody: issues are deleted
    """The project, issue, comment, run or file is gone, or was never there."""


class TryLater(TrackerError):  # noqa: N818 -- says what to do
    """The tracker is overloaded, limits how often it is asked, or did not answer.

    A request that was to change something may have been carried out all the same.
    """

    def __init__(
        self, what: object, where: object = "", mend: str = "", seconds: float | None = None
    ) -> None:
        """Take for how long the tracker wants to be left alone; None where it does not say."""
        super().__init__(what, where, mend)
        self.seconds = seconds


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


class Tracker(Protocol):
    """An issue tracker, with one identity that writes there."""

    name: str
    """That of the settings: `POST /hooks/{name}`."""
    longest: int
    """UTF-16 units of a comment."""

    # What arrives; nothing is asked of the server.

    def is_authentic(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Say whether a delivery was signed with the secret, compared in constant time.

        Args:
            headers: their names in lower case.
            body: as it came, before anybody has parsed it.
        """

    def event(self, headers: Mapping[str, str], body: bytes) -> TrackerEvent:
        """Read a delivery that is authentic.

        Raises:
            TrackerError: it is not of the form that the tracker's documents promise.
        """

    def linked_files(self, place: IssuePlace, text: str, /) -> Sequence[LinkedFile]:
        """Give the files that a text links to and that the tracker keeps, each once, in order.

        Links to anywhere else are left out: they are never followed.
        """

    # What is asked of the server.

    def myself(self) -> TrackerUser:
        """Tell who writes here; may be remembered."""

    def is_member(self, project: str, account: TrackerUser) -> bool:
        """Say whether somebody may change the project's code or care for its issues."""

    def thread(self, place: IssuePlace) -> IssueThread:
        """Read an issue as it stands now."""

    def comments(self, place: IssuePlace) -> Iterator[IssueComment]:
        """Yield all comments of a place as they stand now; pages are fetched as they are needed."""

    def comment(self, place: IssuePlace, identity: str) -> IssueComment:
        """Read one comment as it stands now."""

    def place_of_run(self, project: str, run: str) -> IssuePlace | None:
        """Give the open request that a run belongs to; None if there is none."""

    def run_logs(self, project: str, run: str, most: int) -> Iterator[NamedLog]:
        """Yield the log of each failed job of a run, its last `most` bytes at least."""

    def fetched(self, file: LinkedFile, most: int) -> bytes:
        """Fetch a file that `linked_files` gave, as it is stored.

        Raises:
            TrackerError: it has more than `most` bytes, or leads to a host that is not allowed.
        """

    # What changes something. Each is one request, sent once.

    def post(self, place: IssuePlace, text: str) -> IssueComment:
        """Write a comment."""

    def edit(self, place: IssuePlace, identity: str, text: str) -> None:
        """Change the text of a comment."""

    def remove(self, place: IssuePlace, identity: str) -> None:
        """Delete a comment."""

    def relabel(self, place: IssuePlace, add: Collection[str], drop: Collection[str]) -> None:
        """Put labels on an issue and take others off; all other labels stay as they are.

        More than one request where the tracker needs that: doing it again is harmless.
        """

    def close(self) -> None:
        """Release connections."""
