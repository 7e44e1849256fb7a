"""The reader of last resort: metric lines of plain PyTorch scripts, whatever their layout.

In: a cleaned line with a metric word in it. Out: a `Record`, once the line's layout is known to be a metric line.
Not here: formats that have a rule of their own; their lines never come here.

A layout is the line up to its last loss, with the numbers taken out. The first layout of a process that names a step, an iteration or an epoch
beside the loss is a metric line; any other must come again with other numbers. Its first line is kept until then, so that nothing is lost
but what comes once, such as a closing summary.

Of several printed names of the training loss only one is `loss`: a plain `loss` with a step before anything else, else the first. The others
(`avg. loss` at the end of an epoch) keep their names. A bar with metrics gives one record for each of its positions.
"""

import itertools
import math
import re
from typing import Final, NamedTuple

from postmortem import names
from postmortem.formats.bars import Draw, Redraws, draw
from postmortem.formats.records import Record, value_of
from postmortem.model.lines import Where

WORDS: Final = (b"loss", b"Loss", b"LOSS")
_NUM: Final = r"[+-]?(?:nan|NaN|NAN|inf|Inf|Infinity|\d[\d,]*\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)"
_DECIMAL: Final = r"[+-]?(?:nan\b|NaN\b|NAN\b|inf\b|Inf\b|\d[\d,]*\.\d|\d+\.?[eE][+-]?\d|\.\d)"
_NUMBER: Final = re.compile(_NUM)
_SPACE: Final = re.compile(r"\s*#\s*|\s+")
_LOSS: Final = re.compile(
    r"(?<![\w./-])(?P<name>(?:[A-Za-z][\w/]{0,30}(?:\. |[ _/.-]))?[Ll](?:oss(?:es)?|OSS)(?:[ _/][a-z]\w{0,20})?)[\"']?"
    rf"(?:\s{{0,4}}(?:\([a-z]{{1,8}}\))?\s{{0,4}}[:=|\]]{{1,2}}\s{{0,6}}|\s{{1,16}}(?=(?:tensor\()?{_DECIMAL}))[\"']?(?:tensor\(|np\.float\d+\()?"
    rf"(?P<value>{_NUM})(?![\w/:(\[]|\.\d|\s?[*+])",
)
_RATE: Final = re.compile(rf"(?<!\w)(?:lr|learning[_ ]?rate)[\"']?\s{{0,4}}[:=]?\s{{0,4}}[\[\"']?(?P<value>{_NUM})(?!\w)", re.IGNORECASE)
_NORM: Final = re.compile(rf"(?<!\w)(?:grad(?:ient)?[_ ]?norm|gnorm|grad(?=[ :=]))[\"']?\s{{0,4}}[:=]?\s{{0,4}}[\"']?(?P<value>{_NUM})(?!\w)", re.IGNORECASE)
_SCALE: Final = re.compile(rf"(?<!\w)(?:(?:loss|grad|amp)[_ ]?)?scale[\"']?\s{{0,4}}[:=]?\s{{0,4}}[\"']?(?P<value>{_NUM})(?![\w%])", re.IGNORECASE)
_SPEED: Final = re.compile(rf"(?P<value>{_NUM})\s?(?:tok(?:en)?s?|samples?|images?|imgs?|examples?|seqs?|sequences|frames?)\s?(?:/|per )\s?s(?:ec(?:ond)?)?\b", re.IGNORECASE)
_STEP_TIME: Final = re.compile(rf"(?P<value>{_NUM})\s?ms(?:\s?(?:/|per )\s?(?:step|it(?:er(?:ation)?)?|batch))?(?!\w)")
_MEMORY: Final = re.compile(
    rf"(?<![A-Za-z])(?:(?:gpu|cuda|peak|max|host|cpu)[_ ]?)?(?:mem(?:ory)?|rss|alloc(?:ated)?|vram)(?:[_ ](?:alloc(?:ated)?|used|usage|peak))?[\"']?\s{{0,4}}[:=]?\s{{0,4}}(?P<value>{_NUM})\s?(?:[KMGT]i?B|[MG])\b",
    re.IGNORECASE,
)
_DATA_TIME: Final = re.compile(r"(?<![A-Za-z_])[Dd]ata(?:[_ ]?(?:time|wait(?:ing)?|load(?:ing)?))?[\"']?\s{0,4}[:=]?\s{0,4}(?P<value>\d{0,9}\.\d+(?:[eE][+-]?\d+)?)(?![\w.]*[/%])")
_WHOLE_TIME: Final = re.compile(r"(?<![A-Za-z_])(?:(?:[Bb]atch|[Ss]tep|[Ii]ter)[_ ]?)?(?:[Tt]ime|[Ss]tep|[Ii]ter|[Bb]atch)[\"']?\s{0,4}[:=]?\s{0,4}(?P<value>\d{0,9}\.\d+(?:[eE][+-]?\d+)?)(?![\w.]*[/%])")
_BESIDE: Final = ((names.LOSS_SCALE, "cale", _SCALE), (names.THROUGHPUT, "/s", _SPEED), (names.STEP_TIME, "ms", _STEP_TIME), (names.MEMORY, "B", _MEMORY), (names.DATA_TIME, "ata", _DATA_TIME))
"""What else may stand on a metric line: name, a literal that is cheap to look for, pattern."""
_STEP: Final = re.compile(
    r"(?:(?<![A-Za-z_])|(?<=global_)|(?<=train_)|(?<=num_))(?:global[_ ]?steps?|[Ss]teps?|STEP|[Ii]ter(?:ation)?s?|ITER|it|[Bb]atch|[Uu]pdates?)"
    r"[\"']?\s{0,4}[:=#\[(]{0,2}\s{0,8}(?P<value>\d{1,10})(?:\s?/\s?(?P<of>\d{1,10}))?(?![\w.%])",
)
_EPOCH: Final = re.compile(r"(?<![A-Za-z_])(?:[Ee]poch|EPOCH|ep)[\"']?\s{0,4}[:=#\[(]{0,2}\s{0,8}(?P<value>\d{1,7}(?:\.\d+)?)(?P<of>/\d+)?")
_EVAL: Final = re.compile(r"(?<![a-z])(?:val(?:id(?:ation)?)?|eval(?:uation)?|test(?:ing)?|dev)(?![a-z])", re.IGNORECASE)
_SPLIT: Final = re.compile(r"(?<![\w./-])(?:(?P<train>train(?:ing)?|tr)|val(?:id(?:ation)?)?|eval(?:uation|uating)?|test(?:ing)?|dev|sanity)(?![\w./])", re.IGNORECASE)
_TRAIN: Final = re.compile(
    r"^(?:train(?:ing)?|tr|avg\.?|average|mean|total|running|batch|lm|current|epoch|step|iter)?[ _/.-]?loss(?:es)?(?:[ _/](?:train|step|avg|total))?$", re.IGNORECASE,
)
_SETTING: Final = re.compile(r"[ _/](?:weights?|scal(?:e|er|ing)|type|fn|func\w*|coeff?\w*|factor|lambda|reduction|threshold|interval|freq\w*|ratio|margin|eps|steps?|name|mask|log\w*|is|was|at|of|in|for|and|on)$")
_FILLER: Final = re.compile(r"^(?:and|with|the|a|an|of|its|got|has|is|only|INFO|DEBUG)[ -]", re.IGNORECASE)
_CLOSING: Final = re.compile(r"train_runtime|^\s*Averaged stats|^\s*\d+/(?:\d+|Unknown)\s*(?:\[[=>.]+\]|━+)|\[=*>\.+\]|Namespace\(|Config\(")
_MOST_LAYOUTS: Final = 64
_MOST_LOSSES: Final = 50
_LONGEST: Final = 4000
"""Characters beyond which a line is a file or a dump, not a record."""


class _Found(NamedTuple):
    """A record as printed, before it is settled which of its names is `loss`."""

    record: Record
    printed: str
    """The name under which `loss` was printed; empty if there is none."""
    has_step: bool
    has_place: bool
    """A step or an epoch is printed."""
    layout: str
    line: int


class GenericReader:
    """Reads metric lines of unknown layout; keeps what it has learnt about one source."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._waiting: dict[tuple[str, Where], _Found] = {}
        self._known: set[tuple[str, Where]] = set()
        self._owner: dict[Where, tuple[str, bool]] = {}
        self._bars: Redraws[_Found] = Redraws()

    def read(self, text: str, where: Where, line: int) -> list[tuple[Record, int]]:
        """Read a line; gives the records that are certain now, with their raw lines: none, this one, or the one that had waited too."""
        if len(text) > _LONGEST or _CLOSING.search(text):
            return []
        bar = draw(text) if "|" in text or "it [" in text or "━" in text else None
        if bar is not None and "oss" not in bar.behind:
            return self._of_bar(bar, where, line)
        found = _found(bar.behind if bar is not None else text, where, line)
        return [self._settled(one) for one in self._accepted(found)] if found is not None else []

    def rest(self) -> list[tuple[Record, int]]:
        """Give the records of bars that still stand at a position."""
        return [self._settled(found) for found in self._bars.rest()]

    def _accepted(self, found: _Found) -> list[_Found]:
        key = (found.layout, found.record.where)
        if key in self._known:
            return [found]
        is_first = bool(found.has_place) and (not found.printed or found.record.where not in self._owner)
        waiting = self._waiting.get(key)
        is_again = waiting is not None and (waiting.record.values != found.record.values or (waiting.record.step != found.record.step and found.has_step) or _is_bad(found))
        if is_first or is_again:
            self._waiting.pop(key, None)
            if len(self._known) < 2 * _MOST_LAYOUTS:
                self._known.add(key)
            return [*([waiting] if waiting else []), found]
        if waiting is None:
            if len(self._waiting) >= _MOST_LAYOUTS:
                del self._waiting[next(iter(self._waiting))]
            self._waiting[key] = found
        return []

    def _settled(self, found: _Found) -> tuple[Record, int]:
        """Decide whether the training loss of a record is the `loss` of its process."""
        record, mine = found.record, (found.printed, found.has_step)
        if found.printed and self._owner.setdefault(record.where, mine) != mine:
            if mine == ("loss", True):
                self._owner[record.where] = mine
            else:
                name = found.printed if found.printed != "loss" else "epoch_loss"
                record = record._replace(values=[(name if one == "loss" else one, value) for one, value in record.values])
        return record, found.line

    def _of_bar(self, bar: Draw, where: Where, line: int) -> list[tuple[Record, int]]:
        split = _SPLIT.search(bar.label)
        found = _found(f"{bar.label}, {bar.inside}", where, line) if split is None or split["train"] else None
        if found is None:
            return []
        record = found.record
        epoch = _EPOCH.search(bar.label)
        if not found.has_step and epoch is None:
            record = record._replace(step=float(bar.now))
        elif not found.has_step and epoch is not None and epoch["of"] and bar.total and epoch["value"].isdigit() and int(epoch["value"]) > 0:
            record = record._replace(step=float((int(epoch["value"]) - 1) * bar.total + bar.now))
        record = record._replace(values=[(name, value) for name, value in record.values if name != "eval_loss"])
        if not any(name != "epoch" for name, _ in record.values):
            return []
        stream = (where, _NUMBER.sub("#", bar.label)[:60])
        given = self._bars.take(stream, (epoch["value"] if epoch else "", bar.now, bar.total), found._replace(record=record, has_step=True))
        return [self._settled(given)] if given is not None else []


def _found(text: str, where: Where, line: int) -> _Found | None:
    values: dict[str, float] = {}
    printed, end = "", 0
    for match in itertools.islice(_LOSS.finditer(text), _MOST_LOSSES):
        shown = _FILLER.sub("", " ".join(match["name"].split()))
        value = value_of(match["value"])
        if value is None or _SETTING.search(shown):
            continue
        name, end = _name(shown, text, match.start()), match.end()
        if name == "loss" and "loss" in values:
            name = _plain(shown)
        printed = printed or (_plain(shown) if name == "loss" else "")
        values.setdefault(name, value)
    if not values:
        return None
    layout = _SPACE.sub(lambda space: "#" if "#" in space[0] else " ", _NUMBER.sub("#", text[:end]))[:300]
    for name, pattern in (("learning_rate", _RATE), ("grad_norm", _NORM)):
        if (other := pattern.search(text)) and (value := value_of(other["value"])) is not None:
            values[name] = value
    _look_beside(text, values)
    step, epoch = _STEP.search(text), _EPOCH.search(text)
    if epoch and (value := value_of(epoch["value"])) is not None:
        values["epoch"] = value
    number, total = (value_of(step["value"]), value_of(step["of"] or "")) if step else (None, None)
    # Beside an epoch, the second figure of 3/20 is the length of the epoch.
    record = Record(math.nan if number is None else number, list(values.items()), where, math.nan if total is None or epoch else total)
    return _Found(record, printed, number is not None, bool(step or epoch), layout, line)


def _look_beside(text: str, values: dict[str, float]) -> None:
    """Read what else is measured on a metric line."""
    for name, literal, pattern in _BESIDE:
        if literal in text and (other := pattern.search(text)) and (value := value_of(other["value"])) is not None:
            values.setdefault(name, value)
    if names.DATA_TIME in values and (other := _WHOLE_TIME.search(text)) and (value := value_of(other["value"])) is not None:
        values.setdefault(names.STEP_TIME, value)     # alone it may be the time since the start


def _name(shown: str, text: str, start: int) -> str:
    if _EVAL.search(shown):
        return "eval_loss" if not re.search(r"best|min", shown, re.IGNORECASE) else _plain(shown)
    if not _TRAIN.match(shown):
        return shown.replace(" ", "_")
    splits = list(_SPLIT.finditer(text, 0, start)) if shown.lower() == "loss" else []
    return "eval_loss" if splits and not splits[-1]["train"] else "loss"


def _plain(shown: str) -> str:
    return re.sub(r"[ ._/-]+", "_", shown.lower())


def _is_bad(found: _Found) -> bool:
    return any(name.endswith("loss") and not math.isfinite(value) for name, value in found.record.values)
