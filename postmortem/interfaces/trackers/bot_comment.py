"""Keep exactly one bot comment in a thread: posted once, then edited, also under concurrency.

In: a tracker, a place, a key, Markdown. Out: the one comment, on the tracker. Not here: its
text, retries (`bots`).

The mark is the first line of the comment, and no one sees it. It is the only memory that is needed:
a comment with it counts if the tracker's own identity wrote it, so that nobody can have a comment
of theirs taken for it. Nothing is ever posted before the comments were read, and they are read
again behind it: of two that came about all the same (a process that was paused, a request that was
carried out but not answered) the older one stays.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple

from postmortem.core.errors import UsageError
from postmortem.core.log_text import compile_lazily
from postmortem.interfaces.trackers.tracker_protocol import (
    IssueComment,
    IssuePlace,
    NotThere,
    Tracker,
    TryLater,
)

_KEY: Final = compile_lazily(r"[A-Za-z0-9_.:-]{1,80}", re.ASCII)


class CommentResult(NamedTuple):
    """What happened to a comment: posted, edited or unchanged."""

    how: str
    """`posted`, `edited`, `kept` (it says the same already), or `none`: there was none, and none
    was to be made."""
    identity: str = ""
    url: str = ""


def mark_of(key: str) -> str:
    """Give the line that marks a comment.

    Raises:
        UsageError: the key is none.
    """
    if not _KEY.fullmatch(key) or "--" in key:
        raise UsageError(
            "a comment's key has letters, digits and single marks of . _ : -, 80 at most", "key"
        )
    return f"<!-- postmortem {key} -->"


def update_or_create_comment(
    tracker: Tracker,
    place: IssuePlace,
    text: str,
    *,
    key: str,
    known: str = "",
    is_new_wanted: bool = True,
    may_write: Callable[[], bool] = lambda: True,
) -> CommentResult:
    """Have exactly one comment of this key in a place, with this text.

    Args:
        tracker: where.
        place: under which issue.
        text: Markdown, safe to be shown.
        key: tells this comment from others of the same identity.
        known: the id that the comment had when it was seen last; it saves reading all of them.
        is_new_wanted: whether to post one if there is none.
        may_write: asked right before text is written; where it says no, somebody else writes.

    Raises:
        TrackerError: it could not be done. All of it can be tried again.
    """
    wanted = f"{mark_of(key)}\n{text}"
    found = _find_remembered_comment(tracker, place, key, known) or find_marked_comments(
        tracker, place, key
    )
    how = "kept"
    if not found:
        if not is_new_wanted or not may_write():
            return CommentResult("none")
        posted = tracker.post(place, wanted)
        found, how = find_marked_comments(tracker, place, key) or [posted], "posted"
    first, *later = found
    for comment in later:
        with suppress(NotThere):  # another process has seen both as well
            tracker.remove(place, comment.identity)
    if _normalize_text(first.text) != _normalize_text(wanted) and may_write():
        _update_comment(tracker, place, first, wanted)
        how = "posted" if how == "posted" else "edited"
    return CommentResult(how, first.identity, first.url)


def find_marked_comments(tracker: Tracker, place: IssuePlace, key: str) -> list[IssueComment]:
    """Give the comments of a key that this identity wrote, the oldest first.

    Raises:
        TrackerError: they could not be read.
    """
    mine = tracker.myself().identity
    found = [comment for comment in tracker.comments(place) if _is_mine(comment, mine, key)]
    return sorted(found, key=lambda item: item.age)


def _update_comment(tracker: Tracker, place: IssuePlace, comment: IssueComment, text: str) -> None:
    try:
        tracker.edit(place, comment.identity, text)
    except NotThere:  # the comment is gone; whether the issue is will show
        raise TryLater("the comment was deleted meanwhile", str(place)) from None


def _find_remembered_comment(
    tracker: Tracker, place: IssuePlace, key: str, known: str
) -> list[IssueComment]:
    """Read the comment that is remembered; nothing if it is gone, or another by now."""
    if not known:
        return []
    try:
        one = tracker.comment(place, known)
    except NotThere:
        return []
    return [one] if _is_mine(one, tracker.myself().identity, key) else []


def _is_mine(comment: IssueComment, identity: str, key: str) -> bool:
    return comment.author.identity == identity and comment.text.partition("\n")[
        0
    ].strip() == mark_of(key)


def _normalize_text(text: str) -> str:
    """Give a text without what a tracker may change in keeping it."""
    return "\n".join(text.split("\r\n")).strip()
