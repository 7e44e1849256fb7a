"""Parse figures in any spelling that programs use, and the step and epoch that a line prints.

In: text; a cleaned line of unknown layout, where its losses begin. Out: the figure, and the pieces
of patterns that look for figures of any spelling; `Position`; what stands before a mapping of names
to figures as Python prints it, which may name the place, and its items. Not here: the numbers of a
line that a template leaves open (`formats.templates`), what the items are
(`formats.metric_line_parser`), dictionaries that a framework logs, which have rules of their own,
the step of the run of one that is counted anew in each epoch (`formats.bars`).
"""

import functools
import math
import re
from typing import Final, NamedTuple

from postmortem.core.log_text import compile_lazily, may_hold
from postmortem.core.printed_words import join_words, list_words

_NOT_FINITE: Final = r"(?:nan|NaN|NAN|inf|Inf|Infinity)(?:\.0|xxx)?"
_POWER: Final = r"[eE][+-]?\d{1,9}"
FIGURE: Final = rf"[+-]?(?:{_NOT_FINITE}|\d[\d,]*(?:\.\d*)?(?:{_POWER}|f0)?|\.\d+(?:{_POWER})?)"
"""A figure of any spelling."""
_DIGIT: Final = compile_lazily(r"\d")
_NO_NUMBERS: Final = ("nan", "inf")
DECIMAL: Final = r"[+-]?(?:nan\b|NaN\b|NAN\b|inf\b|Inf\b|\d[\d,]*\.\d|\d+\.?[eE][+-]?\d|\.\d)"
"""The beginning of a figure that is no whole number: needs no colon before it to be one's value."""
_BEGINNING: Final = r"[+-]?(?:\.?\d|[nN][aA][nN]|[iI][nN][fF])"
_QUOTE: Final = r"(?:tensor\(|np\.float\d{1,3}\(|[\[(\"'])?"
MAY_HOLD_VALUE: Final = compile_lazily(
    rf"[:=|\]：＝]\s{{0,40}}{_QUOTE}{_BEGINNING}"
    rf"|[\s\u4e00-\u9fff]{_QUOTE}{DECIMAL}"
    rf"|(?:is|was):?\s{{1,4}}{_BEGINNING}"
    rf"|(?:\s\s|\t){_QUOTE}{_BEGINNING}"
    r"|\d\s?(?:/\s?s|tok|sam|im|ex|seq|fra|ms|[KMGT]i?B)|[it\d] \[|━|ode"
)
"""Stands in every text that holds a figure which is the value of some name: behind a sign, with
decimals behind a blank, before a unit, in a cell, in a bar."""
_NUMBER: Final = compile_lazily(
    r"[+-]?(?:(?:nan|inf(?:inity)?)(?=xxx(?!x)|(?![a-z]))|(?:\d[\d,]*\.?\d*|\.\d+)(?:e[+-]?\d+)?)",
    re.IGNORECASE,
)
_VALUE_START: Final = compile_lazily(r"(?:tensor\(|np\.float\d+\(|\[|')*\s*")

_IS_CHINESE: Final = compile_lazily(r"[：，；＝（）]|" + join_words("figure-in-line"))
_WIDE: Final = tuple(zip("：，；＝（）", ":,;=()", strict=True))
_CHINESE: Final[tuple[tuple[str, "re.Pattern[str] | None", str], ...]] = tuple(
    (word, compile_lazily(pattern) if pattern else None, english)
    for word, pattern, english in list_words("figures")
)
"""What Chinese programs call the figures that are looked for: a word that must be there, the whole
pattern if it is more than the word, and how it is written."""


def may_hold_figure(text: str) -> bool:
    """Say whether a text may hold a figure: a digit, or what is printed where there is none."""
    return _DIGIT.search(text) is not None or may_hold(text, _NO_NUMBERS)


def convert_to_ascii(text: str) -> str:
    """Write a line with full-width signs or Chinese names as it would be written in English."""
    if text.isascii() or not _IS_CHINESE.search(text):
        return text
    for wide, sign in _WIDE:
        text = text.replace(wide, sign)
    for word, pattern, english in _CHINESE:
        if word in text:
            text = text.replace(word, english) if pattern is None else pattern.sub(english, text)
    return text.replace(" loss loss", " loss").replace(" loss Loss", " loss").replace("  ", " ")


def parse_value(text: str) -> float | None:
    """Read a metric value in any spelling that programs print.

    Nan, 1,234, '1.2', tensor(0.5, device=…), 412GiB; None if it is no number.
    """
    try:
        return float(text)
    except ValueError:
        if not text:
            return None
    start = _VALUE_START.match(text)
    match = _NUMBER.match(text, start.end() if start else 0)
    if match is None:
        return None
    try:
        return float(match[0].replace(",", ""))
    except ValueError:
        return None


_STEP_NAME: Final = (
    r"(?=[GgSsIiBbUuEeRrt])(?:(?<![A-Za-z_])(?<!episode-)"
    r"|(?<=_)(?:(?<=global_)|(?<=train_)|(?<=num_)|(?<=[Aa]cc_)|(?<=[Cc]ur_)))"
    r"(?:global[_ ]?steps?|[Ss]teps?|STEP|[Ii]ter(?:ation)?s?(?:[_ ]i(?:dx|ndex))?|ITER|it"
    r"|[Bb]atch(?:[_ ]i(?:dx?|ndex))?|[Uu]pdates?|[Ee]pisode|EPISODE|[Rr]ound|ROUND|t(?==))"
)
_STEP: Final = compile_lazily(
    _STEP_NAME + r"[\"']?\s{0,4}[:=#\[(]{0,2}\s{0,16}"
    r"(?P<value>\d{1,3}(?:,\d{3}){1,3}(?!\d)|\d{1,10}(?:(?:\.\d{1,3})?[KM](?!\w))?)"
    r"(?:\s?/\s?(?P<of>\d{1,10}))?(?![\w%]|\.\d)"
)
_FRACTION: Final = compile_lazily(
    r"(?<![\w.,/:-])(?P<value>\d{1,10})\s?/\s?(?P<of>\d{1,10})[\]\s:|,-]{1,6}$"
)
"""A position of a length right before the loss, whatever it is called."""
_IN_ONE_BRACKET: Final = compile_lazily(
    r"^\s{0,4}[\[(]\s{0,4}(?P<epoch>\d{1,6})(?:,| :)\s{1,9}(?P<value>\d{1,10})[\])][\s:|,-]{1,4}"
)
"""The epoch and the step within it before anything else: `[2,  4000] loss: 1.37`."""
_FRACTION_BEFORE: Final = compile_lazily(
    r"(?<![\w.,/:-])(?P<value>\d{1,7})\s?/\s?(?P<of>\d{1,7})\]?[\s|,]{0,3}[\[(]\s{0,9}$"
)
"""Another position right before it: that of the epoch, as in `[4/25][300/1583]`."""
_BEHIND_EPOCH: Final = compile_lazily(
    r"\]?[ ,:]{0,3}[\[(]\s{0,9}(?P<value>\d{1,10})\s?/\s?(?P<of>\d{1,10})[\])]"
)
"""A position of a length in brackets right behind the epoch: `Epoch: [3][ 40/1000]`."""
_COUNTED: Final = compile_lazily(
    r"(?<![\w.,/:+-])(?P<value>\d{1,10})\s?/\s{0,8}(?P<of>[1-9]\d{0,9})"
    r"(?![\w.%/:]|\s?[(%]|\s\d\d:\d\d)"
)
"""A position of a length anywhere between the epoch and the losses: `i = 3 / 500, lr = 0.1, `."""
_NO_STEP: Final = compile_lazily(
    r"(?:acc\w*|correct|folds?|patience|counter|gpus?|mem\w*|ranks?|workers?|trials?|runs?|seeds?"
    r"|best|samples?|images?|tokens?|files?|parts?|epochs?|ep|wins?|won)(?: is)?\W{0,4}$",
    re.IGNORECASE,
)
"""What is counted or shared out where a fraction is no step."""
_EPOCH_BEFORE: Final = compile_lazily(
    r"^\W{0,8}\[\s{0,4}(?P<value>\d{1,6})\s?/\s?(?P<of>\d{1,6})\][\s:|,-]{1,4}$"
)
"""The epoch before a step that has a length of its own: `[1/30] iter: 100/278`."""
_NUMBERED: Final = compile_lazily(
    r"^\s{0,4}(?:[\[(]?#|[\[(]\s{0,9}|(?!(?i:[a-z]ps|lr|gpu|rank|top|time|eta|acc\w*|mem\w*|best)\b)"
    r"[A-Za-z]{1,12}(?:[.:=]\s{0,4}|\s))?(?P<value>\d{1,10})(?![.:/-]\d|,\d{3})"
    r"(?:\s?\|\s?\d[\d.]{0,12}(?=\]))?[\])]?[\s:|,-]{1,4}"
)
"""A number before anything else, in brackets or not: a step if it grows, maybe a rank."""
_LEADING: Final = compile_lazily(
    r"^\s{0,8}(?:[>*|\[(]{1,3}\s{0,3})?(?:[A-Za-z]{1,12}[.: #=]{0,4})?"
    r"[\[(#]?\s{0,8}(?P<value>\d{1,9})"
    r"(?:\s?/\s?(?P<of>\d{1,10}))?[\])]?(?=[\s|,;]|[:-](?!\d))"
)
"""A count before anything else, under whatever short name."""
_EPOCH: Final = compile_lazily(
    r"(?=[EeÉé])(?<![A-Za-z_])(?:[Ee]poch(?:s(?=: \d{1,7}/\d))?|EPOCH|ep|[EeÉé]po(?:ca|che|que|ka))"
    r"(?: is| num(?:ber)?| no\.?)?[\"']?\s{0,4}[:=#\[(]{0,2}\s{0,8}\[?\s{0,4}"
    r"(?P<value>\d{1,7}(?:\.\d+)?)(?P<of>/\d+)?"
)

PLACES: Final = (_STEP, _EPOCH)
"""What a line holds that names a step or an epoch."""
LEADING: Final = _LEADING

_THOUSANDS: Final = {"K": 1000, "M": 1_000_000}
"""What may stand behind a rounded step: `step:1.2K`."""


class Position(NamedTuple):
    """Where a line stands; NaN is what it does not print."""

    step: float
    epoch: float
    total: float
    """Steps of the run."""
    length: float
    """Steps of an epoch, or of the run."""
    is_printed: bool
    """A step or an epoch is printed, not a mere number in brackets."""
    is_numbered: bool
    """The step is a mere number in brackets."""
    scale: int
    """Steps in one of the unit in which the step is printed: 1000 of `3K`."""


class StepAndEpoch(NamedTuple):
    """The step and the epoch that a line calls so."""

    step: re.Match[str] | None
    epoch: re.Match[str] | None

    def __bool__(self) -> bool:
        """Say whether there is either."""
        return self.step is not None or self.epoch is not None


@functools.lru_cache(maxsize=64)
def parse_step_and_epoch(text: str) -> StepAndEpoch:
    """Find the step and the epoch that a line calls so; each way of reading a line asks."""
    return StepAndEpoch(_STEP.search(text), _EPOCH.search(text))


def find_position(text: str, named: StepAndEpoch, start: int, *, is_bar: bool = False) -> Position:
    """Read the step and the epoch of a line whose losses begin at a position.

    What a bar has counted stands behind its label.
    """
    # Beside an epoch, the second figure of 3/20 is the length of the epoch.
    total = _parse_number(named.step, "of") if named.epoch is None else math.nan
    step, epoch = (
        _find_unnamed_step(text, named, start, is_bar=is_bar)
        if named.step is None
        else StepAndEpoch(named.step, named.epoch or _find_epoch_before(text, named.step))
    )
    is_named = step is not None or epoch is not None
    if not is_named and (pair := _IN_ONE_BRACKET.search(text, 0, start)):
        return Position(
            float(pair["value"]), float(pair["epoch"]), math.nan, math.nan, True, False, 1
        )
    step = step if is_named else _NUMBERED.search(text, 0, start)
    is_numbered = step is not None and not is_named
    return Position(
        _parse_number(step, "value"),
        _parse_number(epoch, "value"),
        total,
        math.nan if is_numbered else _parse_number(step, "of"),
        bool(step or epoch) and not is_numbered,
        is_numbered,
        1 if step is None else _THOUSANDS.get(step["value"][-1], 1),
    )


def _find_unnamed_step(text: str, named: StepAndEpoch, start: int, *, is_bar: bool) -> StepAndEpoch:
    """Find the step of a line that calls none so: behind its epoch, or right before its losses."""
    epoch = named.epoch
    step = None if epoch is None else _BEHIND_EPOCH.match(text, epoch.end())
    if step is not None:
        return StepAndEpoch(step, epoch)
    step = _find_fraction(text, start)
    if step is None and not is_bar:
        step = _find_counted(text, epoch.end() if epoch else 0, start)
    if step is None or (epoch is not None and step.start() < epoch.end()):
        return StepAndEpoch(None, epoch)
    if epoch is None:
        epoch = _FRACTION_BEFORE.search(text, max(0, step.start() - 24), step.start())
    return StepAndEpoch(step, epoch)


def _find_fraction(text: str, end: int) -> re.Match[str] | None:
    """Find a position of a length before the losses; one of one tells nothing."""
    found = _FRACTION.search(text, max(0, end - 40), end)
    if found is None or found["of"] != "1":
        return found
    return _FRACTION.search(text, max(0, end - 40), found.start() - 1) or found


def _find_counted(text: str, start: int, end: int) -> re.Match[str] | None:
    """Find the last position of a length between two places of a line."""
    return next(
        (
            found
            for found in reversed(list(_COUNTED.finditer(text, start, end)))
            if not _NO_STEP.search(text, max(0, found.start() - 16), found.start())
        ),
        None,
    )


def _find_epoch_before(text: str, step: re.Match[str]) -> re.Match[str] | None:
    """Find the epoch that stands alone before a step of a length."""
    return _EPOCH_BEFORE.search(text, 0, step.start()) if step["of"] else None


def find_leading_count(text: str) -> re.Match[str] | None:
    """Find a number that begins a line, under whatever name: a step if it grows."""
    return _LEADING.match(text)


def parse_epoch_label(label: str) -> str:
    """Give the epoch that the label of a bar names; empty if it names none."""
    epoch = _EPOCH.search(label)
    return epoch["value"] if epoch else ""


def _parse_number(match: re.Match[str] | None, group: str) -> float:
    text = match[group] or "" if match is not None else ""
    value = parse_value(text)
    return math.nan if value is None else value * _THOUSANDS.get(text[-1:], 1)


_PRINTED_ITEM: Final = rf"['\"][A-Za-z][\w ./@-]{{0,60}}['\"]: (?:{FIGURE}|None|null)"
PRINTED_ITEM: Final = compile_lazily(rf"\{{{_PRINTED_ITEM}")
"""How such a mapping begins."""
_MAPPING_ITEM: Final = compile_lazily(rf"['\"](?P<name>[^'\"]+)['\"]: (?P<value>{FIGURE})")
_PRINTED_MAPPING: Final = compile_lazily(
    r"(?P<label>[^{}\n]{0,80}?)\s?[:=]?\s?"
    rf"\{{(?P<items>(?:{_PRINTED_ITEM}(?:, )?){{1,40}})\}}\s*$"
)
"""A printed mapping of names to figures and nothing else, behind words or alone."""
PLACE_ITEM: Final = compile_lazily(
    r"(?:(?:global|train(?:ing)?|total|env)[ _]?)?"
    r"(?:(?P<epoch>epochs?)|(?:time)?steps?|iter(?:ation)?s?|episodes?|updates?)"
    r"(?:[ _](?:num|number|count|idx))?$",
    re.IGNORECASE,
)
"""The item of a printed mapping that tells its place."""


def split_printed_items(text: str) -> tuple[str, dict[str, float]]:
    """Give what stands before a printed mapping that ends a line, and its figures; else none."""
    found = _PRINTED_MAPPING.match(text) if "{" in text else None
    if found is None or parse_step_and_epoch(found["label"]):
        return "", {}
    items = (
        (item["name"], parse_value(item["value"]))
        for item in _MAPPING_ITEM.finditer(found["items"])
    )
    return found["label"], {name: value for name, value in items if value is not None}
