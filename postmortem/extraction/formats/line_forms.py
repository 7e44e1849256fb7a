"""Bring a line of unknown layout into its plain form, and read one that is all names and figures.

In: a cleaned line in ASCII signs (`formats.figures`). Out: the same line, its figures behind their
names; `PairLine`, where the line is made of a place, labels and names with figures, and of nothing
else. Not here: what the figures are (`formats.metric_line_parser`), lines that call a figure a loss
(`formats.losses`), whether such a line is a record, which it is once it has come again with other
figures (`formats.acceptance`).

Printed tuples, pairs of an `OrderedDict`, NumPy scalars, tensors of one figure, names with gaps,
splits that are called sets and places between a name and its figure each get the form `name:
figure`.

A line of pairs is read from its beginning to its end; a word that belongs to no name, label or
place makes it prose, of which no figure is taken.
"""

import functools
import re
from typing import Final, NamedTuple

from postmortem.core import names
from postmortem.core.log_text import compile_lazily, compile_lazily_with_words
from postmortem.extraction.formats.figures import DECIMAL, FIGURE, parse_value
from postmortem.extraction.formats.losses import find_label_split, normalise_name
from postmortem.extraction.formats.metric_pairs import KNOWN, is_passed
from postmortem.extraction.formats.record_parts import find_known_name

_SET: Final = compile_lazily(
    r"\b(train(?:ing)?|val(?:idation)?|test|dev)[ _]set(?![A-Za-z])", re.IGNORECASE
)
_PRINTED_TUPLE: Final = compile_lazily(r"[(\['\"]{1,3}([^'\",()]{1,60})['\"],\s?")
"""A text in a list, or in a tuple that Python 2 has printed: `('Loss:', 0.31, 'Acc:', 0.9)`."""
_PRINTED_PAIR: Final = compile_lazily(rf"\(['\"]([A-Za-z][\w ./@-]{{0,60}})['\"], ({FIGURE})\)")
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
        text = _PRINTED_PAIR.sub(r"\1: \2", text)
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


_WORD: Final = r"(?:[^\W\d_][\w./@+-]{0,40}|#\d{1,3}(?!\d)|\((?=[^\W\d_])[\w./@ -]{1,20}\))"
_NAME: Final = rf"(?P<name>{_WORD}(?:[ ]{_WORD}){{0,5}}?)"
_TIME_UNIT: Final = r"(?:[mun]?s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days?)"
_UNIT: Final = r"(?:mm|cm|px|dB|it/s|s/it|\w{1,12}(?:/s(?:ec)?|/step))"
_PAIR: Final = compile_lazily(
    rf"[\"']?{_NAME}[\"']?"
    rf"(?:\s{{0,12}}[:=]{{1,2}}\s{{0,40}}|\s(?:is|was):?\s{{1,4}}(?={DECIMAL})"
    rf"|\s{{1,8}}(?={DECIMAL}))"
    rf"[\"']?\[?(?P<value>{FIGURE})(?<!,)\]?[\"']?"
    rf"(?:\s?(?P<per_cent>%)|\s?(?P<machine>{_TIME_UNIT}|[KMGTk]i?B|[KMG]b)(?![\w.])"
    rf"|\s?{_UNIT}(?!\w))?"
    rf"(?:\s?[(\[]\s{{0,4}}(?:avg:?\s|mean:?\s|±\s?)?(?P<mean>{FIGURE})\s?%?[)\]]"
    rf"|\s?(?:±|\+/-)\s?{FIGURE})?"
    r"(?![\w:/]|\.\d)"
)
_PLACE: Final = compile_lazily(
    r"(?:(?:after|at|in|for|on|of|end of|finished|completed|done|begin)[ ])?"
    r"(?:global[ _]|train(?:ing)?[ _]|cur(?:rent)?[ _])?"
    r"(?P<what>epochs?|ep|eps|episodes?|steps?|iter(?:ation)?s?|it|batch(?:es)?|updates?|rounds?"
    r"|timesteps?|frames?|samples?|fold|task|e|b|s|i|t)"
    r"(?:[ _](?:idx|index|id|no|num|number))?[\"']?"
    r"[\s.:=#\[(]{0,4}\d[\d,]{0,12}[KMk]?(?:\s?(?:/|of)\s?\d{1,10})?[\])]?"
    r"(?:\s?[(\[][^()\[\]]{1,30}[)\]])?:?(?![\w.]|:\d)",
    re.IGNORECASE,
)
_COUNT: Final = compile_lazily(
    r"[\[(<#]{0,2}\s{0,8}\d[\d,]{0,12}(?:\s?(?:/|of)\s{0,8}\d{1,10})?"
    r"(?:\s?\(\s{0,4}\d{1,3}(?:\.\d+)?\s?%\))?[\])>]{0,2}:?(?![\w.]|:\d)"
)
_CLOCK: Final = compile_lazily(
    r"[\[(<]?(?:\d{2,4}[-/]\d\d[-/]\d\d[T _])?\d{1,3}:\d\d(?::\d\d)?(?:[.,]\d{1,9})?"
    r"[\])>]?(?![\w:])"
    r"|[\[(]?(?:\d{1,3}[dhm] ?){0,3}\d{1,9}(?:\.\d{1,9})?"
    rf"\s?{_TIME_UNIT}(?:/\w{{1,10}})?[\])]?(?!\w)"
)
_BRACKETED: Final = compile_lazily(r"\[[^\[\]]{1,40}\]|\([^()=]{1,40}\)")
_LABEL: Final = compile_lazily(
    r"(?P<label>[^\W\d_][\w./'-]{0,40}(?:[ ][^\W\d_][\w./'-]{0,20}){0,4})"
    r"(?:\s?[:|>](?=\s|$|[^\W\d_])|\s[-–](?=\s)|(?=[\])])|(?=\s{2,}))"
)
_SIGNS: Final = compile_lazily(r"[\s,;|/·•*~=<>{}\[\]()+!-]{1,80}|\.(?=\s|$)")
_NO_CURVE: Final = compile_lazily(
    r"^(?:best|min|max|lowest|highest|target|threshold|total params|seed|version|port|pid|rank|gpu"
    r"|time|eta|elapsed|remaining|duration|took|in|of|at|the|a|an"
    r"|cpu|ram|rss|vram|threads?|workers?|util\w{0,8}|temp(?:erature)?|power|progress)(?:$|[ _])"
    r"|(?:time|elapsed|eta|remaining|duration|took|(?<!per[ _])(?:seconds?|secs?)"
    r"|memory|mem|size|params|version"
    r"|[ _](?:to|from|by|than|with|until|over|and|as|at|in|for|of|on|is|was))$",
    re.IGNORECASE,
)
"""A bound, a setting, a time, what the machine does, the middle of a sentence: no curve."""
_MOST_LABELS: Final = 2
_MOST_PARTS: Final = 64


class PairLine(NamedTuple):
    """What a line is made of."""

    values: dict[str, float]
    """Figures by name, in the order of the line."""
    label: str
    """Words before the first figure that name none of them."""
    start: int
    """Where the first pair begins."""


def parse_pair_line(text: str) -> PairLine | None:
    """Read a line from its beginning to its end; None if it is not of pairs alone.

    One figure at least has decimals, is given in per cent, or is no number.
    """
    values, label, start, at, labels, has_decimals = dict[str, float](), "", -1, 0, 0, False
    for _ in range(_MOST_PARTS):
        if at >= len(text):
            break
        if passed := _pass_over(text, at):
            at = passed
        elif pair := _PAIR.match(text, at):
            at = pair.end()
            start = pair.start() if start < 0 else start
            has_decimals |= _take(pair, values)
        elif not values and labels < _MOST_LABELS and (found := _match_label(text, at)):
            label, at, labels = f"{label} {found['label']}", found.end(), labels + 1
        else:
            return None
    return PairLine(values, label.strip(), start) if has_decimals and at >= len(text) else None


def _pass_over(text: str, at: int) -> int:
    """Give where signs, a place, a count or a clock at a position end; 0 if there is none."""
    is_head = at == 0 or text[at - 1] == "]"
    patterns = ((_BRACKETED,) if is_head else ()) + (_SIGNS, _PLACE, _CLOCK, _COUNT)
    return next((found.end() for one in patterns if (found := one.match(text, at))), 0)


def _match_label(text: str, at: int) -> "re.Match[str] | None":
    """Match words that name no figure at a position, unless they say that all is a bound."""
    found = _LABEL.match(text, at)
    return None if found is None or _NO_CURVE.search(found["label"]) else found


def _take(pair: "re.Match[str]", values: dict[str, float]) -> bool:
    """Take a pair; says whether its figure is no whole number."""
    printed = pair["name"]
    value = parse_value(pair["value"])
    if value is None or pair["machine"] or _NO_CURVE.search(printed):
        return False
    name = find_known_name(printed) or "_".join(printed.split())
    if is_passed(name) and name not in KNOWN and "loss" not in name.lower():
        return False
    values.setdefault(name, value)
    if pair["mean"] and (mean := parse_value(pair["mean"])) is not None:
        values.setdefault(f"{name}{names.SO_FAR}", mean)
    return bool(pair["per_cent"]) or not pair["value"].lstrip("+-").replace(",", "").isdecimal()


def add_other_pairs(text: str, values: dict[str, float], printed: str) -> None:
    """Add to the figures of a line what it holds under further names, if it is of pairs alone.

    Args:
        text: the line.
        values: its figures so far.
        printed: the name under which `loss` was printed.
    """
    pairs = parse_pair_line(text)
    if pairs is None:
        return
    known = {_get_last_word(name) for name in (printed, *values)}
    for name, value in pairs.values.items():
        if _get_last_word(name) not in known and "loss" not in name.lower():
            values.setdefault(name, value)


@functools.lru_cache(4096)
def _get_last_word(name: str) -> str:
    """Give the last word of a name, with which each way to write it ends."""
    return normalise_name(name.removesuffix(names.SO_FAR)).rsplit("_", 1)[-1]
