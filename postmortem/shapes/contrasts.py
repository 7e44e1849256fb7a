"""Two settings of one thing, of which one gives finite values and the other does not.

In: both ends of each source, the lines around values that are not finite. Out: the shapes
`told-version`, `told-batch-size`, `told-precision`, at the line of the bad setting. Not here: what
is told to be bad by itself (`shapes.told_reasons`).
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from postmortem.model.lines import NOWHERE
from postmortem.model.said import Said, say
from postmortem.shapes.observed import Observed
from postmortem.shapes.shape import Shape
from postmortem.shapes.told_reasons import NOT_FINITE, lines_told

_GOOD: Final = re.compile(
    r"(?i)\b(?:ok(?:ay)?|fine|finite|normal(?:ly)?|works?|correct|no nans?|converges?)\b|正常|没问题"
    r"|loss\W{0,6}[-+]?\d"
)
_SETTINGS: Final = (
    (
        "told-version",
        re.compile(
            r"(?i)\b(?P<name>(?:py)?torch|transformers|cuda|cudnn|driver|numpy|flash[-_]attn|deepspeed|peft|trl"
            r"|accelerate|jax(?:lib)?|xla|nccl|triton|apex|bitsandbytes|tensorflow|keras|paddle\w{0,12}"
            r"|mindspore|(?:pytorch[-_])?lightning|megatron\w{0,8}|diffusers|xformers|vllm|unsloth)"
            r"[ =:@v]{1,4}(?P<value>\d{1,4}\.\d{1,4}(?:\.\d{1,6})?)"
        ),
    ),
    (
        "told-batch-size",
        re.compile(r"(?i)\b(?P<name>bs|\w{0,24}batch[_ ]?size)[ =:]{1,3}(?P<value>\d{1,5})\b"),
    ),
    (
        "told-precision",
        re.compile(
            r"(?i)(?P<name>)\b(?P<value>fp16|float16|half|bf16|bfloat16|fp32|float32|tf32|fp64|float64)\b"
        ),
    ),
)
_HALF: Final = frozenset({"fp16", "float16", "half"})


class _Told(NamedTuple):
    """A setting of one thing, and how it went."""

    value: str
    is_good: bool
    source: int
    line: int


def contrasts(observed: Observed) -> Iterator[Shape]:
    """Find the settings that decide whether values are finite."""
    if not any(series.nonfinite for series in observed.series) and not observed.around:
        return
    told: dict[tuple[str, str], list[_Told]] = {}
    for source, number, text in lines_told(observed):
        is_bad = NOT_FINITE.search(text) is not None
        is_good = not is_bad and _GOOD.search(text) is not None
        for name, pattern in _SETTINGS if is_bad or is_good else ():
            found = {
                (match["name"].lower(), match["value"].lower()) for match in pattern.finditer(text)
            }
            if len(found) == 1:
                key, value = found.pop()
                told.setdefault((name, key), []).append(_Told(value, is_good, source, number))
    for (name, key), settings in told.items():
        good = {one.value for one in settings if one.is_good}
        bad = [one for one in settings if not one.is_good and one.value not in good]
        if good and bad and _decides(name, good, bad[0].value):
            yield Shape(
                name, _said(key, bad[0].value, min(good)), bad[0].source, NOWHERE, bad[0].line
            )


def _decides(name: str, good: set[str], bad: str) -> bool:
    """Say whether the difference is one that explains it."""
    if name == "told-batch-size":
        return good == {"1"} and bad != "1"
    return name != "told-precision" or (bad in _HALF and not good & _HALF)


def _said(name: str, bad: str, good: str) -> Said:
    return say(
        "{name} {good}: finite; {bad}: not",
        "{name} {good}：正常；{bad}：NaN/inf",
        name=name,
        good=good,
        bad=bad,
    )
