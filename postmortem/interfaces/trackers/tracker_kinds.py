"""Open a tracker by its kind, and parse references to its issues (`group/project!5`).

In: a name and the settings of a tracker; a reference. Out: `Tracker`; `IssuePlace`. Not here: any
tracker, whether there is such a place.

Each tracker is imported when the settings name it. Another one needs no change here: the settings
name the module of one that is installed beside this package (docs/trackers.md).
"""

import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from pydantic import ValidationError

from postmortem.core.errors import MissingExtra, UsageError, install_hint
from postmortem.core.log_text import compile_lazily
from postmortem.interfaces.trackers.tracker_protocol import ISSUE, REQUEST, IssuePlace, Tracker

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


_MODULES: Final[Mapping[str, str]] = {
    "github": "postmortem.interfaces.trackers.github_tracker",
    "gitlab": "postmortem.interfaces.trackers.gitlab_tracker",
}
_FOR_THE_BOT: Final = frozenset({"kind", "module", "projects"})
"""Settings that stand beside those of a tracker and are none of its own."""


def create_tracker(name: str, settings: Mapping[str, Any]) -> Tracker:
    """Open a tracker: `open_tracker(name, settings)` of its module.

    Args:
        name: under which its deliveries come.
        settings: of this tracker, as they stand in the file: `kind`, one of those known (the name
            itself if it is not given), or `module`; `projects`, which is not for the tracker; and
            what the module knows beside these.

    Raises:
        UsageError: there is no such kind, or its settings are wrong.
        MissingExtra: a package that it needs is not installed.
    """
    own = {key: value for key, value in settings.items() if key not in _FOR_THE_BOT}
    kind = str(settings.get("kind", name))
    path = str(settings.get("module", "")) or _MODULES.get(kind, "")
    if not path:
        known = ", ".join(_MODULES)
        mend = f"choose {known}, or name the module of another one"
        raise UsageError(f"there is no tracker of the kind {kind!r}", name, mend)
    try:
        tracker: Tracker = import_module(path).open_tracker(name, own)
    except ModuleNotFoundError as error:
        if path in _MODULES.values():
            mend = install_hint("bots")
            raise MissingExtra(f"{kind} needs {error.name}", name, mend) from error
        raise UsageError(f"{path} cannot be imported: no {error.name}", name) from error
    except ValidationError as error:
        raise UsageError(_format_validation_errors(error), name, "see docs/bots.md") from None
    return tracker


def _format_validation_errors(error: ValidationError) -> str:
    """Say what is wrong without what stands there: it may be a secret."""
    return "; ".join(
        f"{'.'.join(map(str, one['loc']))}: {one['msg']}"
        for one in error.errors(include_input=False, include_url=False)
    )
