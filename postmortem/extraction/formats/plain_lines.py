"""Write a line of unknown layout the way most programs print one.

In: a cleaned line in ASCII signs (`formats.spelling`). Out: the same line, its figures behind their
names. Not here: what the figures are (`formats.generic`).

Printed tuples, pairs of an `OrderedDict`, NumPy scalars, tensors of one figure, names with gaps,
splits that are called sets and places between a name and its figure each get the form
`name: figure`.
"""

import re
from typing import Final

from postmortem.core.lazy_regex import compile_lazily, compile_lazily_with_words
from postmortem.extraction.formats.losses import find_label_split
from postmortem.extraction.formats.spelling import FIGURE

_SET: Final = compile_lazily(
    r"\b(train(?:ing)?|val(?:idation)?|test|dev)[ _]set(?![A-Za-z])", re.IGNORECASE
)
_PRINTED_TUPLE: Final = compile_lazily(r"[(\['\"]{1,3}([^'\",()]{1,60})['\"],\s?")
"""A text in a list, or in a tuple that Python 2 has printed: `('Loss:', 0.31, 'Acc:', 0.9)`."""
_PAIR: Final = compile_lazily(rf"\(['\"]([A-Za-z][\w ./@-]{{0,60}})['\"], ({FIGURE})\)")
"""An item of a printed `OrderedDict`, or of a list of pairs."""
_SCALAR: Final = compile_lazily(
    rf"(?:np\.(?:float|int)\d{{1,3}}|\b(?:tensor|Array))\(\[?({FIGURE})\]?"
    r"(?:, (?:device='[\w:]{1,20}'|grad_fn=<\w{1,60}>|dtype=[\w.]{1,30}|\w{4,14}=(?:True|False)))"
    r"{0,4}\)"
)
"""A scalar as NumPy 2 writes it, and a tensor of one as PyTorch and JAX do."""
_OBJECTIVE: Final = compile_lazily(
    r"^(?P<place>\W{0,8}(?:[^\W\d_]{2,12}[\s:#=\[(]{0,3}\d{1,9}(?:\s?/\s?\d{1,9})?[\])]?[\s:,|=>-]{1,6})?)"
    r"(?=tensor\([^()]{1,40}, [^()]{0,60}grad_fn=<\w{1,60}>\)\s*$)"
)
"""Before a tensor without a name that still holds its graph, at a place or alone: the objective."""
_GLUED_MEAN: Final = compile_lazily(rf"(?<=\d)\((?={FIGURE}%?\))")
"""A mean in brackets right behind its figure: `loss: 2.81(2.73)`."""
_GAP: Final = compile_lazily(
    r"\b(train(?:ing)?|val(?:id(?:ation)?)?|test|dev|eval|avg|mean)\s{2,6}(?=[A-Za-z])",
    re.IGNORECASE,
)
"""Blanks that line a name up with that of the line above: `Val   Acc`."""
_OVER_SET: Final = compile_lazily(
    r"\b(?P<score>accuracy) (?:of|on|over)\b(?P<rest>[\w -]{1,60}?)(?=\s?(?:[:=]|is\b))",
    re.IGNORECASE,
)
"""A score that says over what it is taken: `Accuracy of the network on the 10000 test images:`."""
_OF_KIND: Final = compile_lazily(
    r"\b(?P<split>train(?:ing)?|val(?:idation)?|test(?:ing)?)"
    r"-(?P<kind>loss|metric), (?P<name>\w{1,30}):"
)
"""A name behind what kind of figure it is: `training-metric, auc: 0.43`."""
_AT_PLACE: Final = compile_lazily(
    r"(?P<name>[A-Za-z][\w./@-]{0,40}(?: [A-Za-z][\w./@-]{0,30}){0,4}) (?:at|after|for) "
    r"(?:global |training )?(?P<place>(?:step|epoch|iter(?:ation)?|episode|round|batch) \d{1,10})"
    rf"(?=\s?[:=]\s?{FIGURE}\s{{0,8}}$)"
)
"""A name whose place stands before its figure: `Valid MRR at step 0: 0.0039`."""
_NAMED_PLACE: Final = compile_lazily_with_words(
    "step epoch iter episode round batch",
    r"(?:step|epoch|iter|iteration|episode|round|batch) \d",
)
_ARROW: Final = compile_lazily(
    r"(?:(?<=[^\W\d_])|(?<=[)\]])|(?<=[A-Za-z@]\d)|(?<=@\d\d))"
    rf"\s{{0,4}}[-=]{{1,2}}>\s{{0,4}}(?={FIGURE}(?!\w))"
)
"""An arrow from a name to its figure: `loss -> 0.31`."""
_GLUED: Final = compile_lazily(
    r"(?<=[\d%\])])(?:/[\w./@+-]{4,200}\.py:\d{1,6}: \w{0,40}Warning\b"
    r"|Traceback \(most recent call|slurmstepd: ).*$"
)
"""What standard error printed right behind a figure."""
_BAR_BEFORE: Final = compile_lazily(
    r"^\s{0,4}\d{1,9}/\d{1,9}\s{0,4}\[[=*>.]{2,60}\][^\n]{0,600}?\d(?=[Ee]poch\b)"
)
"""A bar of Keras in whose line a record follows."""


def write_plainly(text: str) -> str:
    """Write names, splits and figures of a line as they stand on other lines."""
    text = _drop_neighbours(text)
    if "grad_fn=" in text:
        text = _OBJECTIVE.sub(r"\g<place> loss: ", text)
    if ">" in text:
        text = _ARROW.sub(": ", text)
    if " set " in text or "_set_" in text:
        text = _SET.sub(r"\1", text)
    if "(" in text or text.startswith("['"):
        text = _GLUED_MEAN.sub(" (", _write_printed_values(text))
    if "   " in text.strip():
        text = _GAP.sub(r"\1 ", text)
    if "-loss, " in text or "-metric, " in text:
        text = _OF_KIND.sub(_name_kind, text)
    text = _write_place_first(text)
    return _OVER_SET.sub(_name_score_of_set, text) if "ccuracy o" in text else text


def _write_place_first(text: str) -> str:
    """Write the place of a name that stands behind it, before its figure, before the name."""
    is_at = " at " in text or " after " in text or " for " in text
    if not is_at or _NAMED_PLACE.search(text) is None:
        return text
    return _AT_PLACE.sub(r"\g<place>, \g<name>", text, count=1)


def _drop_neighbours(text: str) -> str:
    """Drop what another stream wrote on the line of a record: a warning behind it, a bar before."""
    if "Warning" in text or "Traceback" in text or "slurmstepd" in text:
        text = _GLUED.sub("", text)
    return _BAR_BEFORE.sub("", text) if "/" in text and "poch" in text else text


def _write_printed_values(text: str) -> str:
    """Write what Python printed of tuples, pairs, NumPy's scalars and tensors of one."""
    if text.startswith(("('", '("', "['")):
        text = _PRINTED_TUPLE.sub(r" \1 ", text)
    elif "('" in text or '("' in text:
        text = _PAIR.sub(r"\1: \2", text)
    is_scalar = "np." in text or "tensor(" in text or "Array(" in text
    return _SCALAR.sub(r"\1", text) if is_scalar else text


def _name_kind(match: re.Match[str]) -> str:
    """Write a figure with its split and its name alone."""
    if match["kind"] == "metric":
        return f"{match['split']} {match['name']}:"
    part = "" if match["name"] in {"overall", "total"} else f"{match['name']} "
    return f"{match['split']} {part}loss:"


def _name_score_of_set(match: re.Match[str]) -> str:
    """Write a score before the split that it is taken over."""
    split = find_label_split(match["rest"], len(match["rest"]))
    return f"{split} {match['score']}".lstrip()
