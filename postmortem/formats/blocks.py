"""Records that are printed over several lines, a name and a value on each.

In: the view of a line with a metric word. Out: `Block`: the same record written on one line, so
that whoever reads metric lines reads it too (`formats.generic`), and where it ends. Not here: what
the names mean (`formats.losses`, `formats.beside`), tables with a heading (`formats.grids`).

A box of stable-baselines3, a printed pandas Series, an indented JSON object and the `> name: value`
lines of speech toolkits are all the same: neighbouring lines that hold one name and one figure
each. A name that comes again begins the next record. Where in the run it stands is told by one of
its own names, or by a line above it that names a step or an epoch and no figure of its own.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from postmortem.formats.losses import losses_on, names_split, plain
from postmortem.formats.positions import named_on
from postmortem.formats.spelling import DECIMAL, FIGURE
from postmortem.model.lines import Where
from postmortem.reading.windows import View, same_process

_WORD: Final = r"[^\W\d_][\w./@%()+-]{0,40}"
_NAME: Final = rf"{_WORD}(?: {{1,2}}{_WORD}){{0,4}}"
_ENTRY: Final = re.compile(
    rf"[\s|>*•#{{\"'-]{{0,60}}(?P<name>{_NAME}?)[\"']?"
    rf"(?:\s{{0,40}}[:=|：]\s{{0,40}}|\s*\t\s{{0,40}}|\s{{2,60}}|\s(?={DECIMAL}))"
    rf"[\"']?(?P<value>{FIGURE})[\"']?"
    r"(?:\s{0,8}\(\s*[\d.,e+naif-]{1,30}\s*\))?(?:\s?[A-Za-z%/]{1,12})?[\s|,}]{0,60}$"
)
_FILLER: Final = re.compile(
    rf"[\s>*•#\"'-]{{0,60}}{_NAME}[\"']?(?:\s{{0,40}}[:=]|\s\[)[^|]{{0,80}}$|\s{{0,8}}\|.{{0,200}}\|\s{{0,8}}$"
)
"""A line of a record that holds no figure: a list, a time, the name of a group."""
_RULE: Final = re.compile(r"[\s\-=_*#+|{}\[\](),─━╭╮╰╯│┌┐└┘├┤┬┴┼]*$")
_CLOSING: Final = re.compile(r"summary|best|final|config|argument|hyper|setting", re.IGNORECASE)
"""Headings of what is no point of a curve."""
_OF_RUN: Final = "train_runtime"
"""Stands in the closing summary of the Trainer, whose loss is the mean of the run."""
_STEPS: Final = (
    "global_step",
    "num_timesteps",
    "total_timesteps",
    "timesteps_total",
    "timesteps",
    "total_env_steps",
    "totalenvinteracts",
    "step",
    "iteration",
    "iterations",
    "training_iteration",
    "iter",
    "update",
    "n_updates",
)
"""Names within a record that tell its step, the first that stands there."""
_GLOBAL: Final = re.compile(r"global[_ ]?step\W{1,4}(?P<value>\d{1,12})", re.IGNORECASE)
_NUMBER_OF: Final = re.compile(r"(?:steps?|iterations?|updates?|episodes?|rounds?|epochs)$")
_DIGIT: Final = re.compile(r"\d")
_MOST_LINES: Final = 60
_MOST_BYTES: Final = 6000
_LONGEST: Final = 240
_GAP: Final = 3
"""Lines without any figure between a record and its heading."""


class Block(NamedTuple):
    """A record of several lines."""

    text: str
    """The same on one line."""
    names: tuple[str, ...]
    """As printed, in order: what tells one kind of record from another."""
    end: int
    """Where it ends in the data of the view."""


class _Entry(NamedTuple):
    name: str
    value: str


def entry(text: str) -> tuple[str, str] | None:
    """Read a line that holds one name and one figure; None if it is no such line."""
    found = _ENTRY.match(text) if len(text) <= _LONGEST else None
    if found is None:
        return None
    name = "_".join(found["name"].split())
    if "/" in name:  # Composer puts the loop before the name
        name = name.removeprefix("Train_")
    return _Entry(name, found["value"].rstrip(","))


def block(view: View, back_to: int) -> Block | None:
    """Read the record that a line is part of.

    Args:
        view: the line.
        back_to: offset in the data before which lines belong to another record.
    """
    own = entry(view.cleaned.text)
    if own is None or not losses_on(f"{own[0]}: {own[1]}").values:
        return None
    above, heading = _above(view, max(back_to, view.start - _MOST_BYTES))
    behind, end = _behind(view, {one.name for one in above})
    entries = [*above, *behind]
    if not behind:
        return None
    if _CLOSING.search(heading) or (len(entries) < 2 and not heading):
        return None
    return Block(_joined(heading, entries), tuple(one.name for one in entries), end)


def _above(view: View, low: int) -> tuple[list[_Entry], str]:
    """Give the entries above a line, in order, and the heading above them."""
    found, seen, gap, end = list[_Entry](), {_name_of(view)}, 0, view.start - 1
    group = ""
    for _ in range(_MOST_LINES):
        if end <= low:
            break
        start = max(view.data.rfind(b"\n", low, end), view.data.rfind(b"\r", low, end)) + 1 or low
        text = _text_at(view, start, end)
        if text is None:
            break
        one, end = entry(text), start - 1
        if gap == 0 and one is not None and one[0] not in seen:
            found.insert(0, _Entry(*one))
            seen.add(one[0])
        elif one is None and text.strip() and not _RULE.match(text) and _is_heading(text):
            return found, f"{text.strip()} {group}".rstrip()
        elif one is None and not group and _is_group(text):
            group, gap = text.strip(), max(gap, 1)  # what stands above belongs to another group
        elif _RULE.match(text):
            gap += not text.strip() or not found
        elif one is not None or not _FILLER.match(text):
            break
        if gap > _GAP:
            break
    return found, group


def _behind(view: View, seen: set[str]) -> tuple[list[_Entry], int]:
    """Give the entries of a line and of those behind it, and where the last of them ends."""
    found, start, end, data = list[_Entry](), view.start, view.end, view.data
    limit = min(len(data), view.start + _MOST_BYTES)
    for _ in range(_MOST_LINES):
        close = data.find(b"\n", start, limit)
        close = limit if close < 0 else close
        text = _text_at(view, start, close)
        one = entry(text) if text is not None else None
        if text is not None and _OF_RUN in text:
            return [], view.end
        if text is None or not text.strip() or (one is not None and one[0] in seen):
            break
        if one is not None:
            found.append(_Entry(*one))
            seen.add(one[0])
            end = close
        elif not _RULE.match(text) and (
            _is_heading(text) or _is_group(text) or not _FILLER.match(text)
        ):
            break
        if close >= limit:
            break
        start = close + 1
    return found, end


def _text_at(view: View, start: int, end: int) -> str | None:
    """Give another line of the process, cleaned; None if it is too long or of another process."""
    if end - start > _LONGEST * 2:
        return None
    where: Where = view.cleaned.where
    one = view.clean_at(start, end - (view.data[end - 1 : end] == b"\r"))
    return one.text if same_process(one.where, where) else None


def _name_of(view: View) -> str:
    one = entry(view.cleaned.text)
    return one[0] if one else ""


def _is_heading(text: str) -> bool:
    """Say whether a line names a step or an epoch, and no loss of its own."""
    return len(text) <= _LONGEST and bool(named_on(text)) and not losses_on(text).values


def _is_group(text: str) -> bool:
    """Say whether a line is the heading of a group: it names a split of the data, and no figure."""
    return len(text) <= _LONGEST // 2 and not _DIGIT.search(text) and names_split(text)


def _joined(heading: str, entries: Sequence[_Entry]) -> str:
    """Write a record on one line, its step before anything else."""
    named = {plain(one.name).rpartition("/")[2].strip("_"): one for one in entries}
    of_run = _GLOBAL.search(heading)
    own = next((named[name] for name in _STEPS if name in named), None)
    step = of_run["value"] if of_run else own.value if own else ""
    told = of_run is not None or (own is not None and named_on(heading).step is None)
    place = f"step: {step}, " if told and step.isdecimal() else ""
    rest = [one for one in entries if one is not own and not _NUMBER_OF.search(one.name)]
    return f"{place}{heading}: " + ", ".join(f"{one.name}: {one.value}" for one in rest)
