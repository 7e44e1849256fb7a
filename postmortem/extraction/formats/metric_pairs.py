"""Read the other values of a metric line: rates, norms, times, memory, any name with a figure.

In: a cleaned line with a loss. Out: values by canonical name, and the units printed with them. Not
here: the losses themselves (`formats.losses`).
"""

import functools
import itertools
import re
from collections.abc import Mapping
from typing import Final

from postmortem.core import names
from postmortem.core.log_text import compile_lazily, compile_lazily_with_words
from postmortem.extraction.formats.figures import DECIMAL, FIGURE, parse_value
from postmortem.extraction.formats.losses import (
    find_label_split,
    is_evaluation,
    is_of_training,
    normalise_name,
)
from postmortem.extraction.formats.record_parts import find_known_name

_PAIR: Final = compile_lazily(
    r"(?<![\w./%-])(?P<name>[^\W\d_][\w./@-]{0,40}"
    r"(?:(?: ?\([a-z]{1,12}(?: [a-z\d]{1,12})?\)|\[[a-z]{1,12}\])"
    rf"(?=\s?[:=]|\s{{1,8}}{DECIMAL}))?)[\"']?"
    rf"(?:\s{{0,12}}[:=]{{1,2}}\s{{0,40}}|\s(?:is|was):?\s{{1,4}}(?={DECIMAL})"
    rf"|\s{{1,8}}(?={DECIMAL}))[\"']?(?:\[(?={FIGURE}[,\]]))?"
    rf"(?P<value>{FIGURE})(?![\w/:(\[]|\.\d|\s?(?:[*+](?!\s\d)|[KMGT]i?B\b|ms\b)|s\b)"
)
"""Whatever else stands on a metric line as a name and a number, or as a list of which it is the
first."""
_PLACE: Final = compile_lazily(r"[(\[][A-Za-z][\w./-]{0,60}:\d{1,6}[)\]]")
"""A file or module and its line, as loggers print them: `(trainer:333)`, `[train.py:88]`."""
_PASSED: Final = compile_lazily(
    r"loss|time|eta$|elapsed|remain|taken\b|(?<!per[_ ])(?:secs?|seconds?)$|duration"
    r"|^(?:(?:global|train|num|total)[_ ]?)?"
    r"(?:steps?|iter(?:ation)?s?(?:[_ ]i(?:dx|ndex))?|it|batch(?:es)?|updates?|epochs?|ep"
    r"|episodes?|rounds?|samples?"
    r"|tokens?|frames?|transitions)$"
    r"|^(?:t|data|lr|dt|s|sec|ms|to|of|in|at|is|seed|rank|gpu|pid|port|size|world_size|threads"
    r"|workers|v_num|far|wd|mfu|speed|tps|mem|max_mem|rss|vram)$"
    r"|^(?:data|reader|batch|step|iter)_cost$"
    r"|(?<!success_)(?<!win_)(?<!error_)(?<!hit_)rate$|scale$"
    r"|^(?:g|grad(?:ient)?[_ ]?|l2_)?norm$|^grdn$"
    r"|/s(?:ec)?$|memory|_mem|^mem|\.(?:py|cc|cpp|cu|go|h)$",
    re.IGNORECASE,
)
"""Names of pairs that are read otherwise, or say nothing of the training."""
_OF_WORDS_BEFORE: Final = frozenset({"rate", "sec", "second"})
"""Words that alone do not tell: `win rate`, `tokens per sec`."""
_IS_SPLIT: Final = compile_lazily(r"(?:train|val(?:id)?|test|dev)$", re.IGNORECASE)
_MOST_PAIRS: Final = 120
_QUALIFIER: Final = compile_lazily(
    r"(?<![\w./-])(?:(?:best|current|mean|avg|average|moving|train(?:ing)?|val(?:id(?:ation)?)?"
    r"|test(?:ing)?|dev|eval(?:uation)?)\.?[ _]){1,2}$",
    re.IGNORECASE,
)
"""Words before the name of a figure that say of what it is, whatever stands before them."""
_WORDS_BEFORE: Final = compile_lazily(
    r"(?:^|[,;|:>)\]}\t]|\s[-–]|\s\s|\d\.|(?<=\.\d\d)\s|(?<=\d%)\s)[\s\"']{0,8}"
    r"(?P<words>(?!(?i:epochs?|ep|steps?|it\w{0,9}|batch|episode|round)[ _]\d)"
    r"[A-Za-z][A-Za-z-]{0,20}\.?[ _](?:(?:[A-Za-z][A-Za-z-]{0,20}\.?|\d{1,3})[ _]){0,3})$"
)
"""All words between the name of a figure and the sign that ends what stands before it."""
_OF: Final = compile_lazily(r"\b(?:per|on|over)(?: the)?(?: [a-z]\w{0,20})? $", re.IGNORECASE)
"""What stands before the end of a loss's name: `loss on train set: 0.3`."""
_NO_NAME: Final = compile_lazily(
    r"^.*\b(?:the|an?|and|with|is|are|was|at|to|has|got|INFO|DEBUG|WARNING)[ _]"
)
"""Words that end where the name of a figure may begin."""
_IS_SHARE_OF_MACHINE: Final = compile_lazily(
    r"mem|cpu|gpu|mfu|util|done|progress|complete|ram|disk|load|usage", re.IGNORECASE
)
"""What is printed in per cent and is no score."""
_REWARD: Final = compile_lazily_with_words(
    "reward return score",
    r"(?<![\w/])(?P<name>(?:[a-z]{1,12}[ _](?:\d{1,4}[ _])?){0,3}(?:rewards?|returns?|score)"
    r"(?: (?:mean|std)(?=[ :=]))?)"
    r"(?: (?:in|for|of|at|after) (?:episode|epoch|iteration|step) \d{1,9})?"
    rf"(?:\s?[:=]\s{{0,6}}|\s(?:is|was)\s{{1,6}}|\s{{1,6}}(?={DECIMAL}))"
    rf"(?P<value>{FIGURE})(?![\w/:(\[%]|\.\d)",
    re.IGNORECASE,
)
_SCORE: Final = compile_lazily_with_words(
    "acc f1 iou dice ap psnr ssim wer cer ppl mse mae",
    r"(?<![\w/])(?P<name>(?:(?:train|val(?:id(?:ation)?)?|test|top\d?)[ _/-])?"
    r"(?:(?:m|pix(?:el)?[ _-]?)?acc(?:uracy)?(?:@?\d)?|f1|(?:(?:m(?:ean)?|fw|pix(?:el)?)[ _-]?)?iou"
    r"|(?:m(?:ean)?[ _-]?)?dice(?:[ _-](?:score|coef[a-z]{0,7}))?|m?ap|psnr|ssim"
    r"|wer|cer|ppl|r?mse|mae))"
    rf"(?:\s?[:=]\s{{0,6}}|\s(?:is|was):?\s{{1,4}}|\s{{1,6}}(?={DECIMAL}))"
    rf"(?P<value>{FIGURE})(?![\w/:(\[]|\.\d)",
    re.IGNORECASE,
)
"""A score or a rate of errors, by a name that no other figure has."""
_COUNTED: Final = compile_lazily(
    r"(?<![\w/])(?P<name>(?:(?:train|val(?:id(?:ation)?)?|test)[ _/-])?acc(?:uracy)?)"
    r"\s?[:=]\s{0,6}\(?(?P<right>\d{1,9})\s?/\s?(?P<all>[1-9]\d{0,8})(?![\d./])",
    re.IGNORECASE,
)
"""An accuracy that is printed as right answers of all: `Accuracy: 980/10000 (10%)`."""
_CODES: Final = compile_lazily(
    r"(?<![\w/])(?P<name>(?:(?:train|val(?:id(?:ation)?)?|eval)[ _/-])?"
    r"(?:(?:code[ _]?book|vq|quanti[sz]er)s?[ _/-](?:usage|util[a-z]{0,7}|use|perplexity)"
    r"|(?:active|used|unique|alive)[ _](?:codes?|codewords?|entries)"
    r"|codes?[ _](?:used|usage|active|util[a-z]{0,7})))"
    rf"(?:\s?[:=]\s{{0,6}}|\s{{1,6}})(?P<value>{FIGURE})\s?(?:%|/\s?\d{{1,9}})?(?![\w/:(\[]|\.\d)",
    re.IGNORECASE,
)
"""How much of a codebook is used, in per cent or of all as well."""
_BEFORE_ENTRIES: Final = compile_lazily(
    r"\s{0,4}(?:\[[^\]\n]{0,60}\])?[^A-Za-z\n]{0,40}(?:[^\n]{0,80}?\b(?:INFO|DEBUG)\W{1,8})?[^A-Za-z\n]{0,8}"
    r"(?:(?:[A-Za-z]{1,12} )?"
    r"(?:train(?:ing)?|val(?:id(?:ation)?)?|test(?:ing)?|eval(?:uation)?)\s?[:|]\s{1,8}"
    r"(?=[A-Za-z]))?",
    re.IGNORECASE,
)
_ENTRY: Final = compile_lazily(
    r"[\s,;|]{0,12}(?<![\w./@])"
    r"(?P<name>[A-Za-z][\w./@-]{0,40}(?: [A-Za-z(][\w./@()-]{0,30}){0,3}?)"
    rf"(?:\s{{0,12}}[:=]\s{{0,40}}|\s(?:is|was)\s{{1,4}}(?={DECIMAL}))"
    rf"(?P<value>{FIGURE})(?:(?<!,)\s?(?:%|[A-Za-z/]{{1,8}}))?(?=\.?$|[\s,;|])"
)
_STARRED: Final = compile_lazily(
    r"\s{0,4}(?:\*\s{1,4}(?=[A-Za-z])"
    r"|(?:val(?:id(?:ation)?)?|test(?:ing)?|eval(?:uation)?)\s?[:|]\s{1,8}"
    r"(?=[A-Za-z][\w@./-]{0,40}\s\d{1,6}\.\d[^:=]{0,200}$))",
    re.IGNORECASE,
)
_STARRED_ENTRY: Final = compile_lazily(
    r"[\s,;|]{0,12}(?P<name>[A-Za-z][\w./@-]{0,40}(?: [A-Za-z][\w./@-]{0,30}){0,2})"
    rf"\s{{1,4}}(?P<value>(?={DECIMAL}){FIGURE})%?(?=[\s,;|]|$)"
)
"""A name and its figure in a list with asterisks, as PyTorch's examples print their scores, and
behind a split."""
FIRST_ENTRIES: Final = ((_BEFORE_ENTRIES, _ENTRY), (_STARRED, _STARRED_ENTRY))
"""What a line of entries begins with."""
_IS_BOUND: Final = compile_lazily(
    r"(?:the |a |an |in |best|min|max|lowest|highest|target|threshold)", re.IGNORECASE
)
"""What no curve is called: a bound, a setting, the middle of a sentence."""
KNOWN: Final = frozenset({names.LEARNING_RATE, names.GRAD_NORM})
"""What other patterns read on a line that names a loss."""
DECIMALS: Final = compile_lazily(rf"[:=](?<=[\w)\]\s].)[:=]?\s{{0,40}}\[?(?={DECIMAL})")
_BARE: Final = compile_lazily(
    rf"(?<![\w./-])[A-Za-z|][\w./@()|-]{{0,40}}(?:\s?[:=]\s{{0,6}}|\s{{1,8}})(?={DECIMAL})"
)
BESIDE_PLACE: Final = (_REWARD, _SCORE, _COUNTED, _CODES, DECIMALS, _BARE)
"""What is a figure on a line without a loss that says where in the run it stands."""
_FEWESTDECIMALS: Final = 3
"""Names with a decimal that make a line of a step one of metrics, though it names no loss."""
_SIGN: Final = r"[\"']?(?:\s{0,4}[:=]?\s{0,4}|\s(?:is|was):?\s)"
"""What may stand between a name and its value."""
_RATE: Final = compile_lazily(
    rf"(?<!\w)(?:lr|learning[_ ]?rate){_SIGN}[\[(\"']?(?P<value>{FIGURE})(?!\w)", re.IGNORECASE
)
_NORM: Final = compile_lazily(
    r"(?<!\w)(?:grad(?:ient)?[_ ]?norm|l2_norm/grad/global|gnorm|norm|grad(?=[ :=])"
    r"|grdn|\|{1,2}g(?:rad)?\|{1,2})"
    rf"{_SIGN}[\"']?(?P<value>{FIGURE})(?!\w)",
    re.IGNORECASE,
)
_SCALE: Final = compile_lazily(
    rf"(?<!\w)(?:(?:loss|grad|amp)[_ ]?)?scale{_SIGN}[\"']?(?P<value>{FIGURE})(?![\w%])",
    re.IGNORECASE,
)
_BEHIND_FIGURE: Final = r"(?:(?<=[\dnf])|(?<=[\dnf]\s))"
_SPEED: Final = compile_lazily(
    _BEHIND_FIGURE
    + r"(?:tok(?:en)?s?|samples?|images?|imgs?|examples?|seqs?|sequences|frames?)"
    + r"\s?(?:/|per )\s?s(?:ec(?:ond)?)?\b(?!\s?[=:])",
    re.IGNORECASE,
)
_NAMED_SPEED: Final = compile_lazily(
    r"(?<![\w/])(?:tok(?:en)?s?|samples?|images?|imgs?|examples?|seqs?|sequences|frames?)"
    rf"(?P<unit>/s(?:ec(?:ond)?)?){_SIGN}(?P<value>{FIGURE})(?!\w|\.\d)",
    re.IGNORECASE,
)
"""The same unit as a name: what stands before it belongs to another."""
_STEP_TIME: Final = compile_lazily(
    _BEHIND_FIGURE + r"ms(?:\s?(?:/|per )\s?(?:step|it(?:er(?:ation)?)?|batch))?(?!\w|\s?[=:])"
)
_OTHER_TIME: Final = compile_lazily(
    r"(?:elapsed|total|eta|since|remaining|data|load(?:ing)?|wait(?:ing)?|eval|val(?:idation)?|comm"
    r"|fwd|bwd|forward|backward|optim\w{0,4}|latency)(?:[_ ]?time)?[\"']?\W{0,4}$",
    re.IGNORECASE,
)
"""A name before a time that is not the time of a step."""
_ENDING: Final = compile_lazily(rf"(?<![\d.,])(?P<value>{FIGURE})\s?$")
"""The number before a unit: looked for once the unit is found; units are rare, numbers are not."""
_MEMORY: Final = compile_lazily(
    r"(?<![A-Za-z])(?:(?:gpu|cuda|peak|max|host|cpu)[_ ]?)?"
    r"(?:mem(?:ory)?|rss|alloc(?:ated)?|vram)(?:[_ ](?:alloc(?:ated)?|used|usage|peak))?"
    rf"{_SIGN}(?P<value>{FIGURE})\s?(?P<unit>[KMGT]i?B|[MG])\b",
    re.IGNORECASE,
)
_TIME: Final = _SIGN + r"(?P<value>\d{0,9}\.\d{1,30}(?:[eE][+-]?\d{1,4})?)(?![\w.]{0,40}[/%])"
_DATA_TIME: Final = compile_lazily(
    r"(?<![A-Za-z_])(?i:data(?:[_ ]?(?:wait(?:ing)?|load(?:ing|er)?))?(?:[_ ]?(?:time|cost))?"
    r"|(?:read(?:er|ing)?|load(?:er|ing)?|fetch(?:ing)?|input|io)[_ ]?(?:time|cost|wait)|rtime)"
    + _TIME
)
"""How long a step has waited for its input, by whatever name."""
_WHOLE_TIME: Final = compile_lazily(
    r"(?<![A-Za-z_])(?i:(?:batch|step|iter(?:ation)?)(?:[_ ]?(?:time|cost))?|i?time)" + _TIME
)
_PER_CENT: Final = compile_lazily(r"\s?%")
_WITH_MEAN: Final = compile_lazily(
    rf"(?<![\w./%-])(?P<name>[A-Za-z][\w./@-]{{0,40}})(?:\s?[:=]\s{{0,6}}|\s{{1,8}}){FIGURE}"
    rf"\s{{0,2}}\(\s{{0,8}}(?P<mean>{FIGURE})\)"
)
"""A figure and, in brackets, its mean since the epoch began: `Loss 6.1 (6.3)`."""
_NAMES_WAIT: Final = compile_lazily(r"data(?:[_-]?time)?$", re.IGNORECASE)
_NAMES_STEP: Final = compile_lazily(r"(?:(?:batch|step|iter)[_-]?)?time$", re.IGNORECASE)
_SECONDS: Final = compile_lazily(r"\s?(?P<unit>[mu]s|s(?:ec(?:onds?)?)?)(?![\w/])")
_OTHER_METRICS: Final = (
    (names.LOSS_SCALE, "cale", _SCALE),
    (names.MEMORY, "B", _MEMORY),
    (names.THROUGHPUT, "/s", _NAMED_SPEED),
)
"""Values with a unit behind them: name, a literal that is cheap to look for, pattern."""
_UNITS: Final = ((names.THROUGHPUT, "/s", _SPEED), (names.STEP_TIME, "ms", _STEP_TIME))
"""Units that tell by themselves what stands before them, likewise."""


def add_speeds(text: str, values: dict[str, float]) -> dict[str, str]:
    """Add the speeds that units on a line identify; gives these units."""
    units: dict[str, str] = {}
    if "/s" in text:
        _add_named(text, names.THROUGHPUT, _NAMED_SPEED, values, units)
    for name, literal, pattern in _UNITS:
        if literal in text:
            _add_by_unit(text, name, pattern, values, units)
    return {name: unit for name, unit in units.items() if unit}


def add_metric_pairs(text: str, values: dict[str, float], printed: str) -> dict[str, str]:
    """Add what else the line holds to its losses; gives the units that are printed with it.

    Args:
        text: the line.
        values: its losses.
        printed: the name under which `loss` was printed.
    """
    units: dict[str, str] = {}
    for name, pattern in (("learning_rate", _RATE), ("grad_norm", _NORM)):
        if (other := pattern.search(text)) and (value := parse_value(other["value"])) is not None:
            values[name] = value
    for name, literal, pattern in _OTHER_METRICS:
        if literal in text:
            _add_named(text, name, pattern, values, units)
    for name, literal, pattern in _UNITS:
        if literal in text:
            _add_by_unit(text, name, pattern, values, units)
    if any(word in text for word in ("ata", "ead", "oad", "etch", "nput", "IO", "io_", "rtime")):
        _add_named(text, names.DATA_TIME, _DATA_TIME, values, units)
    if names.DATA_TIME in values:  # alone it may be the time since the start
        rest = _DATA_TIME.sub(lambda wait: " " * len(wait[0]), text, count=1)
        _add_named(rest, names.STEP_TIME, _WHOLE_TIME, values, units)
    _add_ratios(text, values)
    _add_pairs(text, values, printed)
    return {name: unit for name, unit in units.items() if unit}


def parse_metrics(text: str) -> dict[str, float]:
    """Give the figures of a line that names no loss: rewards, and names with decimals."""
    values = _parse_matching_pairs(text, _REWARD, _SCORE)
    _add_ratios(text, values)
    for name, pattern in ((names.LEARNING_RATE, _RATE), (names.GRAD_NORM, _NORM)):
        found = pattern.search(text)
        if found is not None and (values or not found["value"].rstrip(",").isdecimal()):
            values[name] = parse_value(found["value"]) or 0.0
    if not values and not DECIMALS.search(text):
        return {}
    _add_pairs(text, values, "")
    return values


def parse_scores(text: str) -> dict[str, float]:
    """Give the scores on a line, and nothing else that stands there."""
    return _parse_matching_pairs(text, _SCORE)


def _parse_matching_pairs(text: str, *patterns: re.Pattern[str]) -> dict[str, float]:
    """Give the figures whose names are of these patterns."""
    return {
        _expand_score_name(text, match)
        if pattern is _SCORE
        else _join_name(match["name"], is_score=False): value
        for pattern in patterns
        for match in itertools.islice(pattern.finditer(text), _MOST_PAIRS)
        if (value := parse_value(match["value"])) is not None
    }


def _expand_score_name(text: str, match: re.Match[str]) -> str:
    """Give the name of a score with the words before it that belong to it alone."""
    name = _join_name(match["name"], is_score=True)
    words = _find_words_before(text, match.start())
    return "_".join([*words, name]) if words else name


def _join_name(name: str, *, is_score: bool) -> str:
    """Write a name of several words as one; a score's is kept as the other pairs' are."""
    *before, last = name.split()
    return "_".join([*map(str.lower, before), last if is_score else last.lower()])


def parse_bare_metrics(text: str) -> dict[str, float]:
    """Give the figures of a line that names no loss and puts no sign before its figures."""
    values: dict[str, float] = {}
    if len(_BARE.findall(text)) >= _FEWESTDECIMALS:
        _add_pairs(text, values, "")
    return values


def _add_named(
    text: str,
    name: str,
    pattern: re.Pattern[str],
    values: dict[str, float],
    units: dict[str, str],
) -> None:
    """Add a value that follows its name, and the unit directly behind it."""
    other = pattern.search(text)
    if other is None or (value := parse_value(other["value"])) is None:
        return
    if values.setdefault(name, value) == value:
        units[name] = _parse_unit(text, other)


def _add_by_unit(
    text: str,
    name: str,
    pattern: re.Pattern[str],
    values: dict[str, float],
    units: dict[str, str],
) -> None:
    """Add a value that its unit identifies."""
    unit = pattern.search(text)
    if unit is None:
        return
    begin = max(0, unit.start() - 48)
    other = _ENDING.search(text, begin, unit.start())
    if other is None or (
        name == names.STEP_TIME and _OTHER_TIME.search(text, begin, other.start("value"))
    ):
        return
    if (value := parse_value(other["value"])) is not None:
        values.setdefault(name, value)
        units[name] = "ms" if name == names.STEP_TIME else " ".join(unit[0].split())


def parse_entries(text: str) -> tuple[dict[str, float], int]:
    """Give the figures of a line that begins with a name and its figure: `Validation acc: 44.6`.

    Others may follow behind commas, bars or blanks. None is given unless one has decimals. Also
    gives where the last of them ends.
    """
    values, has_decimals = dict[str, float](), False
    entry, end = _choose_entry(text)
    label = find_label_split(text, text.find("]", 0, end)) if "[" in text[:end] else ""
    split = f"{label}_" if label else ""
    while (match := entry.match(text, end)) and len(values) < _MOST_PAIRS:
        if _IS_BOUND.match(match["name"]):
            break
        end, name = match.end(), _join_name(match["name"], is_score="eward" not in match["name"])
        name = find_known_name(name) or f"{split}{name}"
        value = parse_value(match["value"])
        if value is not None and (not is_passed(name) or name in KNOWN):
            values.setdefault(name, value)
            has_decimals |= not match["value"].isdecimal()
    if has_decimals:
        _add_pairs(text[end:], values, "")
    return (values if has_decimals else {}), end


def _choose_entry(text: str) -> tuple["re.Pattern[str]", int]:
    """Choose how the entries of a line are written, and give where the first may begin."""
    starred = _STARRED.match(text)
    if starred and _STARRED_ENTRY.match(text, starred.end()):
        return _STARRED_ENTRY, starred.end()
    start = starred or _BEFORE_ENTRIES.match(text)
    return _ENTRY, start.end() if start else 0


def _add_ratios(text: str, values: dict[str, float]) -> None:
    """Add the share of right answers where both numbers are printed, and the use of codes."""
    for codes in itertools.islice(_CODES.finditer(text), _MOST_PAIRS) if "ode" in text else ():
        if (value := parse_value(codes["value"])) is not None:
            values.setdefault(_join_name(codes["name"], is_score=True), value)
    counted = _COUNTED.search(text) if "/" in text else None
    if counted is not None and int(counted["right"]) <= int(counted["all"]):
        name = _join_name(counted["name"], is_score=True)
        values.setdefault(name, int(counted["right"]) / int(counted["all"]))


def _add_pairs(text: str, values: dict[str, float], printed: str) -> None:
    """Add whatever else stands there as a name and a number, in per cent or with its mean."""
    for match in itertools.islice(_PAIR.finditer(text), _MOST_PAIRS):
        if (
            not _is_read_otherwise(text, match)
            and not _PLACE.match(text, max(0, match.start() - 1))
            and not (printed and _is_of_name(text, match.start()))
            and not (_IS_SPLIT.match(match["name"]) and names.EVAL_LOSS in values)
            and not _is_share_of_machine(text, match)
            and (value := parse_value(match["value"])) is not None
        ):
            name = _name_pair(text, match, values)
            if name.lower() not in values and not _is_printed(text, match, name, printed):
                values.setdefault(name, value)
    if "(" in text:
        _add_means(text, values, printed)


def _is_of_name(text: str, start: int) -> bool:
    """Say whether the words before a name go on it: what it is of."""
    return _follows_word(text, start) and bool(_OF.search(text, max(0, start - 32), start))


def _name_pair(text: str, match: "re.Match[str]", values: Mapping[str, float]) -> str:
    """Give the name of a pair beside those that a line has named before."""
    name = _expand_pair_name(text, match)
    if _is_eval_loss(name, values):
        name = names.EVAL_LOSS
    if name in values and (split := find_label_split(text, match.start())):
        return f"{split}_{name}"  # of the second half of a line
    return name


def _is_eval_loss(name: str, values: Mapping[str, float]) -> bool:
    """Say whether a figure that is called by its split alone is the loss of it."""
    is_split = _IS_SPLIT.match(name) is not None and not is_of_training(name)
    return is_split and names.LOSS in values and names.EVAL_LOSS not in values


def _is_read_otherwise(text: str, match: re.Match[str]) -> bool:
    """Say whether a pair is no metric, or another pattern reads it; `rate` alone does not tell."""
    name = match["name"]
    if name.lower() in _OF_WORDS_BEFORE:
        name = _expand_pair_name(text, match)
    return is_passed(name)


@functools.lru_cache(4096)
def is_passed(name: str) -> bool:
    """Say whether a name is that of a pair which is read otherwise, or says nothing."""
    return _PASSED.search(name) is not None


def _is_share_of_machine(text: str, match: re.Match[str]) -> bool:
    """Say whether a figure is a share of what a machine has, or of what is to be done."""
    return bool(_PER_CENT.match(text, match.end()) and _IS_SHARE_OF_MACHINE.search(match["name"]))


def _is_printed(text: str, match: re.Match[str], name: str, printed: str) -> bool:
    """Say whether a pair is the loss that was printed under this name."""
    own = normalise_name(name)
    if printed and (own == printed or own.startswith(f"{printed}_for_")):
        return True
    return printed == normalise_name(match["name"]) and not is_evaluation(text, match.start())


def _add_means(text: str, values: dict[str, float], printed: str) -> None:
    """Add the means so far that stand in brackets behind figures which have been read."""
    for match in itertools.islice(_WITH_MEAN.finditer(text), _MOST_PAIRS):
        name = match["name"]
        if normalise_name(name) == printed:
            name = names.LOSS
        elif name not in values:
            times = ((names.DATA_TIME, _NAMES_WAIT), (names.STEP_TIME, _NAMES_STEP))
            name = next((kind for kind, pattern in times if pattern.match(name)), name)
        if name in values and (value := parse_value(match["mean"])) is not None:
            values.setdefault(name + names.SO_FAR, value)


def _expand_pair_name(text: str, match: re.Match[str]) -> str:
    """Give the name of a pair with the words before it that distinguish it from others."""
    if not _follows_word(text, match.start()):
        return match["name"]
    words = _find_words_before(text, match.start())
    if not words:
        before = _QUALIFIER.search(text, max(0, match.start() - 24), match.start())
        words = _split_words(before[0]) if before else []
    return "_".join([*words, match["name"]])


def _find_words_before(text: str, start: int) -> list[str]:
    """Give all words between a name and the sign that ends what stands before it."""
    if not _follows_word(text, start):
        return []
    phrase = _WORDS_BEFORE.search(text, max(0, start - 64), start)
    return _split_words(_NO_NAME.sub("", phrase["words"])) if phrase else []


def _follows_word(text: str, start: int) -> bool:
    """Say whether a word or a number, and a blank or a low line, stand right before a place."""
    if start < 2 or text[start - 1] not in " _":
        return False
    return text[start - 2].isalnum() or text[start - 2] in ".-_"


def _split_words(words: str) -> list[str]:
    """Split the words of a name."""
    return words.lower().replace(".", "").replace("_", " ").split()


def _parse_unit(text: str, other: re.Match[str]) -> str:
    """Give the unit that stands directly behind a value."""
    behind = other if "unit" in other.re.groupindex else _SECONDS.match(text, other.end("value"))
    return behind["unit"] if behind else ""
