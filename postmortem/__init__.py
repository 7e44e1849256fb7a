"""postmortem: the log of a failed training run in; the cause, the evidence and the fixes out.

>>> import postmortem
>>> report = postmortem.analyze("run.log")          # doctest: +SKIP
>>> report.verdict.cause, report.render("html")     # doctest: +SKIP
"""

from postmortem.errors import InputError, MissingExtra, PatternError, PostmortemError, UsageError
from postmortem.library import Report, analyze
from postmortem.reading.sources import Stream

__all__ = [
    "InputError",
    "MissingExtra",
    "PatternError",
    "PostmortemError",
    "Report",
    "Stream",
    "UsageError",
    "analyze",
]
