"""Detect samples with different references that all get the same output.

In: both ends of each source. Out: the anomaly `collapse`. Not here: figures that say as much
(`detectors.curve_conditions`).
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE
from postmortem.core.message import cut, quote, say
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed

_LABELED_TEXT: Final = compile_lazily(
    r"(?:^|[-|>\]\s])(?:(?P<reference>src|ref(?:erence)?|target|truth|gt|ground[_ ]truth|expected)"
    r"|(?P<output>res|pred(?:icted|iction)?|hyp(?:othesis)?|decoded|generated))"
    r"\s?[:=]\s{0,4}(?P<text>\S.{0,200})$",
    re.IGNORECASE,
)
_TWICE, _FEWEST = 2, 3
_SHORT: Final = 4
"""Letters of an output that is none at all: two samples with it will do."""
_MOST: Final = 100
_LONGEST: Final = 400
"""Characters of a line that may tell of a sample."""


def detect_output_collapse(observed: Observed) -> Iterable[Anomaly]:
    """Find such samples among the last that a source shows."""
    for source in observed.tails:
        pairs = _list_output_pairs(observed.kept_lines(source))[-_MOST:]
        outputs = {output for _, output, _ in pairs}
        references = {reference for reference, _, _ in pairs}
        if len(outputs) != 1 or len(references) != len(pairs) or len(pairs) < _TWICE:
            continue
        output = outputs.pop()
        is_none = len(output.strip("\"' ")) < _SHORT
        if len(pairs) >= _FEWEST or is_none:
            message = say(
                "{count} different samples all get the output {output}",
                count=len(pairs),
                output=quote(cut(output, 60)),
            )
            return [Anomaly("collapse", message, source, NOWHERE, pairs[0][2])]
    return []


def _list_output_pairs(lines: Sequence[tuple[int, str]]) -> list[tuple[str, str, int]]:
    """Give what was expected and what came, with the line of the latter; in whichever order."""
    found, waiting = list[tuple[str, str, int]](), dict[str, tuple[str, int]]()
    for number, line in lines:
        match = _LABELED_TEXT.search(line) if len(line) < _LONGEST else None
        if match is None:
            continue
        kind = "reference" if match["reference"] else "output"
        if kind in waiting:
            waiting.clear()
        waiting[kind] = match["text"].strip(), number
        if len(waiting) == len(("reference", "output")):
            found.append((waiting["reference"][0], *waiting["output"]))
            waiting.clear()
    return found
