"""How far an attempt came and how far it was to go, as its log prints it.

In: the extract of the attempt. Out: `PrintedProgress`. Not here: the last good step, checkpoints
(`story.progress`), how it ended (`case.outcomes`).

A position that is printed with its end (`Epoch 12/200`, `step 10/1882`, a bar) is read off the last
lines of the log; else the curves know the last step, and the settings the plan.
"""

import math
import operator
import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from postmortem.core import names
from postmortem.core.job_facts import Setting
from postmortem.core.lazy_regex import compile_lazily
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.number_texts import normalise_step, parse_number
from postmortem.extraction.facts.series import Series

_NUMBER = r"\d[\d,]{0,14}(?:\.\d{1,4})?[KkM]?(?![\w.]*\d)"
_GAP = r"[\"']?[ _=:#|\[(\t-]{0,28}"
_EPOCH: Final = compile_lazily(
    rf"(?i)(?<![a-z])epochs?{_GAP}(?P<now>{_NUMBER})(?:\s?(?:/|of)\s?(?P<end>{_NUMBER}))?"
)
_STEP: Final = compile_lazily(
    r"(?i)(?<![a-z])(?:steps?|iter(?:ation)?s?|updates?|batch(?:es)?|total_timesteps|train)"
    rf"(?:\(train\))?{_GAP}(?P<now>{_NUMBER})(?:\s?(?:/|of)\s?(?P<end>{_NUMBER}))?"
)
_PLANS: Final = (
    r"(?i)(?<![a-z])(?:max|num(?:ber of)?|total|n)[_ ]?(?:train(?:ing)?[_ ]|optimization )?"
    r"(?:number of )?(?:%s)[\"']?\s{0,3}[:=]?\s{0,3}(?P<now>\d[\d,]{0,14})(?![\w.])(?P<end>)?"
)
_PLANNED_EPOCHS: Final = compile_lazily(_PLANS % "epochs?")
_PLANNED_STEPS: Final = compile_lazily(_PLANS % "steps|iters?|iterations|updates")
_BAR: Final = compile_lazily(
    r"\d{1,3}%\s{0,2}\|[^|\n]{0,300}\|\s{0,9}(?P<now>\d{1,12})/(?P<end>\d{1,12})"
)
_SCALES: Final = {"k": 1e3, "m": 1e6}
_MOST_TEXT: Final = 400
_MOST_LOOKED_AT: Final = 600
"""Lines that are looked at, the last ones first."""
_FALLS: Final = 2
"""Times that steps fall before they are counted anew in each epoch."""


class PrintedProgress(NamedTuple):
    """The last position of an attempt, and its plan; None where nothing prints it."""

    last_step: float | None = None
    planned_steps: float | None = None
    epoch: float | None = None
    planned_epochs: float | None = None


def read_progress(extract: Extract, settings: Mapping[str, Setting]) -> PrintedProgress:
    """Read how far an attempt came and how far it was to go."""
    lines = sorted(_collect_lines(extract).items(), reverse=True)
    texts = [text for _, text in [*lines[:_MOST_LOOKED_AT], *lines[-_MOST_LOOKED_AT:]]]
    epoch, epochs = _find_last(_EPOCH, texts)
    step, steps = _find_last(_STEP, texts)
    bar, bar_end = _find_last(_BAR, texts)
    planned = _first(
        None if math.isnan(extract.total_steps) else extract.total_steps,
        _get_setting(settings, "max_steps"),
        _find_last(_PLANNED_STEPS, texts)[0],
    )
    last = _find_last_step(extract)
    if bar is not None and (bar_end == planned or (last is None and step is None)):
        last, planned = max(bar, last or 0), bar_end
    if last is None:
        last = step
    planned = next((plan for plan in (steps, planned) if plan and last and plan >= last), None)
    epoch = _first(_find_last_epoch(extract), epoch)
    epochs = _first(
        epochs, _get_setting(settings, "num_train_epochs"), _find_last(_PLANNED_EPOCHS, texts)[0]
    )
    if epochs is not None and epoch == epochs and _find_last(_EPOCH, texts[::-1])[0] == 0:
        epochs += 1  # counted from 0 to the last one
    return PrintedProgress(last, planned, epoch, epochs)


def _first(*numbers: float | None) -> float | None:
    return next((number for number in numbers if number is not None), None)


def _get_setting(settings: Mapping[str, Setting], name: str) -> float | None:
    """Give a whole setting that plans something; -1 and the like plan nothing."""
    value = settings[name].value if name in settings else None
    if isinstance(value, str):
        value = parse_number(value)
    return value if isinstance(value, (int, float)) and value > 0 else None


def _collect_lines(extract: Extract) -> dict[int, str]:
    """Collect the lines that are kept of the logs of an attempt, by number."""
    found: dict[int, str] = {}
    for source, lines in extract.recurring.items():
        if extract.sources[source].kind in {"environment", "ignored"}:
            continue
        for line in lines:
            found[line.line] = line.text
            if line.after:
                found.setdefault(line.line + 1, line.after)
            for back, text in enumerate(reversed(line.before), 1):
                found.setdefault(line.line - back, text)
        first, text = extract.tails.get(source, (1, ""))
        for number, line_text in enumerate(text.split("\n"), first):
            found[number] = line_text[-_MOST_TEXT:]
    return found


def _find_last(pattern: re.Pattern[str], texts: Iterable[str]) -> tuple[float | None, float | None]:
    """Give the last position of a kind and its end, each as printed last."""
    now = end = None
    for text in texts:
        for found in reversed([*pattern.finditer(text)]):
            now = _parse(found["now"]) if now is None else now
            if found["end"]:
                return now, _parse(found["end"])
    return now, end


def _parse(text: str) -> float | None:
    scale = _SCALES.get(text[-1].lower(), 1.0)
    number = parse_number(text.rstrip("KkM"))
    return None if number is None else number * scale


def _find_last_step(extract: Extract) -> float | None:
    """Give the last step that the records print, where it is counted over the run."""
    found = [
        (curve.name == names.LOSS, curve.lines[-1], normalise_step(curve.steps[-1]))
        for curve in extract.series.values()
        if curve.steps and not math.isnan(curve.steps[-1]) and not _is_within_epochs(curve)
    ]
    return max(found, default=(False, 0, None))[2]


def _is_within_epochs(curve: Series) -> bool:
    steps = curve.steps
    return bool(sum(map(operator.lt, steps[1:], steps)) >= _FALLS)


def _find_last_epoch(extract: Extract) -> float | None:
    """Give the last epoch that is printed as a figure of the records."""
    found = [
        (curve.lines[-1], curve.values[-1])
        for curve in extract.series.values()
        if curve.name == names.EPOCH and math.isfinite(curve.values[-1])
    ]
    return max(found, default=(0, None))[1]
