"""Find two values of one setting of which one gives finite results and the other does not.

In: the lines that may tell of it. Out: the anomalies `told-version`, `told-batch-size`,
`told-precision`, at the line of the bad setting. Not here: what is told to be bad by itself
(`detectors.nonfinite_hints`).
"""

import itertools
import operator
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE
from postmortem.core.message import Message, say
from postmortem.core.printed_words import join_words
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.diagnosis.detectors.printed_statements import get_context_lines
from postmortem.diagnosis.detectors.printed_topics import NOT_FINITE

_GOOD: Final = compile_lazily(
    r"\b(?:ok(?:ay)?|fine|finite|normal(?:ly)?|works?|correct|no nans?|converges?)\b"
    r"|" + join_words("works") + r"|loss\W{0,6}[-+]?\d",
    re.IGNORECASE,
)
_BATCH_SIZE: Final = "told-batch-size"
_PRECISION: Final = "told-precision"
_RECORD: Final = compile_lazily(r"loss\w{0,10}\W{0,6}(?:[-+]?\d|nan|[-+]?inf)", re.IGNORECASE)
_VERSION: Final = "told-version"
_OF_VERSIONS: Final = compile_lazily(
    r"\b(?P<name>(?:py)?torch|transformers|cuda|cudnn|driver|numpy|flash[-_]attn|deepspeed"
    r"|peft|trl|accelerate|jax(?:lib)?|xla|nccl|triton|apex|bitsandbytes|tensorflow|keras"
    r"|paddle\w{0,12}|mindspore|(?:pytorch[-_])?lightning|megatron\w{0,8}|diffusers"
    r"|xformers|vllm|unsloth)[ =:@v]{1,4}(?P<value>\d{1,4}\.\d{1,4}(?:\.\d{1,6})?)",
    re.IGNORECASE,
)
_SETTINGS: Final = (
    (_VERSION, _OF_VERSIONS),
    (
        _BATCH_SIZE,
        compile_lazily(
            r"\b(?P<name>bs|\w{0,24}batch[_ ]?size)[ =:]{1,3}(?P<value>\d{1,5})\b", re.IGNORECASE
        ),
    ),
    (
        _PRECISION,
        compile_lazily(
            r"(?P<name>)\b(?P<value>fp16|float16|half|bf16|bfloat16|fp32|float32|tf32|float64)\b",
            re.IGNORECASE,
        ),
    ),
)
_HALF: Final = frozenset({"fp16", "float16", "half"})


class _Trial(NamedTuple):
    """A value of a setting, and whether its run went well."""

    value: str
    is_good: bool
    source: int
    line: int


def detect_deciding_settings(observed: Observed) -> Iterator[Anomaly]:
    """Find the settings that decide whether values are finite."""
    if not any(series.nonfinite for series in observed.series) and not observed.around:
        return
    for (kind, name), trials in _collect_trials(observed).items():
        good = {trial.value for trial in trials if trial.is_good}
        bad = [trial for trial in trials if not trial.is_good and trial.value not in good]
        if good and bad and _is_decisive(kind, good, bad[0].value):
            message = _format_contrast(name, bad[0].value, min(good))
            yield Anomaly(kind, message, bad[0].source, NOWHERE, bad[0].line)


def _collect_trials(observed: Observed) -> Mapping[tuple[str, str], Sequence[_Trial]]:
    """Collect the lines that name one value of a setting, and the runs below versions."""
    found: dict[tuple[str, str], list[_Trial]] = defaultdict(list)
    for source, number, text in get_context_lines(observed):
        is_bad = NOT_FINITE.search(text) is not None
        if not is_bad and _GOOD.search(text) is None:
            continue
        for kind, pattern in _SETTINGS:
            settings = {
                (match["name"].lower(), match["value"].lower()) for match in pattern.finditer(text)
            }
            if len(settings) == 1:
                name, value = settings.pop()
                found[kind, name].append(_Trial(value, not is_bad, source, number))
    for name, trial in _iter_version_trials(observed):
        found[_VERSION, name].append(trial)
    return found


def _iter_version_trials(observed: Observed) -> Iterator[tuple[str, _Trial]]:
    """Judge each run that follows a line with versions, up to the next such line."""
    for _, lines in itertools.groupby(
        sorted(get_context_lines(observed)), key=operator.itemgetter(0)
    ):
        under: dict[str, _Trial] = {}
        went: dict[str, _Trial] = {}
        for source, number, text in lines:
            named = {match["name"].lower(): match["value"] for match in _OF_VERSIONS.finditer(text)}
            for name, value in named.items():
                if name in went:
                    yield name, went.pop(name)
                under[name] = _Trial(value, True, source, number)
            if named or not under or not _RECORD.search(text):
                continue
            is_good = NOT_FINITE.search(text) is None
            for name, trial in under.items():
                so_far = went.get(name, trial)
                went[name] = trial._replace(is_good=is_good and so_far.is_good)
        yield from went.items()


def _is_decisive(kind: str, good: set[str], bad: str) -> bool:
    """Say whether the difference is one that explains it."""
    if kind == _BATCH_SIZE:
        return good == {"1"} and bad != "1"
    return kind != _PRECISION or (bad in _HALF and not good & _HALF)


def _format_contrast(name: str, bad: str, good: str) -> Message:
    return say(
        "{name} {good}: finite; {bad}: not",
        name=name,
        good=good,
        bad=bad,
    )
