"""The settings of the bot.

In: plain values. Out: `BotSettings`. Not here: the settings of a tracker, which its own module
checks (`trackers.tracker_kinds`).
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from postmortem.core.log_text import compile_lazily

_NAME: Final = compile_lazily(r"[a-z0-9][a-z0-9-]{0,39}")
_MENTION: Final = compile_lazily(r"[@/!][A-Za-z0-9][A-Za-z0-9_.-]{0,59}")


def _check_tracker_names(trackers: "dict[str, TrackerEntry]") -> "dict[str, TrackerEntry]":
    for name in trackers:
        if not _NAME.fullmatch(name):
            raise ValueError("a tracker's name has small letters, digits and hyphens")
    return trackers


def _check_mention(text: str) -> str:
    if not _MENTION.fullmatch(text):
        raise ValueError("write @name")
    return text


class TrackerEntry(BaseModel):
    """A tracker: where it is answered; all else is for the module of its kind."""

    model_config = ConfigDict(extra="allow", frozen=True, hide_input_in_errors=True)

    projects: Annotated[tuple[str, ...], Field(min_length=1)]
    """Those that are answered: `owner/name`, `owner/*`."""

    def has(self, project: str) -> bool:
        """Say whether a project is answered; large and small letters are one."""
        return any(fnmatchcase(project.lower(), pattern.lower()) for pattern in self.projects)

    def own(self) -> Mapping[str, Any]:
        """Give what is for the tracker's module."""
        return dict(self.model_extra or {})


class BotSettings(BaseModel):
    """All settings of the bot."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    trackers: Annotated[
        dict[str, TrackerEntry], Field(min_length=1), AfterValidator(_check_tracker_names)
    ]
    """By the name under which they deliver: `POST /hooks/NAME`."""
    mention: Annotated[str, AfterValidator(_check_mention)] = "@postmortem"
    """What a command begins with."""
    commands: Literal["members", "author", "everybody"] = "author"
    """Who may command: who may change the project's code; the author of the issue as well; all."""
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.6
    """Below this probability nothing is said, unless somebody commands."""
    when_unsure: Literal["silent", "ask"] = "silent"
    """Whether a failed run whose cause the log does not show is answered with what is missing."""
    language: Literal["auto", "en", "zh"] = "auto"
    """Of the comments; auto: that of the issue."""
    labels: dict[str, Annotated[str, Field(min_length=1, max_length=50)]] = {}
    """By the id of a cause, or its category: the label for it."""
    workers: Annotated[int, Field(ge=1, le=32)] = 2
    """Issues that are answered at the same time."""
    attempts: Annotated[int, Field(ge=1, le=50)] = 8
    """After so many failed tries an issue is given up."""
    retry_seconds: Annotated[float, Field(gt=0, le=900)] = 5
    """Before the second try; each further one waits twice as long, 15 minutes at most."""
    file_mib: Annotated[float, Field(gt=0, le=1024)] = 32
    """Of one attached file, and of the end of one job's log."""
    files: Annotated[int, Field(ge=1, le=100)] = 8
    """That are fetched for one issue."""
