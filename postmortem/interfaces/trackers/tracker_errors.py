"""Errors of trackers, distinguished by what to do about them.

    PostmortemError
    └── TrackerError     do not try again: the reason stands in it (no permission, a wrong text)
        ├── NotThere     what was asked for is gone
        └── TryLater     it may go well later

In: nothing. Out: exception types. Not here: turning answers of a server into them (each tracker's
module). None of them carries a secret, a header or the text of a log.
"""

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
