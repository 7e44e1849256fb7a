"""The reader of last resort: metric lines of plain PyTorch scripts, whatever their layout.

In: a cleaned line with a metric word in it. Out: a `Record`, once the line's layout is known to be a metric line.
Not here: formats that have a rule of their own; their lines never come here.

A layout is the line with its numbers taken out. It is a metric line when it names a step, an iteration or an epoch beside the loss, or when the
same layout comes again with other numbers. The first line of a layout is kept until then, so that nothing is lost.
"""

import math
import re
from typing import Final

from postmortem.formats.records import Record, value_of
from postmortem.model.lines import Where

WORDS: Final = (b"loss", b"Loss", b"LOSS")
_NUM: Final = r"[+-]?(?:nan|NaN|NAN|inf|Inf|Infinity|\d[\d,]*\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)"
_NUMBER: Final = re.compile(_NUM)
_LOSS: Final = re.compile(
    rf"(?<![\w./-])(?P<name>(?:[A-Za-z][\w/]{{0,30}}[ _/.-])?[Ll](?:oss(?:es)?|OSS)(?:[ _/][a-z]\w{{0,20}})?)\s{{0,4}}(?:\([a-z]{{1,8}}\))?\s{{0,4}}[:=|\]]{{1,2}}\s{{0,6}}(?:tensor\(|np\.float\d+\()?"
    rf"(?P<value>{_NUM})(?![\w/:]|\.\d)",
)
_RATE: Final = re.compile(rf"(?<!\w)(?:lr|LR|learning[_ ]rate)\s{{0,4}}[:=]?\s{{0,4}}\[?(?P<value>{_NUM})(?!\w)")
_NORM: Final = re.compile(rf"(?<!\w)(?:grad[_ ]?norm|gnorm|gradient norm)\s{{0,4}}[:=]?\s{{0,4}}(?P<value>{_NUM})(?!\w)", re.IGNORECASE)
_STEP: Final = re.compile(r"(?<![A-Za-z])(?:global[_ ]?step|[Ss]teps?|STEP|[Ii]ter(?:ation)?s?|ITER|it|[Bb]atch|[Uu]pdate)\s{0,4}[:=#\[(]{0,2}\s{0,8}(?P<value>\d{1,10})(?:\s?/\s?\d+)?(?![\w.%])")
_EPOCH: Final = re.compile(r"(?<![A-Za-z])(?:[Ee]poch|EPOCH|ep)\s{0,4}[:=#\[(]{0,2}\s{0,8}(?P<value>\d{1,7}(?:\.\d+)?)")
_EVAL: Final = re.compile(r"val|eval|test|dev", re.IGNORECASE)
_TRAIN: Final = re.compile(r"^(?:train(?:ing)?|tr|avg|average|mean|total|running|batch|lm|current|epoch|step|iter)?[ _/.-]?loss(?:es)?(?:[ _/](?:train|step|avg|total))?$", re.IGNORECASE)
_MOST_LAYOUTS: Final = 64


class GenericReader:
    """Reads metric lines of unknown layout; keeps what it has learnt about one source."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._waiting: dict[tuple[str, Where], tuple[Record, int]] = {}
        self._known: set[str] = set()

    def read(self, text: str, where: Where, line: int) -> list[tuple[Record, int]]:
        """Read a line; gives the records that are certain now, with their raw lines: none, this one, or the one that had waited too."""
        record, anchored = _record(text, where)
        if record is None:
            return []
        layout = _NUMBER.sub("#", text)[:300]
        if layout in self._known:
            return [(record, line)]
        waiting = self._waiting.pop((layout, where), None)
        if anchored or waiting:
            if len(self._known) < _MOST_LAYOUTS:
                self._known.add(layout)
            return [*([waiting] if waiting else []), (record, line)]
        if len(self._waiting) < _MOST_LAYOUTS:
            self._waiting[layout, where] = (record, line)
        return []


def _record(text: str, where: Where) -> tuple[Record | None, bool]:
    values: list[tuple[str, float]] = []
    names: set[str] = set()
    is_eval_line = bool(re.match(r"\W{0,6}(?:val(?:idation)?|eval(?:uation)?|test(?:ing)?)\b", text, re.IGNORECASE))
    for match in _LOSS.finditer(text[:4000]):
        name = _name(match["name"], is_eval_line=is_eval_line)
        value = value_of(match["value"])
        if value is not None and name not in names:
            names.add(name)
            values.append((name, value))
    if not values:
        return None, False
    for name, pattern in (("learning_rate", _RATE), ("grad_norm", _NORM)):
        if (found := pattern.search(text)) and (value := value_of(found["value"])) is not None:
            values.append((name, value))
    step, epoch = _STEP.search(text), _EPOCH.search(text)
    if epoch and (value := value_of(epoch["value"])) is not None:
        values.append(("epoch", value))
    number = value_of(step["value"]) if step else None
    return Record(math.nan if number is None else number, values, where), bool(step or epoch)


def _name(printed: str, *, is_eval_line: bool) -> str:
    printed = " ".join(printed.split())
    if _EVAL.search(printed) or (is_eval_line and printed.lower() == "loss"):
        return "eval_loss"
    return "loss" if _TRAIN.match(printed) else printed.replace(" ", "_")
