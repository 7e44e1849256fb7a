"""Find the line that only the process that went wrong first printed just before.

In: the training losses of all processes, the last lines of their sources. Out: the anomaly
`odd-line`. Not here: which process went wrong first (`detectors.ranks`).
"""

import re
from collections.abc import Iterable
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE
from postmortem.core.message import cut, quote
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.ranks import detect_first_nonfinite_process
from postmortem.reading.prefixes import clean, has_srun_labels

_BEFORE: Final = 12
"""Lines before the first bad value in which its reason may stand."""
_MOST_TEXT: Final = 300
_NUMBER: Final = compile_lazily(r"[-+]?\d[\w.]*|\b(?:nan|inf)\b", re.IGNORECASE)
_OF_DATA: Final = compile_lazily(
    r"\b(?:non-?finite|not finite|infs?|nans?|corrupt\w*|broken|truncated|empty|outliers?"
    r"|out of range|invalid|malformed|unreadable|bad (?:sample|batch|record|file|image|row))\b",
    re.IGNORECASE,
)
_NAMES_DATA: Final = compile_lazily(
    r"\b(?:samples?|batch(?:es)?|records?|rows?|images?|volumes?|files?|shards?|items?|ids?|ind(?:ex"
    r"|ices)|inputs?|labels?|targets?|voxels?|pixels?|tokens?|utterances?|clips?)\b|\w\.[a-z]\w{1,5}\b",
    re.IGNORECASE,
)


def detect_odd_data_line(observed: Observed) -> Iterable[Anomaly]:
    """Find a line about data that the first process to go wrong prints alone, just before."""
    first = next(iter(detect_first_nonfinite_process(observed)), None)
    if first is None or first.source not in observed.tails:
        return []
    begin, text = observed.tails[first.source]
    own = observed.processes.get(first.source, NOWHERE)
    srun = has_srun_labels(text)
    kinds: dict[str, set[object]] = {}
    near: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), begin):
        peeled = clean(line, srun=srun)
        where = peeled.where.filled(own)
        kinds.setdefault(_NUMBER.sub("#", peeled.text), set()).add(where)
        if where == first.where and first.line - _BEFORE <= number < first.line:
            near.append((number, peeled.text))
    for number, line_text in near:
        alone = kinds[_NUMBER.sub("#", line_text)] == {first.where}
        if alone and _OF_DATA.search(line_text) and _NAMES_DATA.search(line_text):
            message = quote(cut(line_text, _MOST_TEXT))
            return [Anomaly("odd-line", message, first.source, first.where, number)]
    return []
