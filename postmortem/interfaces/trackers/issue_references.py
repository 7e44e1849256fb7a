"""Parse a reference to an issue: `owner/name#12`, `group/project#4`, `group/project!5`.

In: a text. Out: `IssuePlace`. Not here: whether there is such a place.
"""

import re
from typing import Final

from postmortem.core.errors import UsageError
from postmortem.core.lazy_regex import compile_lazily
from postmortem.interfaces.trackers.tracker_values import ISSUE, REQUEST, IssuePlace

_PART: Final = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}"
_WRITTEN: Final = compile_lazily(rf"({_PART}(?:/{_PART}){{1,20}})([#!])([1-9]\d{{0,17}})", re.ASCII)


def parse_github_place(text: str) -> IssuePlace:
    """Read an issue or a pull request of GitHub: both have numbers of one row.

    Raises:
        UsageError: it is none.
    """
    found = _WRITTEN.fullmatch(text)
    if found is None or found[2] != "#" or found[1].count("/") != 1:
        raise UsageError("this is no issue or pull request of GitHub", text, "write owner/name#12")
    return IssuePlace(found[1], ISSUE, int(found[3]))


def parse_gitlab_place(text: str) -> IssuePlace:
    """Read an issue or a merge request of GitLab.

    Raises:
        UsageError: it is none.
    """
    found = _WRITTEN.fullmatch(text)
    if found is None:
        raise UsageError(
            "this is no issue or merge request of GitLab",
            text,
            "write group/project#4 for an issue, group/project!5 for a merge request",
        )
    return IssuePlace(found[1], REQUEST if found[2] == "!" else ISSUE, int(found[3]))
