"""Records that are printed over several lines, a name and a value on each.

In: the view of a line with a metric word. Out: `FigureBlock`: the same record written on one line,
so that whoever reads metric lines reads it too (`formats.metric_line_parser`), and where it ends.
Not here: what the names mean (`formats.losses`, `formats.metric_pairs`), tables with a heading
(`formats.tables`).

A box of stable-baselines3, a printed pandas Series, an indented JSON object and the `> name: value`
lines of speech toolkits are all the same: neighbouring lines that hold one name and one figure
each. A name that comes again begins the next record. Where in the run it stands is told by one of
its own names, or by a line above it that names a step or an epoch and no figure of its own.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from postmortem.core.findings import ProcessId
from postmortem.core.log_text import compile_lazily
from postmortem.extraction.formats.figures import DECIMAL, FIGURE, parse_step_and_epoch, parse_value
from postmortem.extraction.formats.losses import has_split_name, normalise_name, parse_losses
from postmortem.extraction.formats.metric_pairs import parse_metrics
from postmortem.reading.windows import View, is_same_process

_WORD: Final = r"[^\W\d_][\w./@%()+-]{0,40}"
_NAME: Final = rf"{_WORD}(?: {{1,2}}{_WORD}){{0,4}}"
_ENTRY: Final = compile_lazily(
    rf"[\s|>*•#{{\"'-]{{0,60}}(?P<name>{_NAME}?)[\"']?"
    rf"(?:\s{{0,40}}[:=|：]\s{{0,40}}|\s{{0,40}}\t\s{{0,40}}|\s{{2,60}}|\s(?={DECIMAL}))"
    rf"[\"']?(?P<value>{FIGURE})[\"']?"
    r"(?:\s{0,8}\(\s*[\d.,e+naif-]{1,30}\s*\))?(?:\s?[A-Za-z%/]{1,12})?[\s|,}]{0,60}$"
)
_ROW: Final = compile_lazily(
    r"\s{0,60}\|\s{0,40}(?P<name>(?:% )?[A-Za-z%][\w ./@%()+-]{0,60}?)\s{0,40}\|"
    rf"\s{{0,40}}(?P<value>{FIGURE})\s{{0,40}}\|\s{{0,8}}$"
)
"""A row of a box: bars tell where its name ends, so that numbers may stand in it."""
ENTRIES: Final = (_ENTRY, _ROW)
"""What lines of one name and one figure are."""
_BORDER: Final = compile_lazily(r"\s{0,40}-{8,200}\s{0,40}$")
"""The upper or the lower edge of a box: no rows of one record stand on both sides of it."""
_FILLER: Final = compile_lazily(
    rf"[\s>*•#\"'-]{{0,60}}{_NAME}[\"']?(?:\s{{0,40}}[:=]|\s\[)[^|]{{0,80}}$|\s{{0,8}}\|.{{0,200}}\|\s{{0,8}}$"
)
"""A line of a record that holds no figure: a list, a time, the name of a group."""
_RULE: Final = compile_lazily(r"[\s\-=_*#+|{}\[\](),─━╭╮╰╯│┌┐└┘├┤┬┴┼]*$")
_CLOSING: Final = compile_lazily(r"summary|best|final|config|argument|hyper|setting", re.IGNORECASE)
"""Headings of what is no point of a curve."""
_OF_RUN: Final = "train_runtime"
"""Stands in the closing summary of the Trainer, whose loss is the mean of the run."""
_STEPS: Final = (
    "global_step", "num_timesteps", "total_timesteps", "timesteps_total", "timesteps",
    "total_env_steps", "totalenvinteracts", "total_steps", "step", "iteration", "iterations",
    "training_iteration", "iter", "update", "n_updates", "episode", "steps",
)  # fmt: skip
"""Names within a record that tell its step, the first that stands there: beside an episode, `steps`
are those of the episode."""
_POSITIONS: Final = frozenset({"epoch", "Epoch", "EPOCH", "step", "Step", "iteration", "Iteration"})
"""Names that begin the next record where one has a heading with its own position."""
_GLOBAL: Final = compile_lazily(r"global[_ ]?step\W{1,4}(?P<value>\d{1,12})", re.IGNORECASE)
_NUMBER_OF: Final = compile_lazily(r"(?:steps?|iterations?|updates?|episodes?|rounds?|epochs)$")
_DIGIT: Final = compile_lazily(r"\d")
_REWARD: Final = compile_lazily(r"(?:^|_)(?:rewards?|returns?)$", re.IGNORECASE)
_ACCURACY: Final = compile_lazily(r"(?:^|_)accuracy$", re.IGNORECASE)
"""What stands below a heading without any loss: it names a record there, and nowhere else."""
_FEWEST_ENTRIES: Final = 3
"""Of a record in which nothing is known to be an objective."""
_MOST_LINES: Final = 60
_MOST_BYTES: Final = 6000
_LONGEST: Final = 240
_GAP: Final = 3
"""Lines without any figure between a record and its heading."""


class FigureBlock(NamedTuple):
    """A record of several lines."""

    text: str
    """The same on one line."""
    kind: str
    """What tells its kind of record from others: the losses in it."""
    end: int
    """Where it ends in the data of the view."""


class FigureEntry(NamedTuple):
    """A name and its figure as printed."""

    name: str
    value: str


def parse_entry(text: str) -> FigureEntry | None:
    """Read a line that holds one name and one figure; None if it is no such line."""
    if len(text) > _LONGEST:
        return None
    found = _ENTRY.match(text) or (_ROW.match(text) if "|" in text else None)
    if found is None:
        return None
    name = "_".join(found["name"].split())
    if "/" in name:  # Composer puts the loop before the name
        name = name.removeprefix("Train_")
    return FigureEntry(name, found["value"].rstrip(","))


def read_block(view: View, own: FigureEntry, back_to: int) -> FigureBlock | None:
    """Read the record that a line is part of.

    Args:
        view: the line.
        own: what it holds.
        back_to: offset in the data before which lines belong to another record.
    """
    is_row = view.cleaned.text.lstrip().startswith("|")
    is_objective = is_row or _is_objective(own)
    above, heading = _collect_entries_above(view, own.name, max(back_to, view.start - _MOST_BYTES))
    seen = {entry.name for entry in above} | (_POSITIONS if heading and not is_row else set())
    behind, end = _collect_entries_below(view, seen)
    entries = [*above, *behind]
    is_shown = is_objective or (bool(heading) and bool(_ACCURACY.search(own.name)))
    fewest = (1 if heading else 2) if is_shown else _FEWEST_ENTRIES
    if not behind or len(entries) < fewest or _CLOSING.search(heading):
        return None
    kind = "block" if is_objective else own.name
    return FigureBlock(
        _join_entries(heading, entries), _name_kind(kind, entries, is_row=is_row), end
    )


def _is_objective(entry: FigureEntry) -> bool:
    """Say whether a name is that of a loss or a reward."""
    losses = parse_losses(f"{entry.name}: {entry.value}").values
    return bool(losses) or _REWARD.search(entry.name) is not None


def _name_kind(first: str, entries: Sequence[FigureEntry], *, is_row: bool) -> str:
    """Name a kind of record: boxes that tell their step are one, others go by their losses."""
    if is_row and _find_step_entry(entries) is not None:
        return "box"
    return " ".join([first, *(entry.name for entry in entries if "loss" in entry.name.lower())])


class _LinesAbove:
    """What stands above a line of a record, read from below."""

    def __init__(self, seen: str) -> None:
        """Begin above a line that holds a figure of this name."""
        self.entries: list[FigureEntry] = []
        self.heading = self._group = ""
        self._seen, self._gap = {seen}, 0
        self._is_closed = False
        """The upper edge of a box has been read."""

    def takes(self, text: str) -> bool:
        """Take the line above what has been read; says whether another may follow above it."""
        entry = parse_entry(text)
        if entry is not None:
            return not (self._is_closed and "|" in text) and self._takes_entry(entry)
        if _RULE.match(text):
            self._is_closed |= _BORDER.match(text) is not None
            self._gap += not text.strip() or not self.entries
        elif _is_heading(text):
            self.heading = f"{text.strip()} {self._group}".rstrip()
            return False
        elif not self._group and _is_group(text):
            # What stands above belongs to another group.
            self.heading = self._group = text.strip()
            self._gap = max(self._gap, 1)
        elif not _FILLER.match(text):
            return False
        return self._gap <= _GAP

    def _takes_entry(self, entry: FigureEntry) -> bool:
        if self._gap or entry.name in self._seen:
            return False
        self.entries.insert(0, entry)
        self._seen.add(entry.name)
        return True


def _collect_entries_above(view: View, name: str, low: int) -> tuple[list[FigureEntry], str]:
    """Give the entries above a line with a figure of this name, in order, and their heading."""
    upwards, end = _LinesAbove(name), view.start - 1
    for _ in range(_MOST_LINES):
        if end <= low:
            break
        bare = end - (view.data[end - 1 : end] == b"\r")  # of a line that ends in both
        start = max(view.data.rfind(b"\n", low, bare), view.data.rfind(b"\r", low, bare)) + 1 or low
        text = _get_text_at(view, start, end)
        if text is None or not upwards.takes(text):
            break
        end = start - 1
    return upwards.entries, upwards.heading


def _collect_entries_below(view: View, seen: set[str]) -> tuple[list[FigureEntry], int]:
    """Give the entries of a line and of those behind it, and where the last of them ends."""
    found, start, end, data = list[FigureEntry](), view.start, view.end, view.data
    limit = min(len(data), view.start + _MOST_BYTES)
    is_row = "|" in view.cleaned.text
    for _ in range(_MOST_LINES):
        close = data.find(b"\n", start, limit)
        close = limit if close < 0 else close
        text = _get_text_at(view, start, close)
        if text is None or not text.strip():
            break
        if _OF_RUN in text:
            return [], view.end
        entry = parse_entry(text)
        if entry is not None and entry.name not in seen:
            found.append(entry)
            seen.add(entry.name)
            end = close
        elif entry is not None or _is_block_end(text) or (is_row and _BORDER.match(text)):
            break
        start = close + 1
        if start > limit:
            break
    return found, end


def _is_block_end(text: str) -> bool:
    """Say whether a line that holds no figure ends the record before it."""
    return not _RULE.match(text) and (
        _is_heading(text) or _is_group(text) or not _FILLER.match(text)
    )


def _get_text_at(view: View, start: int, end: int) -> str | None:
    """Give another line of the process, cleaned; None if it is too long or of another process."""
    if end - start > _LONGEST * 2:
        return None
    where: ProcessId = view.cleaned.where
    cleaned = view.clean_at(start, end - (view.data[end - 1 : end] == b"\r"))
    return cleaned.text if is_same_process(cleaned.where, where) else None


def _is_heading(text: str) -> bool:
    """Say whether a line names a step or an epoch, and no loss of its own."""
    return (
        len(text) <= _LONGEST and bool(parse_step_and_epoch(text)) and not parse_losses(text).values
    )


def _is_group(text: str) -> bool:
    """Say whether a line is the heading of a group: it names a split of the data, and no figure."""
    return len(text) <= _LONGEST // 2 and not _DIGIT.search(text) and has_split_name(text)


def _join_entries(heading: str, entries: Sequence[FigureEntry]) -> str:
    """Write a record on one line, its step before anything else."""
    own = _find_step_entry(entries)
    heading = _cut_metrics(heading)
    rest = [
        entry
        for entry in entries
        if entry is not own and not (entry.value.isdecimal() and _NUMBER_OF.search(entry.name))
    ]
    figures = ", ".join(f"{entry.name}: {entry.value}" for entry in rest)
    of_run = _GLOBAL.search(heading)
    step = of_run["value"] if of_run else ""
    if own is not None and not step and parse_step_and_epoch(heading).step is None:
        step = _write_whole(own.value)
    return f"step: {step}, {heading}: {figures}" if step.isdecimal() else f"{heading}: {figures}"


def _cut_metrics(heading: str) -> str:
    """Cut a heading behind its place where it is a record of its own."""
    named = parse_step_and_epoch(heading)
    if not named or not parse_metrics(heading):
        return heading
    return heading[: max(place.end() for place in named if place is not None)]


def _write_whole(figure: str) -> str:
    """Write a count with all its digits: `1720` for `1.72e+03`."""
    value = parse_value(figure)
    return f"{value:.0f}" if value is not None and value == value // 1 else figure


def _find_step_entry(entries: Sequence[FigureEntry]) -> FigureEntry | None:
    """Give the entry with the step of its record."""
    named = {normalise_name(entry.name).rpartition("/")[2].strip("_"): entry for entry in entries}
    return next((named[name] for name in _STEPS if name in named), None)
