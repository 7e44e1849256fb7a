"""The interface of an issue tracker, as far as the bot needs one.

In: nothing. Out: a protocol. Not here: trackers (a module each, listed in `tracker_kinds`), what is
said (`bots`). docs/trackers.md tells how to write another one.

Every method may be called from several threads at once. Those that ask the server raise
`TrackerError`, `NotThere` or `TryLater` (`tracker_errors`) and nothing else; none of them tries
again by itself, and above all no request that changes something is sent twice.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from postmortem.interfaces.trackers.tracker_values import (
    IssueComment,
    IssuePlace,
    IssueThread,
    LinkedFile,
    NamedLog,
    TrackerEvent,
    TrackerUser,
)


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
