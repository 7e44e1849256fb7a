"""postmortem: the log of a failed training run in; the cause, the evidence and the fixes out.

>>> import postmortem
>>> report = postmortem.analyze("run.log")          # doctest: +SKIP
>>> report.verdict.cause, report.render("html")     # doctest: +SKIP

What it exports is imported when it is asked for: `postmortem.recorder` runs within a training and
takes nothing along.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from postmortem.api import Report, analyze
    from postmortem.core.diagnosis import Analysis
    from postmortem.core.errors import (
        InputError,
        MissingExtra,
        PatternError,
        PostmortemError,
        UsageError,
    )
    from postmortem.reading.sources import Stream

__all__ = [
    "Analysis",
    "InputError",
    "MissingExtra",
    "PatternError",
    "PostmortemError",
    "Report",
    "Stream",
    "UsageError",
    "analyze",
]

_PLACES = {
    "Analysis": "postmortem.core.diagnosis",
    "Report": "postmortem.api",
    "Stream": "postmortem.reading.sources",
    "analyze": "postmortem.api",
}
"""Where what is exported stands, if not among the errors."""


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_PLACES.get(name, "postmortem.core.errors")), name)


def __dir__() -> list[str]:
    """List what is exported."""
    return [*globals(), *__all__]
