"""The parts of a record under canonical names: columns, cells, pairs, and where they stand.

In: the name of a column, a tag, a file; the cells of a line and the columns of the last heading
(those of YOLO's bars); a match of a format of kind metrics. Out: the name under which a series is
kept; values by name; the name-value pairs of the record, whatever their number and order; the
places of its groups and pairs. Not here: names within printed lines (`formats.losses`,
`patterns/formats`), the groups that a format names itself, what the values are (`formats.records`).

A log that names thousands of metrics has thousands of lines with other names, which no template
takes. Most differ in digits, and to most patterns all digits are alike: then the parts of the one
stand where those of the other do, and nothing need be searched for.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from postmortem.core import names
from postmortem.core.log_text import compile_lazily
from postmortem.core.printed_words import join_words
from postmortem.extraction.formats.figures import parse_value
from postmortem.rules.base import Format
from postmortem.rules.engine import Budget, Match, Pattern, compile_pattern
from postmortem.rules.pattern_syntax import is_digit_agnostic

METRIC_WORDS: Final = (
    *(
        b"loss Loss LOSS mse MSE nll NLL bce BCE xent dice recon rec= kld KLD CE= ctc CTC "
        b"huber td_err TD_err TD= elbo ELBO ntropy ccuracy acc= MAE AUC erplexity bleu "
        b"BLEU IoU mAP PSNR IOU miou _iou ixAcc ix_acc Dice eward tep= errD errG norm =nan "
        b"poch["
    ).split(),
    b", grad_fn=",
    b"rec:",
    b"rec ",
    b"CE: ",
    b" CE ",
    b"TD err",
    b" l1 ",
    b" l1=",
    b" l1:",
    b" ce ",
    b" ce=",
    b" ce:",
    b"ost: ",
    b"ost = ",
    b"ost after ",
    b"acc:",
    b"Acc:",
    b"ixel acc",
    join_words("loss").encode(),
    b"poch:",
    b"iter: ",
    b"iters: ",
    b"tep: ",
    b"teps: ",
    b": nan",
    b": NaN",
    b'tep": ',
    b'ter": ',
    b'poch": ',
    b"tep': ",
    b"ter': ",
    b"isode': ",
    b"REWARD ",
    *(
        f"{word} {behind}".encode()
        for word in ("it", " ep", "iter", "tep", "pdate", "poch")
        for behind in " 0123456789"
    ),
)
"""What stands on a line that is looked at for figures; other names are learnt where they come again
(`extraction.literals`)."""
_STEP_NAMES: Final = (
    r"(?:train/)?(?:global[ _]?)?step|_step",
    r"iter(?:ation)?",
    r"(?:[\w ]{1,20}[/_])?total_?(?:env_?)?(?:time)?steps|(?:[\w ]{1,20}/)?(?:time)?steps"
    r"|total[/_](?:env_?)?(?:time)?steps|training_iteration|updates?",
    r"episodes?",
)
"""Columns that count the run: one of the first kind that is there."""
STEP_COLUMN: Final = compile_lazily("|".join(f"(?:{kind})" for kind in _STEP_NAMES))
TOTAL_LOSS: Final = compile_lazily(r"(?:train(?:ing)?[_/ ])?total[_ ]loss", re.IGNORECASE)
"""The training loss where its parts stand beside it and no other is called so."""
_STEP_COLUMNS: Final = tuple(map(compile_lazily, _STEP_NAMES))
TIME_COLUMNS: Final = frozenset(
    {"time", "elapsed_time", "created_at", "wall_time", "_runtime", "_timestamp"}
)
"""Columns that are no metric."""
_TRAIN: Final = r"(?:train(?:ing)?[_/ ])?"
_KNOWN: Final = (
    (compile_lazily(rf"{_TRAIN}loss(?:es|_step)?|loss(?:es)?/train(?:ing)?"), "loss"),
    (
        compile_lazily(
            r"(?:val|valid|validation|eval|test|dev)[_/ ]loss(?:es|_epoch)?"
            r"|loss(?:es)?/(?:val|valid|validation|eval|test|dev)"
        ),
        "eval_loss",
    ),
    (compile_lazily(rf"{_TRAIN}(?:lr|learning[-_ ]rate)|lr/pg0|lr-\w+"), "learning_rate"),
    (compile_lazily(rf"{_TRAIN}grad(?:ient)?[-_ ]?norm|gnorm"), "grad_norm"),
    (compile_lazily(rf"{_TRAIN}epochs?"), "epoch"),
)


def find_step_column(heads: Sequence[str]) -> int | None:
    """Give which of the columns, in lower case, counts the steps of the run."""
    return next(
        (
            index
            for kind in _STEP_COLUMNS
            for index, head in enumerate(heads)
            if kind.fullmatch(head)
        ),
        None,
    )


def normalise_metric_name(printed: str) -> str:
    """Give the name of a metric; one that is not known keeps its own."""
    return find_known_name(printed) or printed


def find_known_name(printed: str) -> str:
    """Give the name of a metric that the report knows by one; empty of any other."""
    lower = printed.lower()
    return next((name for pattern, name in _KNOWN if pattern.fullmatch(lower)), "")


def name_of_split(printed: str, split: str) -> str:
    """Name a figure of a split, which is empty for that of the training."""
    name = normalise_metric_name(printed)
    if not split or name == names.EVAL_LOSS:
        return name
    return names.EVAL_LOSS if name == names.LOSS else f"{name}{names.OF_SPLIT}{split}"


def name_cells(
    raw: Mapping[str, Any], text: str, columns: Sequence[str]
) -> list[tuple[str, float]]:
    """Name the cells of a line by the columns behind one that the format names, or by default.

    Args:
        raw: what the format says of its cells: `behind` which column, and their names by `default`.
        text: the cells.
        columns: of the last heading; empty if there was none.
    """
    cells, lowered = text.split(), [column.lower() for column in columns]
    names: Sequence[str] = raw.get("default", ())
    if raw.get("behind") in lowered:
        start = lowered.index(raw["behind"]) + 1
        names = columns[start : start + len(cells)]
    values = zip(names, map(parse_value, cells), strict=False)
    return [(name, value) for name, value in values if name and value is not None]


class PairPlaces(NamedTuple):
    """Where the pairs of a record stand in its text."""

    keys: Sequence[tuple[int, int]]
    """Without blanks around them."""
    values: Sequence[tuple[int, int]]
    endings: Sequence[str] = ()
    """What each name ends with: that of a mean so far says so."""


def _locate_pairs(match: Match) -> tuple[int, str]:
    """Give where the pairs of a match begin, and their text; empty where it has none."""
    try:
        return match.start("pairs"), match["pairs"] or ""
    except (KeyError, IndexError):  # the format has no such group
        return -1, ""


class PairReader:
    """Reads the pairs in the records of one format."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        """Take what the knowledge base says of the format."""
        self._raw = raw
        self._names: dict[str, str] = {**(raw.get("names") or {})}
        """By key, where it is another one; empty where the pair is ignored."""
        self._names.update(dict.fromkeys(raw.get("ignore") or (), ""))
        if raw.get("step"):
            self._names[raw["step"]] = "step"

    @functools.cached_property
    def _pair(self) -> Pattern | None:
        """The pattern of a pair, compiled when the first record comes."""
        pattern = self._raw.get("pair")
        return compile_pattern(pattern) if pattern else None

    @functools.cached_property
    def _loss_key(self) -> Pattern | None:
        """The pattern of the key that stands for the loss, compiled likewise."""
        pattern = self._raw.get("loss_key")
        return compile_pattern(pattern) if pattern else None

    @property
    def pattern(self) -> str:
        """The text of the pattern of a pair; empty if the format has none."""
        return self._raw.get("pair") or ""

    @property
    def is_linear(self) -> bool:
        """Whether searching for pairs takes nothing from the budget."""
        return self._pair is None or self._pair.is_linear

    def places(self, match: Match, budget: Budget | None) -> PairPlaces:
        """Find every pair of a match.

        Raises:
            TimeoutError: it took too long, or the budget is spent.
        """
        base, text = _locate_pairs(match)
        if self._pair is None or not text:
            return PairPlaces((), ())
        has_mean = "mean" in self._pair.names
        keys, values = list[tuple[int, int]](), list[tuple[int, int]]()
        endings = list[str]()
        for pair in self._pair.finditer(text, budget):
            start, end = pair.span("key")
            key = text[start:end]
            start += len(key) - len(key.lstrip())
            for group, ending in (("value", ""), ("mean", names.SO_FAR))[: 1 + has_mean]:
                value, value_end = pair.span(group)
                if value >= 0:
                    keys.append((base + start, base + start + len(key.strip())))
                    values.append((base + value, base + value_end))
                    endings.append(ending)
        return PairPlaces(keys, values, endings)

    def read(self, text: str, places: PairPlaces, budget: Budget | None) -> list[tuple[str, str]]:
        """Give (canonical name, printed value) of the pairs that stand at places of a text.

        The name is empty where the pair is ignored.

        Raises:
            TimeoutError: it took too long, or the budget is spent.
        """
        names = self._canonicalize_keys([text[start:end] for start, end in places.keys], budget)
        called = [name and name + end for name, end in zip(names, places.endings, strict=True)]
        values = [text[start:end] for start, end in places.values]
        return list(zip(called, values, strict=True))

    def rests(self, match: Match, budget: Budget | None) -> list[tuple[int, int]]:
        """Give where text stands that belongs to a pair but not to its value.

        Raises:
            TimeoutError: it took too long, or the budget is spent.
        """
        base, text = _locate_pairs(match)
        if self._pair is None or "rest" not in self._pair.names or not text:
            return []
        return [
            (base + found.start("rest"), base + found.end("rest"))
            for found in self._pair.finditer(text, budget)
            if found["rest"] is not None
        ]

    def _canonicalize_keys(self, keys: list[str], budget: Budget | None) -> list[str]:
        """Give the canonical names of a record's keys; at most one of them stands for the loss."""
        get_name = self._names.get
        names = [get_name(key, key) for key in keys]
        if self._loss_key is not None and "loss" not in names:
            for index, key in enumerate(keys):
                if self._loss_key.search(key, budget):
                    names[index] = "loss"
                    break
        return names


_MASK: Final = bytes.maketrans(b"123456789", b"0" * 9)
_MOST_KNOWN: Final = 256
_LONGEST_TEXT: Final = 1024
"""Characters of a text above which its places are not kept."""
_ODD: Final = ("unless", "beside")
"""What a rule may ask besides its pattern."""


class RecordPlaces(NamedTuple):
    """The places of a record in its text."""

    groups: Mapping[str, tuple[int, int]]
    """By name, of the groups that take part."""
    pairs: PairPlaces
    lines: int


class PlaceFinder:
    """Finds the records of one format."""

    def __init__(self, format_: Format, pairs: PairReader) -> None:
        """Take the format, and who finds its pairs; know no text."""
        self._format, self._pairs = format_, pairs
        self._known: dict[bytes, RecordPlaces | None] = {}
        """By text, with all digits the same."""
        self._is_blind: bool | None = None
        """Whether all digits are the same to its patterns; None while nobody has asked."""

    def find(self, text: str, budget: Budget | None) -> RecordPlaces | None:
        """Find the record in a text, or None if there is none.

        Raises:
            TimeoutError: it took too long, or the budget is spent.
        """
        if len(text) > _LONGEST_TEXT or not text.isascii() or not self._has_alike():
            return self._search_places(text, budget)
        masked = text.encode().translate(_MASK)
        try:
            return self._known[masked]
        except KeyError:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = self._known[masked] = self._search_places(text, budget)
            return found

    def _search_places(self, text: str, budget: Budget | None) -> RecordPlaces | None:
        match = self._format.search(text, budget)
        if match is None:
            return None
        return RecordPlaces(
            {name: place for name in self._names() if (place := match.span(name))[0] >= 0},
            self._pairs.places(match, budget),
            match[0].count("\n") + 1,
        )

    def _names(self) -> Sequence[str]:
        return self._format.pattern().names

    def _has_alike(self) -> bool:
        """Say whether texts that differ in digits alone have their records at the same places."""
        if self._is_blind is None:
            patterns = [pattern for pattern in (self._format.match, self._pairs.pattern) if pattern]
            self._is_blind = (
                not any(self._format.raw.get(name) for name in _ODD)
                and all(map(is_digit_agnostic, patterns))
                and self._format.pattern().is_linear
                and self._pairs.is_linear
            )
        return self._is_blind
