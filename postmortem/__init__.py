"""postmortem: the log of a failed training run in; the cause, the evidence and the fixes out.

>>> import postmortem
>>> report = postmortem.analyze("run.log")          # doctest: +SKIP
>>> report.verdict.cause, report.render("html")     # doctest: +SKIP
"""

from postmortem.api import Report, analyze
from postmortem.errors import InputError, MissingExtra, PatternError, PostmortemError, UsageError
from postmortem.model.diagnosis import Analysis
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
