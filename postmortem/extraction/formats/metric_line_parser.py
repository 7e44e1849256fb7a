"""Read the figures on metric lines of plain PyTorch scripts, whatever their layout.

In: a cleaned line with a metric word in it. Out: `LineFigures`: what may be a record, and the bar
that carries it. Not here: whether it is one, which takes several lines (`formats.generic_reader`);
formats that have a rule of their own: their lines never come here.
"""

import math
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from postmortem.core import names
from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.core.log_text import compile_lazily, compile_lazily_with_words
from postmortem.extraction.formats.bars import Draw, draw
from postmortem.extraction.formats.figures import (
    FIGURE,
    MAY_HOLD_VALUE,
    PLACE_ITEM,
    Position,
    StepAndEpoch,
    convert_to_ascii,
    find_leading_count,
    find_position,
    may_hold_figure,
    parse_epoch_label,
    parse_step_and_epoch,
    split_printed_items,
)
from postmortem.extraction.formats.line_forms import add_other_pairs, parse_pair_line, write_plainly
from postmortem.extraction.formats.losses import (
    find_label_split,
    is_of_training,
    normalise_name,
    parse_losses,
    parse_objectives,
    parse_split_losses,
    take_only_objective,
)
from postmortem.extraction.formats.metric_pairs import (
    DECIMALS,
    add_metric_pairs,
    add_speeds,
    parse_bare_metrics,
    parse_entries,
    parse_metrics,
    parse_scores,
)
from postmortem.extraction.formats.record_parts import name_of_split
from postmortem.extraction.formats.records import Record
from postmortem.reading.prefixes import clean

_NUMBER: Final = compile_lazily(FIGURE)
_NO_VALUE: Final = compile_lazily(r"(?<=[:=])\s?(?:None|null)(?!\w)")
"""What stands in the place of a figure that does not exist yet."""
_SPACE: Final = compile_lazily(r"\s*#\s*|\s+")
_DURATION: Final = compile_lazily(
    r"(?:#\s?(?:days?,?\s|[dhms](?![a-z])|ms(?![a-z])|hrs?\b|mins?\b|secs?\b)\s?)+#?(?::#){0,2}"
)
"""A time whose parts come and go: `1s18ms`, `996ms`, `2 days, 3:04:05`."""
_CLOSING: Final = compile_lazily(
    r"train_runtime|^\s*(?:Averaged stats|wandb: )"
    r"|^\W{0,8}(?i:(?:model )?(?:sav|load|restor)(?:ed|ing)|(?:new )?best model)\b"
    r"|^\s*\d+/(?:\d+|Unknown)\s*(?:\[[=>.]+\]|━+)|\[=*>\.+\]|Namespace\(|Config\("
)
"""Lines with a metric word that are none: summaries, what a message on a saved model says
again, the bars of Keras, printed settings."""
_LABEL: Final = compile_lazily(
    r"^\s{0,40}(?:(?!.{0,40}(?:best|min))[\[\w.-]{1,40}[:\]|>]\s{0,8})?$", re.IGNORECASE
)
"""What may stand before an objective that tells no place: the name of a logger."""
OF_SAMPLES: Final = compile_lazily_with_words(
    "sample image img case",
    r"(?<![\w./#-])(?:samples?|images?|imgs?|cases?)[:=# \[(]{1,4}\s{0,8}(?P<value>\d{1,9})"
    r"(?:\s?/\s?\d{1,9})?(?=[\s:|,;\])-])",
    re.IGNORECASE,
)
"""What an evaluation counts where it prints its scores on its way."""
_IN_SCORES: Final = compile_lazily_with_words(
    "acc iou dice f1 map psnr ssim mse mae wer cer ppl",
    r"acc|iou|dice|f1|map|psnr|ssim|mse|mae|(?:wer|cer)\b|ppl",
    re.IGNORECASE,
)
"""A line that holds none of them has no score: cheaper to look for than the scores."""
_OF_SPLIT: Final = compile_lazily(
    r"(?:^|[_/ .-])(?:val(?:id(?:ation)?)?|test|dev|eval|train(?:ing)?)(?:$|[_/ .-])", re.IGNORECASE
)
BAR_END: Final = "end of bar "
"""Begins the layout of an evaluation's bar that has come to its end."""
_OF_BEST: Final = compile_lazily(
    r"\b(?:new|current|now) best\b|\bbest \w{1,12} (?:was|is|has)\b", re.IGNORECASE
)
"""Words of a message that says again what the best so far is, wherever it stands."""
_RESTATED: Final = compile_lazily(
    _OF_BEST.pattern
    + r"|\b(?:sav(?:ed|ing)|improv\w{2,4}|restor(?:ed|ing)|load(?:ed|ing)|early.stop\w{0,5})\b",
    re.IGNORECASE,
)
"""Words of a message that says again what has been printed."""
_SPLIT_NAME: Final = compile_lazily(
    r"(?:[a-z]+_)?(?:val(?:id(?:ation)?)?|test(?:ing)?|dev|eval(?:uation)?)[_/-]", re.IGNORECASE
)
"""A name that says by itself what split it is of."""
_OF_LOOP: Final = frozenset(
    {names.LEARNING_RATE, names.THROUGHPUT, names.STEP_TIME, names.DATA_TIME, names.MEMORY}
)
"""What an evaluation and a training print alike."""
_DRAWN_BAR: Final = compile_lazily(r"\[=+(?: \d{1,9}/\d{1,9} =*)?>\.*\]")
_WHOLE: Final = compile_lazily(r"(?<!\d)(?P<of>[1-9]\d{0,7})/(?P=of)(?!\d)")
"""The position of a pass that has come to its end."""
_DIGIT: Final = compile_lazily(r"\d")
_FEWEST_FIGURES: Final = 2
"""Figures of a line that begins with a count, if none of them is called an objective."""
MAY_BE_BAR: Final = compile_lazily(r"\||it \[|━")
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
    must_rise: bool = False
    """Nothing but a counter that rises would tell that it is a record."""
    must_change: bool = False
    """Nothing but figures that change would tell so."""
    scale: int = 1
    """Steps in one of the unit in which the step is printed."""
    passed: int = 0
    """Batches of the pass whose bar, drawn with signs, has come to its end on the line."""


class LineFigures(NamedTuple):
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


def parse_metric_line(text: str, where: ProcessId = NOWHERE, line: int = 0) -> LineFigures | None:
    """Look at a line without minding any other; None where no figure of a metric stands."""
    if len(text) > _LONGEST or not may_hold_figure(text) or not MAY_HOLD_VALUE.search(text):
        return None
    text = write_plainly(convert_to_ascii(text))
    if _CLOSING.search(text):
        return None
    bar = draw(text) if MAY_BE_BAR.search(text) else None
    if bar is not None:
        behind = clean(bar.behind).text if bar.behind else ""
        return _parse_line_of_bar(bar._replace(behind=behind), where, line)
    ways = (_parse_labelled_items, _parse_loss_line, _parse_other_line)
    found = next((one for way in ways if (one := way(text, where, line)) is not None), None)
    if found is None:
        return None
    return LineFigures(found._replace(passed=_find_ended_pass(text)), None, "", "")


def _find_ended_pass(text: str) -> int:
    """Find how many batches a pass had whose bar, drawn with signs, is at its end; else 0."""
    ended = _WHOLE.search(text) if "[==" in text and _DRAWN_BAR.search(text) else None
    return int(ended["of"]) if ended else 0


def _parse_line_of_bar(bar: Draw, where: ProcessId, line: int) -> LineFigures | None:
    """Read what stands behind a bar: losses, other figures with a place of their own."""
    if "oss" in bar.behind:
        found = _parse_loss_line(bar.behind, where, line)
        return LineFigures(found, None, "", "") if found is not None else None
    is_placed = bool(parse_step_and_epoch(bar.behind))
    own = _parse_other_line(bar.behind, where, line) if is_placed else None
    return LineFigures(own, None, "", "") if own else _parse_bar(bar, where, line)


def _parse_other_line(text: str, where: ProcessId, line: int) -> Found | None:
    """Read the figures of a line that names no loss in the first way that finds any."""
    ways = (
        _parse_placed_items,
        _parse_without_loss,
        _parse_scores_line,
        _parse_evaluation_line,
        _parse_counted_line,
        _parse_objective_line,
        _parse_pair_line,
    )
    return next((record for way in ways if (record := way(text, where, line)) is not None), None)


def _parse_bar(bar: Draw, where: ProcessId, line: int) -> LineFigures | None:
    """Look at a bar that carries metrics: of an evaluation at its end alone."""
    is_training = is_of_training(bar.label)
    if not is_training and bar.now != bar.total:
        return None
    found = _parse_loss_line(
        f"{bar.label}, {bar.inside}", where, line, is_bar=True
    ) or _parse_after_bar(bar, where, line)
    if found is None:
        return None
    if not is_training:
        return _build_evaluation(found, bar)
    counts_epochs = names.EPOCH in dict(found.record.values) and not parse_epoch_label(bar.label)
    values = [
        (name, value)
        for name, value in found.record.values
        if name != names.EVAL_LOSS or counts_epochs
    ]
    return LineFigures(
        found._replace(record=found.record._replace(values=values)),
        bar,
        _NUMBER.sub("#", bar.label)[:60],
        parse_epoch_label(bar.label),
    )


def _build_evaluation(found: Found, bar: Draw) -> LineFigures:
    """Give the figures of an evaluation whose bar has come to its end."""
    values = {
        f"{name.removesuffix(names.OF_BATCH)}{names.OF_BATCH}": value
        for name, value in found.record.values
        if name not in _OF_LOOP and name not in {names.LOSS, names.EPOCH}
    }
    record = found.record._replace(step=math.nan, values=list(values.items()))
    label = _NUMBER.sub("#", bar.label)[:60]
    found = found._replace(
        record=record, printed="", has_step=False, has_place=False, layout=f"{BAR_END}{label}"
    )
    return LineFigures(found, None, label, "")


def _parse_after_bar(bar: Draw, where: ProcessId, line: int) -> Found | None:
    """Read the figures that a program has printed right behind its bar."""
    losses = take_only_objective(parse_objectives(bar.behind))
    values = losses.values or parse_metrics(bar.behind)
    if not values:
        return None
    units = add_metric_pairs(bar.behind, values, losses.printed)
    record = Record(math.nan, list(values.items()), where, units=units)
    return Found(
        record,
        losses.printed,
        has_step=False,
        has_place=False,
        layout=_build_layout_key(bar.behind),
        line=line,
    )


def _parse_loss_line(
    text: str, where: ProcessId, line: int, *, is_bar: bool = False
) -> Found | None:
    """Read the figures of a line that names a loss."""
    named = parse_step_and_epoch(text)
    losses = parse_losses(text, has_place=bool(named))
    if named and not losses.values:
        losses = parse_objectives(text)
        losses = losses if losses.values else parse_split_losses(text, _get_place_end(named))
    if named:
        losses = take_only_objective(losses)
    if not losses.values or (_OF_BEST if named else _RESTATED).search(text, 0, losses.start):
        return None
    values, printed, start, end = losses
    place = find_position(text, named, start, is_bar=is_bar)
    units = add_metric_pairs(text, values, printed)
    add_other_pairs(text, values, printed)
    values = _qualify_names(text, values, start, named, place)
    if not math.isnan(place.epoch):
        values["epoch"] = place.epoch
    return Found(
        Record(place.step, list(values.items()), where, place.total, units=units),
        printed,
        not math.isnan(place.step),
        place.is_printed,
        _build_layout_key(text[:end]),
        line,
        place.length,
        place.is_numbered,
        scale=place.scale,
    )


def _qualify_names(
    text: str, values: dict[str, float], start: int, named: StepAndEpoch, place: Position
) -> dict[str, float]:
    """Name the figures of a line of an evaluation after it, and those of one of its batches."""
    digit = _DIGIT.search(text, start)
    split = find_label_split(text, digit.start() if digit else start)
    if not split or names.LOSS in values:
        return values
    end = names.OF_BATCH if _is_of_batch(text, named, place, start) else ""
    behind = {
        name: "" if name in _OF_LOOP or _OF_SPLIT.search(name) else f"{names.OF_SPLIT}{split}"
        for name in values
    }
    return {
        f"{name}{behind[name]}{end}": value
        for name, value in values.items()
        if not (end and name.endswith(names.SO_FAR))
    }


def _is_of_batch(text: str, named: StepAndEpoch, place: Position, start: int) -> bool:
    """Say whether a line counts the batches of an evaluation: its split stands before them."""
    if not named:
        return not math.isnan(place.length) and bool(find_label_split(text, start))
    counts = named.step is not None and not math.isnan(place.epoch)
    counts |= named.epoch is not None and not math.isnan(place.length)
    return counts and bool(find_label_split(text, _get_step_start(named)))


def _get_step_start(named: StepAndEpoch) -> int:
    """Give where the step of a line begins; where its epoch does if no word calls it so."""
    return next((found.start() for found in named if found is not None), 0)


def _get_place_end(named: StepAndEpoch) -> int:
    """Give where the step and the epoch of a line end."""
    return max(found.end() for found in named if found is not None)


def _parse_without_loss(text: str, where: ProcessId, line: int) -> Found | None:
    """Read the figures of a line that names a step or an epoch, and no loss.

    It is to come again before it is taken for a metric line: it has no place that speaks for it.
    One whose figures have no sign before them is to come again further on.
    """
    named = parse_step_and_epoch(text)
    if not named or not is_of_training(text):
        return None
    values = parse_metrics(text)
    units = add_speeds(text, values) if values else {}
    must_rise = not values
    if must_rise:
        values = parse_bare_metrics(text)
        units = add_metric_pairs(text, values, "") if values else units
    if not values:
        return None
    add_other_pairs(text, values, "")
    place = find_position(text, named, len(text))
    if not math.isnan(place.epoch):
        values["epoch"] = place.epoch
    return Found(
        Record(place.step, list(values.items()), where, place.total, units=units),
        "",
        must_rise=must_rise,
        has_step=not math.isnan(place.step),
        has_place=False,
        layout=_build_layout_key(text),
        line=line,
        length=place.length,
        scale=place.scale,
    )


def _parse_counted_line(text: str, where: ProcessId, line: int) -> Found | None:
    """Read the figures of a line that begins with a count, of whatever it is.

    It is to come again further on before it is taken for a metric line.
    """
    count = find_leading_count(text)
    if count is None or not is_of_training(text):
        return None
    rest = text[count.end() :]
    losses = take_only_objective(parse_objectives(rest))
    values = losses.values
    units = add_metric_pairs(rest, values, losses.printed)
    if not losses.printed and len(values) < _FEWEST_FIGURES:
        return None
    step = float(count["value"])
    if count[0].lstrip(" >*|[(")[:1] in {"e", "E"}:
        values["epoch"], step = step, math.nan
    return Found(
        Record(step, list(values.items()), where, units=units),
        losses.printed,
        has_step=not math.isnan(step),
        has_place=False,
        layout=_build_layout_key(text),
        line=line,
        must_rise=True,
        must_change=not losses.printed,
    )


def _parse_scores_line(text: str, where: ProcessId, line: int) -> Found | None:
    """Read the scores of an evaluation on a line that names an epoch, a step or a sample.

    Those without an epoch are of the samples so far: no points of the run's course.
    """
    if not _IN_SCORES.search(text):
        return None
    sample, named = OF_SAMPLES.search(text), parse_step_and_epoch(text)
    count = sample or named.epoch or named.step
    if count is None or (sample is None and is_of_training(text)):
        return None
    scores, step = parse_scores(text[count.end() :]), float(count["value"])
    scores = scores or parse_scores(text[: count.start()])
    if not scores:
        return None
    end = names.SO_FAR if sample or named.epoch is None else ""
    values = _name_scores(scores, find_label_split(text, len(text)) or "val", end)
    if not end:
        values["epoch"], step = step, math.nan
    return Found(
        Record(step, list(values.items()), where),
        "",
        has_step=bool(end),
        has_place=False,
        layout=_build_layout_key(text),
        line=line,
        must_rise=True,
    )


def _name_scores(scores: Mapping[str, float], split: str, end: str) -> dict[str, float]:
    """Name scores by their split, where they do not name one themselves."""
    return {
        f"{name if _SPLIT_NAME.match(name) else f'{split}_{name}'}{end}": value
        for name, value in scores.items()
    }


def _parse_evaluation_line(text: str, where: ProcessId, line: int) -> Found | None:
    """Read the figures of an evaluation that names a step or an epoch, and no loss or known score.

    It is to come again further on before it is taken for a metric line.
    """
    named = parse_step_and_epoch(text)
    if not named or is_of_training(text):
        return None
    values = parse_metrics(text)
    if not values:
        return None
    place, split = find_position(text, named, len(text)), find_label_split(text, len(text))
    values = {
        name if name in _OF_LOOP or _OF_SPLIT.search(name) else f"{name}{names.OF_SPLIT}{split}": v
        for name, v in values.items()
    }
    if not math.isnan(place.epoch):
        values["epoch"] = place.epoch
    return Found(
        Record(place.step, list(values.items()), where, place.total),
        "",
        has_step=not math.isnan(place.step),
        has_place=False,
        layout=_build_layout_key(text),
        line=line,
        length=place.length,
        must_rise=True,
        scale=place.scale,
    )


def _parse_labelled_items(text: str, where: ProcessId, line: int) -> Found | None:
    """Read a printed mapping behind a split, which is to come again: `Eval: {'acc': 0.5}`."""
    label, items = split_printed_items(text)
    mark = _OF_SPLIT.search(label) if items else None
    if mark is None or DECIMALS.search(label):  # figures stand before it, of another split maybe
        return None
    word = mark[0].strip("_/ .-")
    split = find_label_split(word, len(word))
    end = names.SO_FAR if "so far" in label else ""
    values = {f"{name_of_split(name, split)}{end}": value for name, value in items.items()}
    printed = names.LOSS if names.LOSS in values else ""
    layout = _build_layout_key(f"{label}: {' '.join(values)}")
    record = Record(math.nan, list(values.items()), where)
    return Found(record, printed, has_step=False, has_place=False, layout=layout, line=line)


def _parse_placed_items(text: str, where: ProcessId, line: int) -> Found | None:
    """Read a printed mapping that holds its place, whatever else, and is to come again further on.

    `{'step': 100, 'win ratio': 0.5}`
    """
    label, items = split_printed_items(text)
    places = {name: found for name in items if (found := PLACE_ITEM.match(name))}
    values = {name: value for name, value in items.items() if name not in places}
    if not places or not values:
        return None
    place, found = places.popitem()
    step = math.nan if found["epoch"] else items[place]
    if found["epoch"]:
        values[names.EPOCH] = items[place]
    return Found(
        Record(step, list(values.items()), where),
        "",
        has_step=not found["epoch"],
        has_place=False,
        layout=_build_layout_key(f"{label}: {' '.join(items)}"),
        line=line,
        must_rise=True,
    )


def _parse_objective_line(text: str, where: ProcessId, line: int) -> Found | None:
    """Read the figures of a line that begins with one and names no step or epoch.

    It is to come again before it is taken for a metric line.
    """
    losses = take_only_objective(parse_objectives(text))
    if not losses.printed or not _LABEL.match(text[: losses.start]) or not is_of_training(text):
        entries, end = parse_entries(text)
        if not entries or _RESTATED.search(text):
            return None
        found = _build_provisional_record(entries, where, text[:end], line)
        return _name_objective(found, losses.printed)
    values = losses.values
    units = add_metric_pairs(text, values, losses.printed)
    return Found(
        Record(math.nan, list(values.items()), where, units=units),
        losses.printed,
        has_step=False,
        has_place=False,
        layout=_build_layout_key(text),
        line=line,
    )


def _parse_pair_line(text: str, where: ProcessId, line: int) -> Found | None:
    """Read the figures of a line that is made of names with figures, whatever they are called.

    It is to come again with others, and further on where it names its place.
    """
    pairs = parse_pair_line(text)
    if pairs is None or _RESTATED.search(text):
        return None
    named = parse_step_and_epoch(text)
    place = find_position(text, named, pairs.start)
    split = find_label_split(pairs.label, len(pairs.label))
    values = {
        name
        if not split or name in _OF_LOOP or _OF_SPLIT.search(name)
        else name_of_split(name, split): value
        for name, value in pairs.values.items()
    }
    if not math.isnan(place.epoch):
        values[names.EPOCH] = place.epoch
    return Found(
        Record(place.step, list(values.items()), where, place.total),
        "",
        must_rise=place.is_printed,
        must_change=True,
        has_step=not math.isnan(place.step),
        has_place=False,
        layout=_build_layout_key(text),
        line=line,
        length=place.length,
        is_numbered=place.is_numbered,
        scale=place.scale,
    )


def _name_objective(found: Found, printed: str) -> Found:
    """Call the only objective among the figures of a record the loss, and that of a split too."""
    bare = printed.removeprefix("training_").removeprefix("train_")
    splits = {f"{split}_{bare}" for split in ("val", "valid", "validation", "test", "eval")}
    called = [
        (names.LOSS if own == printed else names.EVAL_LOSS if own in splits else name, value)
        for name, value in found.record.values
        for own in (normalise_name(name),)
    ]
    if bare == printed or names.LOSS not in dict(called) or len(dict(called)) < len(called):
        return found
    return found._replace(record=found.record._replace(values=called), printed=printed)


def _build_provisional_record(
    values: dict[str, float], where: ProcessId, text: str, line: int
) -> Found:
    """Give a record without step or epoch, which counts only if its layout comes again."""
    record = Record(math.nan, list(values.items()), where)
    return Found(
        record, "", has_step=False, has_place=False, layout=_build_layout_key(text), line=line
    )


def _build_layout_key(text: str) -> str:
    """Take the numbers out of a line up to its last loss."""
    text = _DURATION.sub("#", _NO_VALUE.sub("#", _NUMBER.sub("#", text)))
    return _SPACE.sub(lambda space: "#" if "#" in space[0] else " ", text)[:300]
