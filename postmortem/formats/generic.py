"""Metric lines of plain PyTorch scripts, whatever their layout: the figures on one line.

In: a cleaned line with a metric word in it. Out: `Looked`: what may be a record, and the bar that
carries it. Not here: whether it is one, which takes several lines (`formats.unknown`); formats that
have a rule of their own: their lines never come here.

A line that names one objective alone (`triplet loss`, `mse`, `nll`) beside its place names the
training loss.
"""

import itertools
import math
import re
from typing import Final, NamedTuple

from postmortem import names
from postmortem.formats.bars import Draw, draw
from postmortem.formats.records import Record
from postmortem.formats.spelling import value_of
from postmortem.model.lines import NOWHERE, Where

WORDS: Final = (
    b"loss",
    b"Loss",
    b"LOSS",
    b"mse",
    b"MSE",
    b"nll",
    b"NLL",
    b"bce",
    b"BCE",
    b"xent",
    b"dice",
    b"recon",
    b"elbo",
    b"ELBO",
    b"ntropy",
    b" l1 ",
    b" l1=",
    b" l1:",
    b" ce ",
    b" ce=",
    b" ce:",
)
_NUM: Final = r"[+-]?(?:(?:nan|NaN|NAN|inf|Inf|Infinity)(?:\.0)?|\d[\d,]*(?:\.\d*)?(?:[eE][+-]?\d{1,9})?|\.\d+(?:[eE][+-]?\d{1,9})?)"
_DECIMAL: Final = r"[+-]?(?:nan\b|NaN\b|NAN\b|inf\b|Inf\b|\d[\d,]*\.\d|\d+\.?[eE][+-]?\d|\.\d)"
_NUMBER: Final = re.compile(_NUM)
_SPACE: Final = re.compile(r"\s*#\s*|\s+")
_LOSS: Final = re.compile(
    r"(?<![\w./-])(?P<name>(?:[A-Za-z][\w/]{0,30}(?:\. |["
    r" _/.-]))?(?:[Ll]og)?[Ll](?:oss(?:es)?|OSS)(?:(?:[ _/][a-z]|_[A-Z])\w{0,20})?)[\"']?"
    rf"(?:\s{{0,4}}(?:\([a-z]{{1,8}}\))?\s{{0,4}}[:=|\]]{{1,2}}\s{{0,6}}|\s{{1,16}}(?=(?:tensor\()?{_DECIMAL}))[\"']?(?:tensor\(|np\.float\d+\()?"
    rf"(?P<value>{_NUM})(?![\w/:(\[]|\.\d|\s?[*+])",
)
_ONE: Final = (
    r"(?:[Rr]?(?:mse|MSE)|nll|NLL|bce|BCE|ce|CE|[lL][12]|nt-xent|xent|dice|recon(?:struction)?|elbo|ELBO|objective|total|cross["
    r" _-]?entropy)"
)
_OBJECTIVE: Final = re.compile(
    r"(?<![\w./-])(?P<name>(?:train(?:ing)?["
    rf" _/])?{_ONE}(?:[-_+]{_ONE}){{0,3}})[\"']?(?:\s{{0,4}}[:=]\s{{0,6}}|\s{{1,16}}(?={_DECIMAL}))[\"']?(?P<value>{_NUM})(?![\w/:(\[]|\.\d|\s?[*+])",
)
_WHOLE: Final = re.compile(r"^(?:total|objective|elbo)$", re.IGNORECASE)
_PAIR: Final = re.compile(
    rf"(?<![\w./%-])(?P<name>[A-Za-z][\w./@-]{{0,40}})[\"']?(?:\s?[:=]\s{{0,6}}|\s{{1,8}}(?={_DECIMAL}))[\"']?(?P<value>{_NUM})(?![\w/:(\[%]|\.\d|\s?(?:[*+]|[KMGT]i?B\b|ms\b|s\b))",
)
"""Whatever else stands on a metric line as a name and a number."""
_PASSED: Final = re.compile(
    r"loss|time|eta$|elapsed|remain|^(?:(?:global|train|num)[_"
    r" ]?)?(?:steps?|iter(?:ation)?s?|it|batch(?:es)?|updates?|epochs?|ep|episodes?|rounds?|samples?|tokens?|frames?|transitions)$|^(?:t|data|lr|dt|s|sec|ms|to|of|in|at|is|seed|rank|gpu|pid|port|size|world_size|threads|workers|v_num|wd|mfu|speed|tps|mem|max_mem|rss|vram)$|rate$|scale$|norm$|/s$|memory|_mem|^mem",
    re.IGNORECASE,
)
_MOST_PAIRS: Final = 40
_RATE: Final = re.compile(
    rf"(?<!\w)(?:lr|learning[_ ]?rate)[\"']?\s{{0,4}}[:=]?\s{{0,4}}[\[\"']?(?P<value>{_NUM})(?!\w)",
    re.IGNORECASE,
)
_NORM: Final = re.compile(
    r"(?<!\w)(?:grad(?:ient)?[_ ]?norm|gnorm|norm|grad(?=["
    rf" :=]))[\"']?\s{{0,4}}[:=]?\s{{0,4}}[\"']?(?P<value>{_NUM})(?!\w)",
    re.IGNORECASE,
)
_SCALE: Final = re.compile(
    r"(?<!\w)(?:(?:loss|grad|amp)[_"
    rf" ]?)?scale[\"']?\s{{0,4}}[:=]?\s{{0,4}}[\"']?(?P<value>{_NUM})(?![\w%])",
    re.IGNORECASE,
)
_SPEED: Final = re.compile(
    r"(?:(?<=[\dnf])|(?<=[\dnf]\s))(?:tok(?:en)?s?|samples?|images?|imgs?|examples?|seqs?|sequences|frames?)\s?(?:/|per"
    r" )\s?s(?:ec(?:ond)?)?\b",
    re.IGNORECASE,
)
_STEP_TIME: Final = re.compile(
    r"(?:(?<=[\dnf])|(?<=[\dnf]\s))ms(?:\s?(?:/|per )\s?(?:step|it(?:er(?:ation)?)?|batch))?(?!\w)"
)
_ENDING: Final = re.compile(rf"(?<![\d.,])(?P<value>{_NUM})\s?$")
"""The number before a unit: looked for once the unit is found, since units are rare and numbers are not."""
_MEMORY: Final = re.compile(
    r"(?<![A-Za-z])(?:(?:gpu|cuda|peak|max|host|cpu)[_"
    r" ]?)?(?:mem(?:ory)?|rss|alloc(?:ated)?|vram)(?:[_"
    rf" ](?:alloc(?:ated)?|used|usage|peak))?[\"']?\s{{0,4}}[:=]?\s{{0,4}}(?P<value>{_NUM})\s?(?P<unit>[KMGT]i?B|[MG])\b",
    re.IGNORECASE,
)
_DATA_TIME: Final = re.compile(
    r"(?<![A-Za-z_])[Dd]ata(?:[_"
    r" ]?(?:time|wait(?:ing)?|load(?:ing)?))?[\"']?\s{0,4}[:=]?\s{0,4}(?P<value>\d{0,9}\.\d{1,30}(?:[eE][+-]?\d{1,4})?)(?![\w.]{0,40}[/%])"
)
_WHOLE_TIME: Final = re.compile(
    r"(?<![A-Za-z_])(?:(?:[Bb]atch|[Ss]tep|[Ii]ter)[_"
    r" ]?)?(?:[Tt]ime|[Ss]tep|[Ii]ter|[Bb]atch)[\"']?\s{0,4}[:=]?\s{0,4}(?P<value>\d{0,9}\.\d{1,30}(?:[eE][+-]?\d{1,4})?)(?![\w.]{0,40}[/%])"
)
_SECONDS: Final = re.compile(r"\s?(?P<unit>[mu]s|s(?:ec(?:onds?)?)?)(?![\w/])")
_BESIDE: Final = (
    (names.LOSS_SCALE, "cale", _SCALE),
    (names.MEMORY, "B", _MEMORY),
    (names.DATA_TIME, "ata", _DATA_TIME),
)
"""What else may stand on a metric line: name, a literal that is cheap to look for, pattern."""
_UNITS: Final = ((names.THROUGHPUT, "/s", _SPEED), (names.STEP_TIME, "ms", _STEP_TIME))
_STEP: Final = re.compile(
    r"(?:(?<![A-Za-z_])|(?<=global_)|(?<=train_)|(?<=num_))(?:global[_"
    r" ]?steps?|[Ss]teps?|STEP|[Ii]ter(?:ation)?s?|ITER|it|[Bb]atch|[Uu]pdates?|[Ee]pisode|[Rr]ound|t(?==))"
    r"[\"']?\s{0,4}[:=#\[(]{0,2}\s{0,8}(?P<value>\d{1,10})(?:\s?/\s?(?P<of>\d{1,10}))?(?![\w.%])",
)
_FRACTION: Final = re.compile(
    r"(?<![\w.,/:-])(?P<value>\d{1,10})\s?/\s?(?P<of>\d{1,10})[\]\s:|,-]{1,6}$"
)
"""A position of a length right before the loss, whatever it is called."""
_NUMBERED: Final = re.compile(r"^\s{0,4}\[\s{0,9}(?P<value>\d{1,10})\][\s:|,-]{1,4}$")
"""A number in brackets before the loss and nothing else: a step if it grows, maybe a rank."""
_EPOCH: Final = re.compile(
    r"(?<![A-Za-z_])(?:[Ee]poch|EPOCH|ep)[\"']?\s{0,4}[:=#\[(]{0,2}\s{0,8}\[?\s{0,4}(?P<value>\d{1,7}(?:\.\d+)?)(?P<of>/\d+)?"
)
_EVAL: Final = re.compile(
    r"(?<![a-z])(?:val(?:id(?:ation)?)?|eval(?:uation)?|test(?:ing)?|dev)(?![a-z])", re.IGNORECASE
)
_SPLIT: Final = re.compile(
    r"(?<![\w./-])(?:(?P<train>train(?:ing)?|tr)|val(?:id(?:ation)?)?|eval(?:uation|uating)?|test(?:ing)?|dev|sanity)(?![\w./])",
    re.IGNORECASE,
)
_TRAIN: Final = re.compile(
    r"^(?:train(?:ing)?|tr|avg\.?|average|mean|total|running|batch|lm|current|epoch|step|iter)?["
    r" _/.-]?loss(?:es)?(?:[ _/](?:train|step|avg|total))?$",
    re.IGNORECASE,
)
_SETTING: Final = re.compile(
    r"[ _/](?:weights?|scal(?:e|er|ing)|type|fn|func\w*|coeff?\w*|factor|lambda|reduction|threshold|interval|freq\w*|ratio|margin|eps|steps?|name|mask|log\w*|is|was|at|of|in|for|and|on)$"
)
_FILLER: Final = re.compile(
    r"^(?:and|with|the|a|an|of|its|got|has|is|only|INFO|DEBUG)[ -]", re.IGNORECASE
)
_CLOSING: Final = re.compile(
    r"train_runtime|^\s*Averaged"
    r" stats|^\s*\d+/(?:\d+|Unknown)\s*(?:\[[=>.]+\]|━+)|\[=*>\.+\]|Namespace\(|Config\("
)
_NO_OBJECTIVE: Final = re.compile(r"eval_loss|^best_|best|min|scale", re.IGNORECASE)
_BEST: Final = re.compile(r"(?:best|lowest|min(?:imum)?)[ _:=]{1,3}$", re.IGNORECASE)
_MOST_LOSSES: Final = 50
_LONGEST: Final = 4000
"""Characters beyond which a line is a file or a dump, not a record."""


class Found(NamedTuple):
    """A record as printed, before it is settled which of its names is `loss`."""

    record: Record
    printed: str
    """The name under which `loss` was printed; empty if there is none."""
    has_step: bool
    has_place: bool
    """A step or an epoch is printed."""
    layout: str
    line: int
    length: float = math.nan
    """Steps of an epoch as printed."""
    is_numbered: bool = False
    """The step is a mere number in brackets."""


class Looked(NamedTuple):
    """What a line holds."""

    found: Found
    bar: Draw | None
    """The bar that carries the metrics."""
    stream: str
    """What tells the bar from others."""
    epoch: str
    """As the bar's label prints it."""

    def has_metrics(self) -> bool:
        """Say whether there is more than the epoch."""
        return any(name != "epoch" for name, _ in self.found.record.values)


def look(text: str, where: Where = NOWHERE, line: int = 0) -> Looked | None:
    """Look at a line without minding any other; None where no figure of a metric stands."""
    if len(text) > _LONGEST or _CLOSING.search(text):
        return None
    bar = draw(text) if "|" in text or "it [" in text or "━" in text else None
    if bar is None or "oss" in bar.behind:
        found = _found(bar.behind if bar is not None else text, where, line)
        return Looked(found, None, "", "") if found is not None else None
    split = _SPLIT.search(bar.label)
    found = (
        _found(f"{bar.label}, {bar.inside}", where, line)
        if split is None or split["train"]
        else None
    )
    if found is None:
        return None
    values = [(name, value) for name, value in found.record.values if name != "eval_loss"]
    epoch = _EPOCH.search(bar.label)
    return Looked(
        found._replace(record=found.record._replace(values=values)),
        bar,
        _NUMBER.sub("#", bar.label)[:60],
        epoch["value"] if epoch else "",
    )


def _found(text: str, where: Where, line: int) -> Found | None:
    values, printed, start, end = _losses(text)
    step, epoch = _STEP.search(text), _EPOCH.search(text)
    # Beside an epoch, the second figure of 3/20 is the length of the epoch.
    total = value_of(step["of"] or "") if step and not epoch else None
    is_numbered = False
    if not values and (step or epoch):
        values, printed, start, end = _objectives(text)
    if not values:
        return None
    if (
        len(values) == 1
        and not printed
        and (step or epoch)
        and not _NO_OBJECTIVE.search(shown := next(iter(values)))
    ):
        values, printed = {"loss": values[shown]}, _plain(shown)
    if step is None:
        step = _FRACTION.search(text, max(0, start - 40), start)
        step = None if step and epoch and step.start() < epoch.end() else step
    if step is None and epoch is None:
        step = _NUMBERED.search(text, 0, start)
        is_numbered = step is not None
    layout = _SPACE.sub(
        lambda space: "#" if "#" in space[0] else " ", _NUMBER.sub("#", text[:end])
    )[:300]
    units = _beside(text, values, printed)
    if epoch and (value := value_of(epoch["value"])) is not None:
        values["epoch"] = value
    number = value_of(step["value"]) if step else None
    of = value_of(step.groupdict().get("of") or "") if step else None
    record = Record(
        math.nan if number is None else number,
        list(values.items()),
        where,
        math.nan if total is None else total,
        units=units,
    )
    return Found(
        record,
        printed,
        number is not None,
        bool(step or epoch) and not is_numbered,
        layout,
        line,
        math.nan if of is None else of,
        is_numbered,
    )


def _losses(text: str) -> tuple[dict[str, float], str, int, int]:
    """Give the losses by canonical name, the printed name of `loss`, where the first begins and where the last ends."""
    values: dict[str, float] = {}
    printed, first, end = "", -1, 0
    for match in itertools.islice(_LOSS.finditer(text), _MOST_LOSSES):
        shown = _FILLER.sub("", " ".join(match["name"].split()))
        value = value_of(match["value"])
        if value is None or _SETTING.search(shown):
            continue
        name, end, first = (
            _name(shown, text, match.start()),
            match.end(),
            match.start() if first < 0 else first,
        )
        if name == "loss" and "loss" in values:
            name = _plain(shown)
        printed = printed or (_plain(shown) if name == "loss" else "")
        values.setdefault(name, value)
    return values, printed, first, end


def _objectives(text: str) -> tuple[dict[str, float], str, int, int]:
    """Do the same for a line that names no loss.

    One objective alone is it, or the total of several.
    """
    found = [
        (match, value)
        for match in itertools.islice(_OBJECTIVE.finditer(text), _MOST_LOSSES)
        if (value := value_of(match["value"])) is not None
    ]
    if not found or _is_evaluation(text, found[0][0].start()):
        return {}, "", -1, 0
    whole = next(
        (match["name"] for match, _ in found if _WHOLE.match(match["name"])),
        found[0][0]["name"] if len(found) == 1 else "",
    )
    values = {
        "loss" if match["name"] == whole else match["name"]: value
        for match, value in reversed(found)
    }
    return dict(reversed(values.items())), _plain(whole), found[0][0].start(), found[-1][0].end()


def _beside(text: str, values: dict[str, float], printed: str) -> dict[str, str]:
    """Add what else the line holds; gives the units that are printed with it."""
    units: dict[str, str] = {}
    for name, pattern in (("learning_rate", _RATE), ("grad_norm", _NORM)):
        if (other := pattern.search(text)) and (value := value_of(other["value"])) is not None:
            values[name] = value
    for name, literal, pattern in _BESIDE:
        if (
            literal in text
            and (other := pattern.search(text))
            and (value := value_of(other["value"])) is not None
            and values.setdefault(name, value) == value
        ):
            units[name] = _unit(text, other)
    for name, literal, pattern in _UNITS:
        if (
            literal in text
            and (unit := pattern.search(text))
            and (other := _ENDING.search(text[max(0, unit.start() - 24) : unit.start()]))
            and (value := value_of(other["value"])) is not None
        ):
            values.setdefault(name, value)
            units[name] = "ms" if name == names.STEP_TIME else " ".join(unit[0].split())
    if (
        names.DATA_TIME in values
        and (other := _WHOLE_TIME.search(text))
        and (value := value_of(other["value"])) is not None
        and values.setdefault(names.STEP_TIME, value) == value
    ):
        units[names.STEP_TIME] = _unit(text, other)  # alone it may be the time since the start
    for match in itertools.islice(_PAIR.finditer(text), _MOST_PAIRS):
        if (
            not _PASSED.search(match["name"])
            and _plain(match["name"]) != printed
            and (value := value_of(match["value"])) is not None
        ):
            values.setdefault(match["name"], value)
    return {name: unit for name, unit in units.items() if unit}


def _unit(text: str, other: "re.Match[str]") -> str:
    """Give the unit that stands directly behind a value."""
    behind = other if "unit" in other.re.groupindex else _SECONDS.match(text, other.end("value"))
    return behind["unit"] if behind else ""


def _name(shown: str, text: str, start: int) -> str:
    if _BEST.search(text, max(0, start - 12), start):
        return f"best_{_plain(shown)}"
    if _EVAL.search(shown):
        return "eval_loss" if not re.search(r"best|min", shown, re.IGNORECASE) else _plain(shown)
    if not _TRAIN.match(shown):
        return shown.replace(" ", "_")
    return "eval_loss" if shown.lower() == "loss" and _is_evaluation(text, start) else "loss"


def _is_evaluation(text: str, start: int) -> bool:
    """Say whether the last split named before a figure is not the training one."""
    splits = list(_SPLIT.finditer(text, 0, start))
    return bool(splits) and not splits[-1]["train"]


def _plain(shown: str) -> str:
    return re.sub(r"[ ._/-]+", "_", shown.lower())
