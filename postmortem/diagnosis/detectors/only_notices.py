"""Detect a short log that holds warnings and no sign of a failure.

In: the whole of a short log, what was found in it, how the run ended. Out: the anomaly
`only-notices`. Not here: warnings that are known by name (`patterns/signatures`), output that
simply ends (nobody warns in it), runs with records (`detectors.ending`).
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE
from postmortem.core.message import cut, say
from postmortem.core.printed_words import join_words
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.reading.prefixes import LOUD, Cleaned, clean

_MOST_LINES: Final = 30
_MOST_TEXT: Final = 160
_TELLING: Final = frozenset({"cause", "consequence", "warning"})
"""Roles of what a rule says of a failure."""
_QUIET: Final = frozenset({"TRACE", "DEBUG", "INFO"})
_WARNED: Final = compile_lazily(
    r"^(?:\S{1,300}:\d{1,6}: )?(?:[A-Z]\w{0,40}Warning: |warning: |\[?warn(?:ing)?\b)|"
    + join_words("warns"),
    re.IGNORECASE,
)
_REST: Final = compile_lazily(r"^\s+\S|^\s*$")
"""The source line below a warning of Python, and blank lines."""
_ALARMING: Final = compile_lazily(
    r"error|exception|traceback|fail|fatal|abort|kill|crash|cannot|can't|could(?: not|n't)|unable"
    r"|not (?:found|available|installed|enough|match)|no such|no module|denied|refused"
    r"|time[d ]* ?out|out of memory|\bnans?\b|\binf\b|overflow|illegal|invalid|missing|corrupt"
    r"|\bexit|terminat|insufficient|mismatch|unsupported|not support|exceed"
    r"|too (?:long|old|large|small|few|many)|unreachable|interrupt|cancel|stuck|hang|slow|wait"
    r"|no (?:cuda|gpu)|on (?:the )?cpu|" + join_words("fails"),
    re.IGNORECASE,
)


def detect_only_warnings(observed: Observed) -> Iterable[Anomaly]:
    """Find a text of warnings alone, none of which is a failure by its words."""
    has_findings = any(finding.role in _TELLING for finding, _ in observed.findings)
    is_more = (
        has_findings
        or any(observed.records.values())
        or observed.tracebacks
        or len(observed.tails) != 1
    )
    if is_more or observed.outcome not in {"incomplete", "unknown", "not-a-training-log"}:
        return
    source, (first, text) = next(iter(observed.tails.items()))
    rows = [clean(line) for line in text.split("\n")]
    if first == 1 and len(rows) <= _MOST_LINES and not _ALARMING.search(text):
        warned = _find_first_warning(rows)
        if warned is not None:
            message = say(
                "nothing but notices — {text}",
                text=cut(rows[warned].text.strip(), _MOST_TEXT),
            )
            yield Anomaly("only-notices", message, source, NOWHERE, warned + 1)


def _find_first_warning(rows: Sequence[Cleaned]) -> int | None:
    """Give the first row that warns, where all rows do or are what stands around warnings."""
    warned = [
        number
        for number, row in enumerate(rows)
        if row.level.startswith("WARN") or _WARNED.search(row.text) is not None
    ]
    is_calm = all(
        number in warned
        or row.level in _QUIET
        or (row.level not in LOUD and _REST.match(row.text) is not None)
        for number, row in enumerate(rows)
    )
    return warned[0] if warned and is_calm else None
