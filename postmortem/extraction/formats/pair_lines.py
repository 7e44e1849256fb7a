"""Read a line that is made of a place, labels and names with figures, whatever the names.

In: a cleaned line (`formats.plain_lines`). Out: `PairLine`, where the line is of nothing else. Not
here: lines that call a figure a loss (`formats.losses`), whether such a line is a record, which it
is once it has come again with other figures (`formats.acceptance`).

The line is read from its beginning to its end; a word that belongs to no name, label or place makes
it prose, of which no figure is taken.
"""

import functools
import re
from typing import Final, NamedTuple

from postmortem.core import names
from postmortem.core.lazy_regex import compile_lazily
from postmortem.extraction.formats.losses import normalise_name
from postmortem.extraction.formats.metric_names import find_known_name
from postmortem.extraction.formats.metric_pairs import KNOWN, is_passed
from postmortem.extraction.formats.spelling import DECIMAL, FIGURE, parse_value

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
_MOST: Final = 64


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
    for _ in range(_MOST):
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
