"""Detect where lines of a log point to the origin of values that are not finite.

In: the lines that may tell of it (`detectors.printed_statements`), warnings, the training losses of
all processes. Out: the anomalies `told-*` at the line that tells (a weight, an input, a label, a
mask; a line that calls a loss not finite where no reader made a record of it; two values of one
setting of which one works), `data-warned` (NumPy warns in code of the data right before),
`odd-line` (only the process that went wrong first printed such a line). Not here: messages of known
wording (`patterns/signatures`), the curves themselves (`detectors.nonfinite`), what stands behind
the last record (`detectors.closing`), which process went wrong first (`detectors.ranks`).

Any line that calls a loss not finite ends health. Gradients do not count: under a loss scale they
are not finite now and then, and the step is skipped. Warnings from anywhere else than data code,
and those far from the first bad value, only make a cause a little more likely (`patterns/causes`).
"""

import itertools
import math
import operator
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import NOWHERE
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message, cut, quote, say
from postmortem.core.printed_words import join_words, list_words
from postmortem.diagnosis.detectors.observed import Anomaly, Observed
from postmortem.diagnosis.detectors.printed_statements import (
    NOT_FINITE,
    WEIGHTS,
    find_topic,
    get_context_lines,
    has_nonfinite_metric,
    has_nonfinite_values,
    is_denial,
    iter_nonfinite_names,
)
from postmortem.diagnosis.detectors.ranks import detect_first_nonfinite_process
from postmortem.extraction.facts.series import Series
from postmortem.reading.prefixes import clean, has_srun_labels
from postmortem.rules.vocabulary import MetricTable

BEFORE: Final = "told-before"
_MOST_TEXT: Final = 300
_NEAR: Final = 12
"""Lines before the first bad value, among which what spoils it is part of the same failure."""
_RECORD_SIGNATURES: Final = (
    "numerics.nan.loss-record",
    "numerics.figure.",
    "numerics.evaluation.",
    "numerics.gradnorm.",
    "numerics.context.",
    "numerics.batch.told",
    "numerics.labels.told",
)
"""Rules of figures, and of words like these; any other has its own say on its lines."""
_SIGNS: Final = (
    "numerics.nan.",
    "numerics.consequence.",
    "numerics.figure.",
    "numerics.evaluation.",
)
_LOADING: Final = (
    "load", "resum", "restor", "checkpoint", "merge", "ckpt", "pretrained", "init", "from_",
    *list_words("loads"),
)  # fmt: skip


def detect_nonfinite_hints(observed: Observed) -> Iterator[Anomaly]:
    """Detect what a log names as bad where values are not finite or the loss is 0."""
    first = _find_first_bad_lines(observed)
    if not first:
        return
    known = _collect_known_lines(observed)
    found: set[str] = set()
    yield from _detect_hint_before(observed, first)
    for source, number, text in get_context_lines(observed):
        topic = find_topic(text, number - first.get(source, number))
        if topic is None or topic in found or (source, number) in known:
            continue
        if topic != WEIGHTS or _may_be_origin(observed, source, number, text):
            found.add(topic)
            yield Anomaly(topic, quote(cut(text, _MOST_TEXT)), source, NOWHERE, number)


def _detect_hint_before(observed: Observed, first: dict[int, int]) -> Iterator[Anomaly]:
    """Find the first line before a bad value that names a reason.

    What is told of the data before anything is trained on them is how they are, not what happened.
    """
    begun = _find_first_record_lines(observed)
    hinted = {
        (finding.source, finding.line)
        for finding, _ in observed.findings
        if finding.signature.endswith(".told")
    }
    for source, number, text in get_context_lines(observed):
        ahead = first.get(source, 0) - number
        if ahead <= 0:
            continue
        is_reason = (source, number) in hinted or find_topic(text, -ahead) is not None
        is_event = is_reason and ahead <= _NEAR and number > begun.get(source, number)
        if is_event or has_nonfinite_values(text):
            yield Anomaly(BEFORE, quote(cut(text, _MOST_TEXT)), source, NOWHERE, number)
            return


def _find_first_record_lines(observed: Observed) -> dict[int, int]:
    """Give the line of the first record by source."""
    found: dict[int, int] = {}
    for series in observed.series:
        if series.first is not None:
            line = series.first.line
            found[series.source] = min(line, found.get(series.source, line))
    return found


def _collect_known_lines(observed: Observed) -> set[tuple[int, int]]:
    """Name the lines on which a rule of known wording has its say."""
    return {
        (finding.source, number)
        for finding, _ in observed.findings
        if not (
            finding.signature.startswith(_RECORD_SIGNATURES) or finding.signature.endswith(".words")
        )
        for number in range(finding.line, finding.end_line + 1)
    }


def _find_first_bad_lines(observed: Observed) -> dict[int, int]:
    """Give the first line of a bad value by source; empty where no value is bad."""
    lines = [*_iter_bad_series_lines(observed), *_iter_bad_finding_lines(observed)] or [
        (source, number)
        for source, number, text in get_context_lines(observed)
        if has_nonfinite_metric(text)
    ]
    found: dict[int, int] = {}
    for source, line in lines:
        found[source] = min(line, found.get(source, line))
    return found


def _iter_bad_series_lines(observed: Observed) -> Iterator[tuple[int, int]]:
    for series in observed.series:
        bad = series.first_nonfinite or (series.first if _is_zero(series) else None)
        if bad is not None:
            yield series.source, bad.line


def _is_zero(series: Series) -> bool:
    """Say whether a loss is 0 at both ends."""
    if "loss" not in series.name:
        return False
    ends = [point.value for point in (series.first, series.last) if point is not None]
    return ends == [0.0, 0.0]


def _iter_bad_finding_lines(observed: Observed) -> Iterator[tuple[int, int]]:
    for finding, _ in observed.findings:
        if finding.signature.startswith(_SIGNS):
            yield finding.source, finding.line


def _may_be_origin(observed: Observed, source: int, line: int, text: str) -> bool:
    """Say whether weights were bad before the training spoilt them."""
    trained = (
        series.first.line
        for series in observed.series
        if series.source == source and "loss" in series.name and series.first is not None
        if math.isfinite(series.first.value)
    )
    is_loading = any(word in text.lower() for word in _LOADING)
    return line < min(trained, default=line + 1) or is_loading


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


_MOST_STATEMENT: Final = 200
_LETTER: Final = compile_lazily(r"^L(?:[a-z]{1,3}|_\w{1,12})$")
_PACE: Final = compile_lazily(r"\d ?(?:it/s|s/it)[,\]]")
"""The pace of a bar: whatever is named behind it is a figure of the training."""
_NOT_OF_TRAINING: Final = compile_lazily(
    r"scal|best|lowest|min(?!i)|initial|previous|early|patience|improv|thresh", re.IGNORECASE
)
"""A loss scale; a bound, which is infinite before anything is measured."""


def detect_reported_nonfinite_loss(observed: Observed) -> Iterator[Anomaly]:
    """Find the first line that calls a loss not finite, if no curve or rule shows one."""
    if any("loss" in curve.name and curve.first_nonfinite for curve in observed.series):
        return
    known = {
        (finding.source, number)
        for finding, _ in observed.findings
        for number in range(finding.line, finding.end_line + 1)
    }
    for source, number, text in get_context_lines(observed):
        if (source, number) not in known and _is_loss_called_nonfinite(text, observed.metrics):
            yield Anomaly(
                "told-not-finite", quote(cut(text, _MOST_STATEMENT)), source, NOWHERE, number
            )
            return


def _is_loss_called_nonfinite(text: str, metrics: MetricTable) -> bool:
    named = [*iter_nonfinite_names(text)]
    if not named or _NOT_OF_TRAINING.search(text) or is_denial(text):
        return False
    return _PACE.search(text) is not None or any(
        metrics.is_any(name, "loss", "perplexity") or _LETTER.search(name) for name in named
    )


_WARNING: Final = "numerics.context.numpy-invalid"
_RECORDS_BETWEEN: Final = 2
"""Sound records behind a warning that still leave it near: a mean comes later than its batch."""
_DATA_CODE: Final = compile_lazily(
    r"(?:data|loader|transform|augment|pre_?proc|collat|feature|sampl|reader|normali[sz]|scaler)"
    r"[\w-]{0,30}(?:[/\\][\w.-]{1,60})?\.py:\d+: RuntimeWarning"
)
"""The file, or the folder that it lies in."""


def detect_data_warning(observed: Observed) -> Iterable[Anomaly]:
    """Find the first such warning."""
    for finding, _ in observed.findings:
        if finding.signature != _WARNING or not _DATA_CODE.search(finding.text):
            continue
        if any(
            _is_right_before(finding.line, curve)
            for curve in observed.series
            if curve.source == finding.source
        ):
            message = quote(cut(finding.text, _MOST_TEXT))
            return [Anomaly("data-warned", message, finding.source, finding.where, finding.line)]
    return []


def _is_right_before(line: int, series: Series) -> bool:
    """Say whether a loss first stops being finite on one of the next records behind a line."""
    bad = series.first_nonfinite
    if bad is None or "loss" not in series.name or bad.line < line:
        return False
    return (
        bisect_left(series.lines, bad.line) - bisect_right(series.lines, line) <= _RECORDS_BETWEEN
    )


_BEFORE: Final = 12
"""Lines before the first bad value in which its reason may stand."""
_NUMBER: Final = compile_lazily(r"[-+]?\d[\w.]*|\b(?:nan|inf)\b", re.IGNORECASE)
_BAD_DATA: Final = compile_lazily(
    r"\b(?:non-?finite|not finite|infs?|nans?|corrupt\w*|broken|truncated|empty|outliers?"
    r"|out of range|invalid|malformed|unreadable|bad (?:sample|batch|record|file|image|row))\b",
    re.IGNORECASE,
)
_NAMES_DATA: Final = compile_lazily(
    r"\b(?:samples?|batch(?:es)?|records?|rows?|images?|volumes?|files?|shards?|items?|ids?|ind(?:ex"
    r"|ices)|inputs?|labels?|targets?|voxels?|pixels?|tokens?|utterances?|clips?)\b|\w\.[a-z]\w{1,5}\b",
    re.IGNORECASE,
)


def detect_odd_data_line(observed: Observed) -> Iterable[Anomaly]:
    """Find a line about data that the first process to go wrong prints alone, just before."""
    first = next(iter(detect_first_nonfinite_process(observed)), None)
    if first is None or first.source not in observed.tails:
        return []
    begin, text = observed.tails[first.source]
    own = observed.processes.get(first.source, NOWHERE)
    srun = has_srun_labels(text)
    kinds: dict[str, set[object]] = {}
    near: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), begin):
        peeled = clean(line, srun=srun)
        where = peeled.where.filled(own)
        kinds.setdefault(_NUMBER.sub("#", peeled.text), set()).add(where)
        if where == first.where and first.line - _BEFORE <= number < first.line:
            near.append((number, peeled.text))
    for number, line_text in near:
        alone = kinds[_NUMBER.sub("#", line_text)] == {first.where}
        if alone and _BAD_DATA.search(line_text) and _NAMES_DATA.search(line_text):
            message = quote(cut(line_text, _MOST_TEXT))
            return [Anomaly("odd-line", message, first.source, first.where, number)]
    return []
