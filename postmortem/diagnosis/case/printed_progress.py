"""How far an attempt came and how far it was to go, as its log prints it.

In: the extract of the attempt. Out: `PrintedProgress`. Not here: the last good step, checkpoints
(`story.progress`), how it ended (`case.outcomes`).

A position that is printed with its end (`Epoch 12/200`, `step 10/1882`, a bar) is read off the last
lines of the log; else the curves know the last step, and the settings the plan.
"""

import math
import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core import names
from postmortem.core.findings import Setting
from postmortem.core.log_text import (
    compile_lazily,
    compile_lazily_with_words,
    normalise_step,
    parse_number,
)
from postmortem.extraction.extract import Extract
from postmortem.extraction.facts.series import Series
from postmortem.extraction.kept_lines import unfold_lines

_NUMBER: Final = r"\d[\d,]{0,14}(?:\.\d{1,4})?[KkM]?(?![\w.]{0,16}\d)"
_GAP: Final = (
    r"(?: is\b)?(?:\(\w{1,12}\))?[\"']?[ _=:#|\[(\t-]{0,28}(?:[\"'](?:\s{0,4}, \s{0,4})?)?"
)
_OF: Final = rf"(?P<now>{_NUMBER})(?:\s{{0,9}}(?:/|of)\s{{0,9}}(?P<end>{_NUMBER}))?"
_EPOCH: Final = compile_lazily_with_words(
    "epoch",
    rf"(?i)(?<![a-z_])epoch(?:s(?=:\s{{0,9}}\d{{1,3}}%\||[ :=\[(]{{1,4}}\d{{1,7}}\s?/\s?\d))?"
    rf"(?:\W{{1,9}}\d{{1,3}}%\|[^|\n]{{0,300}}\|\s{{0,9}}|{_GAP}(?!\d{{1,3}}%)){_OF}",
)
"""A heading (`Epoch 12/200`), and a bar that counts epochs."""
_OF_PAIR: Final = compile_lazily(
    rf"^\W{{0,4}}(?P<now>{_NUMBER})/(?P<end>{_NUMBER})\]?\s?\[\s{{0,9}}\d{{1,9}}/\d{{1,9}}\]"
)
"""The epoch of `[4/25][300/1583]`."""
_OF_PAIR_EPOCH: Final = compile_lazily(rf"^\W{{0,4}}{_NUMBER}/{_NUMBER}(?=\]?\s?\[)")
_PART: Final = compile_lazily(r"(?<![\w./])(?P<now>\d{1,9})\s?/\s?(?P<end>\d{1,9})(?![\w./])")
_STEP: Final = compile_lazily_with_words(
    "step iter update",
    r"(?i)(?<![a-z_])(?:(?:global|current|training)[_ ])?"
    rf"(?:steps?|iter(?:ation)?s?|updates?|(?:total_)?timesteps?){_GAP}{_OF}",
)
_SUMMARY: Final = compile_lazily_with_words(
    "wandb:",
    r"(?i)^wandb:\s{1,60}(?:[\w./]{0,40}[/_])?(?:steps?|iters?|iterations?)"
    rf"\s{{1,9}}(?P<now>{_NUMBER})(?P<end>)?\s*$",
)
"""A row of the summary of a run that Weights & Biases prints at its end."""
_BATCH: Final = compile_lazily_with_words(
    "batch train", rf"(?i)(?<![a-z_])(?:batch(?:es)?|train){_GAP}{_OF}"
)
_PLANS: Final = (
    r"(?i)(?<![a-z])(?:(?:max|num(?:ber of)?|total|n)[_ ]?(?:train(?:ing)?[_ ]|optimization )?"
    r"(?:number of )?(?:%s)|(?<!warmup[_ ])(?:%s)(?=[\"']?(?:\s{0,20}[:=]|\s{3,20}\d)))"
    r"[\"']?\s{0,20}[:=]?\s{0,3}(?:[\"'], )?(?P<now>\d[\d,]{0,14})(?![\w.%%])(?P<end>)?"
)
_PLANNED_EPOCHS: Final = compile_lazily_with_words(
    "epoch", _PLANS % ("epochs?", "epoche?s(?: number)?")
)
_PLANNED_STEPS: Final = compile_lazily_with_words(
    "steps iter updates episodes",
    _PLANS
    % ("steps|iters?|iterations|updates|episodes", "train_iters|episodes|(?<=\\d )max iterations"),
)
_BAR: Final = compile_lazily(
    r"\d{1,3}%\s{0,2}\|[^|\n]{0,300}\|\s{0,9}(?P<now>\d{1,12})/(?P<end>\d{1,12})"
    r"(?=[^\n]{0,60}(?:it/s|s/it))"
)
_CLOSING: Final = "'train_runtime': "
"""In the last record of Hugging Face's Trainer."""
_SCALES: Final = {"k": 1e3, "m": 1e6}
_MOST_TEXT: Final = 400
"""Characters of a line of the end, counted from its own end."""
_MOST_LOOKED_AT: Final = 600
"""Lines that are looked at, the last ones first."""
_FALLS: Final = 2
"""Times that steps fall before they are counted anew in each epoch."""
_NEAR: Final = 1.01
"""Times the last recorded step, up to which a bar may show the run itself."""
_NEARLY: Final = 0.01
"""Part by which computed epochs may miss a whole number."""
_BEYOND: Final = 1.5
"""Times the last recorded step beyond which a printed step is another count."""


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
    settled = [
        *texts,
        *[line for text in extract.heads.values() for line in text.split("\n")[:_MOST_LOOKED_AT]],
    ]
    epoch, epochs = _find_last(_EPOCH, texts)
    if not _has_begun_next(epoch, epochs, recorded := _find_last_epoch(extract)):
        epoch = _first(recorded, epoch)
    last, planned = _find_steps(extract, settings, texts, settled, has_epochs=epoch is not None)
    epochs = _first(
        epochs,
        _get_setting(settings, "num_train_epochs"),
        _find_last(_PLANNED_EPOCHS, settled)[0],
        _find_last(_OF_PAIR, texts)[1],
    )
    if epochs is not None and epoch == epochs and _find_first_epoch(texts, epochs) == 0:
        epochs += 1  # counted from 0 to the last one
    if epochs is None:
        epochs = _compute_planned_epochs(
            epoch, last, planned, is_over=any(_CLOSING in text for text in texts)
        )
    return PrintedProgress(last, planned, epoch, epochs)


def _find_steps(
    extract: Extract,
    settings: Mapping[str, Setting],
    texts: Sequence[str],
    settled: Sequence[str],
    *,
    has_epochs: bool,
) -> tuple[float | None, float | None]:
    """Give the last step, and the last that was planned, which the run has not outgrown."""
    reached = _find_last_step(extract, has_epochs=has_epochs) or 0.0
    plans = (
        None if math.isnan(extract.total_steps) else extract.total_steps,
        _get_setting(settings, "max_steps"),
        *(now for now, _ in _iter_positions(_PLANNED_STEPS, settled)),
    )
    if has_epochs and (within := _find_step_of_epoch(extract)) is not None:
        return within
    planned = next((plan for plan in plans if plan is not None and plan + 1 >= reached), None)
    last, ends = _find_last_position(extract, texts, planned, has_epochs=has_epochs)
    return last, next((plan for plan in ends if plan and last is not None and plan >= last), None)


def _find_step_of_epoch(extract: Extract) -> tuple[float, float] | None:
    """Give the position within its epoch that the last record prints where it prints no other.

    Its step over the run is computed then.
    """
    losses = [
        curve for curve in extract.series.values() if curve.name == names.LOSS and curve.lines
    ]
    if not losses:
        return None
    last = max(losses, key=lambda curve: curve.lines[-1])
    text = _collect_lines(extract).get(last.lines[-1], "")
    step = last.steps[-1]
    if math.isnan(step) or re.search(rf"(?<![\d.])0*{step:.0f}(?![\d.])", text):
        return None
    parts = [*_PART.finditer(_EPOCH.sub("", _OF_PAIR_EPOCH.sub("", text)))]
    return (float(parts[-1]["now"]), float(parts[-1]["end"])) if parts else None


def iter_epoch_lines(extract: Extract) -> Iterator[tuple[float, int]]:
    """Yield each epoch that a kept line names first, with the raw number of the line."""
    for number, text in _collect_lines(extract).items():
        if (found := _EPOCH.search(text)) is not None and (now := _parse(found["now"])) is not None:
            yield now, number


def _compute_planned_epochs(
    epoch: float | None, last: float | None, planned: float | None, *, is_over: bool
) -> float | None:
    """Compute the epochs of a plan of steps from an epoch that is printed with its fraction.

    A training that closed has reached its plan, whatever was planned.
    """
    if epoch and planned is None and is_over:
        return _round_epochs(epoch)
    if not epoch or not last or not planned or planned <= 1:
        return None
    is_fraction = epoch != int(epoch) or last == planned
    return _round_epochs(epoch * planned / last) if is_fraction else None


def _round_epochs(epochs: float) -> float | None:
    """Give the whole number that epochs nearly are; None if they are none."""
    whole = round(epochs)
    return whole if whole and abs(epochs - whole) <= _NEARLY * whole else None


def _find_last_position(
    extract: Extract, texts: Sequence[str], planned: float | None, *, has_epochs: bool
) -> tuple[float | None, tuple[float | None, ...]]:
    """Give the last step, and what may be the last that was planned, the surest first."""
    step, end = _find_last(_STEP, texts)
    step = max(filter(None, (step, _find_last(_SUMMARY, texts)[0])), default=step)
    recorded = _find_last_step(extract, has_epochs=has_epochs)
    other = _find_last_step(extract, has_epochs=has_epochs, is_sure=False)
    if recorded is None and other is not None and _is_outgrown(step, texts):
        step, recorded = None, other
    if recorded is not None:
        step = _choose_step(step, recorded, end or planned or math.inf)
    bars = _find_bars(texts)
    planned = _first(planned, _find_bar_end(extract, bars, recorded))
    if planned is not None and bars.get(planned, 0.0) > (step or 0) + 1:
        return bars[planned], (planned,)
    if step is None:
        longest = max(bars, default=None)
        step, end = (bars[longest], longest) if longest else _find_last(_BATCH, texts)
        return _first(step, other), (end, planned)
    printed = re.compile(rf"(?<![\d.])0*{step:.0f}\s?/\s?(\d{{1,12}})(?![\d.])")
    found = next(filter(None, map(printed.search, texts)), None)
    return step, (end, planned, None if found is None else float(found[1]))


def _choose_step(printed: float | None, recorded: float, end: float) -> float:
    """Choose between the last step that a line prints and that of the last record."""
    is_later = printed is not None and recorded + 1 < printed
    most = min(end, _BEYOND * recorded + 1)
    return printed if printed is not None and is_later and printed <= most else recorded


def _find_first_epoch(texts: Sequence[str], epochs: float) -> float | None:
    """Give the first epoch that is printed, with the end that is planned if any is."""
    found = [*_iter_positions(_EPOCH, texts[::-1])]
    return next((now for now, end in found if end == epochs), found[0][0] if found else None)


def _has_begun_next(epoch: float | None, epochs: float | None, recorded: float | None) -> bool:
    """Say whether an epoch that is printed with its end follows the last one with a record."""
    if recorded is None or epoch is None or epochs is None:
        return False
    return 0 < epoch - recorded <= 1


def _find_bars(texts: Iterable[str]) -> dict[float, float]:
    """Give the last position of each bar by its end."""
    bars: dict[float, float] = {}
    for now, total in _iter_positions(_BAR, texts):
        bars.setdefault(total or now, now)
    return bars


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
            if line.after:
                found.setdefault(line.line + 1, line.after)
        found |= unfold_lines(lines)
        first, text = extract.tails.get(source, (1, ""))
        for number, line_text in enumerate(text.split("\n"), first):
            found[number] = line_text[-_MOST_TEXT:]
    return found


def _find_last(pattern: re.Pattern[str], texts: Iterable[str]) -> tuple[float | None, float | None]:
    """Give the last position of a kind and its end, each as printed last."""
    last = None
    for now, end in _iter_positions(pattern, texts):
        last = now if last is None else last
        if end is not None:
            return last, end
    return last, None


def _iter_positions(
    pattern: re.Pattern[str], texts: Iterable[str]
) -> Iterator[tuple[float, float | None]]:
    """Yield the positions of a kind, those of a line from its end on."""
    for text in texts:
        for found in reversed([*pattern.finditer(text)]):
            now = _parse(found["now"])
            if now is not None:
                yield now, _parse(found["end"]) if found["end"] else None


def _parse(text: str) -> float | None:
    scale = _SCALES.get(text[-1].lower(), 1.0)
    number = parse_number(text.rstrip("KkM"))
    return None if number is None else number * scale


def _find_last_step(extract: Extract, *, has_epochs: bool, is_sure: bool = True) -> float | None:
    """Give the last step that the records print, where it is counted over the run.

    A record of a plain loop without a loss may count anything: episodes, rounds, evaluations. Its
    count is no sure step.
    """
    found = [
        (curve.name == names.LOSS, curve.lines[-1], normalise_step(curve.steps[-1]))
        for curve in extract.series.values()
        if curve.steps
        and names.SO_FAR not in curve.name
        and not math.isnan(curve.steps[-1])
        and not (has_epochs and is_within_epochs(curve))
        and (_counts_steps(curve) or not is_sure)
    ]
    return max(found, default=(False, 0, None))[2]


def _is_outgrown(step: float | None, texts: Iterable[str]) -> bool:
    """Say whether larger steps than the last one are printed: they count within an episode."""
    return step is not None and step < max((now for now, _ in _iter_positions(_STEP, texts)))


def _counts_steps(curve: Series) -> bool:
    """Say whether the positions of a curve are steps of the training for certain."""
    return curve.name in {names.LOSS, names.EVAL_LOSS} or curve.producer != names.PLAIN_LOOP


def _find_bar_end(
    extract: Extract, bars: Mapping[float, float], recorded: float | None
) -> float | None:
    """Give the end of a bar that stands where the records do."""
    if recorded is None:
        return None
    near = _get_interval(extract) + _NEAR * recorded
    return next((end for end, now in bars.items() if recorded <= now <= near < end), None)


def _get_interval(extract: Extract) -> float:
    """Give the steps from one record of the training loss to the next, at its end."""
    rises = (
        curve.steps[-1] - curve.steps[-2]
        for curve in extract.series.values()
        if curve.name == names.LOSS and len(curve.steps) > 1
    )
    return max((rise for rise in rises if rise > 0), default=0.0)


def is_within_epochs(curve: Series) -> bool:
    """Say whether the steps of a curve are counted anew in each epoch."""
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
