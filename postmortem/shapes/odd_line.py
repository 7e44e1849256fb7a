"""What the process that went wrong first says just before, and no other process says.

In: the training losses of all processes, the last lines of their sources. Out: the shape
`odd-line`. Not here: which process went wrong first (`shapes.ranks`).
"""

import re
from collections.abc import Iterable
from typing import Final

from postmortem.lazy_regex import lazy_compile
from postmortem.model.lines import NOWHERE
from postmortem.model.said import cut, quote
from postmortem.reading.prefixes import carries_srun_labels, clean
from postmortem.shapes.observed import Observed
from postmortem.shapes.ranks import first_gone_wrong
from postmortem.shapes.shape import Shape

_BEFORE: Final = 12
"""Lines before the first bad value in which its reason may stand."""
_MOST_TEXT: Final = 300
_NUMBER: Final = lazy_compile(r"[-+]?\d[\w.]*|\b(?:nan|inf)\b", re.IGNORECASE)
_OF_DATA: Final = lazy_compile(
    r"\b(?:non-?finite|not finite|infs?|nans?|corrupt\w*|broken|truncated|empty|outliers?"
    r"|out of range|invalid|malformed|unreadable|bad (?:sample|batch|record|file|image|row))\b",
    re.IGNORECASE,
)
_NAMES_DATA: Final = lazy_compile(
    r"\b(?:samples?|batch(?:es)?|records?|rows?|images?|volumes?|files?|shards?|items?|ids?|ind(?:ex"
    r"|ices)|inputs?|labels?|targets?|voxels?|pixels?|tokens?|utterances?|clips?)\b|\w\.[a-z]\w{1,5}\b",
    re.IGNORECASE,
)


def before_it(observed: Observed) -> Iterable[Shape]:
    """Find a line about data that the first process to go wrong prints alone, just before."""
    first = next(iter(first_gone_wrong(observed)), None)
    if first is None or first.source not in observed.tails:
        return []
    begin, text = observed.tails[first.source]
    own = observed.processes.get(first.source, NOWHERE)
    srun = carries_srun_labels(text)
    kinds: dict[str, set[object]] = {}
    near: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), begin):
        peeled = clean(line, srun=srun)
        where = peeled.where.filled(own)
        kinds.setdefault(_NUMBER.sub("#", peeled.text), set()).add(where)
        if where == first.where and first.line - _BEFORE <= number < first.line:
            near.append((number, peeled.text))
    for number, said in near:
        alone = kinds[_NUMBER.sub("#", said)] == {first.where}
        if alone and _OF_DATA.search(said) and _NAMES_DATA.search(said):
            told = quote(cut(said, _MOST_TEXT))
            return [Shape("odd-line", told, first.source, first.where, number)]
    return []
