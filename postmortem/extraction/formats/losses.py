"""The losses on a line of unknown layout, what they are called, and which of them is `loss`.

In: a cleaned line; the printed names of figures, process by process. Out: `Losses`: the figures by
canonical name; the name that each is to have. Not here: what else stands on the line
(`formats.metric_pairs`), where in the run it stands (`formats.figures`).

A line that names one objective alone (`triplet loss`, `mse`, `nll`) beside its place names the
training loss.

Of several printed names of the training loss only one is `loss`: a plain `loss` with a step before
anything else, then a plain training loss with a step before a part of it, else the first. The
others (`avg. loss` at the end of an epoch) keep their names. Any other figure that a program prints
for its steps and for its epochs has two names, too.
"""

import functools
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from postmortem.core import names
from postmortem.core.findings import ProcessId
from postmortem.core.log_text import compile_lazily, compile_lazily_with_words
from postmortem.core.names import EVAL_LOSS, LOSS
from postmortem.extraction.formats.figures import DECIMAL, FIGURE, parse_value
from postmortem.extraction.formats.record_parts import name_of_split

_NO_COUNT: Final = r"(?!(?i:e|ep|epoch|b|batch|i|it|iter|s|step|t|f|fold)\d{1,9} )"
"""What is no word of a name: `E003 B012 loss`."""
_LOSS_NAME: Final = (
    rf"(?:{_NO_COUNT}[A-Za-z][\w/]{{0,30}}(?:\. |[ _/.-])"
    r"|[A-Za-z]\w{0,30}(?=L)|[a-z]{1,4}(?=loss))?"
    r"(?:[Ll]og)?[Ll](?:oss(?:es)?|OSS)"
    r"(?:(?:[ _/][a-z]|_?[A-Z]|_?\d)\w{0,20}|[ /][A-Z]\b)?(?:/\w{1,20}){0,2}"
)
_LOSS_OF: Final = (
    r"(?P<of> (?:[Pp]er|[Oo]ver|[Oo]n) (?:the )?[A-Za-z]\w{0,20}"
    r"(?: (?:set|data(?:set)?|split|samples?|batch))?(?=\s{0,4}[:=]| is \d))?"
)
"""What the loss is a mean of, or computed on: `Loss Per Batch:`, `loss on validation set =`."""
_LOSS_SIGN: Final = (
    r"(?: so far(?: is)?)?(?: (?:at|after|in|for|of|on) (?:training |global )?"
    r"(?:(?i:step|epoch|iter(?:ation)?|episode|round|batch) \d{1,9}"
    r"|\d{1,9} (?:steps|epochs?|iter(?:ation)?s|episodes|rounds|batches))(?: is)?"
    r"| \((?i:step|epoch|iter(?:ation)?) \d{1,9}\)"
    r"| (?:from|for|of|over|in|on)(?: (?:[a-z]{1,12}|\d{1,9})){1,5}"
    rf" (?:is|was)(?=:?\s{{1,4}}{DECIMAL}))?"
    r"(?:\s{0,4}(?:\([a-z]{1,8}\))?\s{0,4}[:=|\]]{1,2}\s{0,40}|"
    rf"(?: is)?\s{{1,16}}(?=(?:tensor\()?{DECIMAL}))"
)
_LOSS: Final = compile_lazily_with_words(
    "loss",
    rf"(?<![\w./-])(?!(?:[Nn]a[Nn]|[Ii]nf) )(?P<name>{_LOSS_NAME})[\"']?"
    rf"{_LOSS_OF}{_LOSS_SIGN}[\"']?(?:tensor\(|np\.float\d+\(|\[(?={FIGURE}\]))?"
    rf"(?P<value>{FIGURE})(?![\w/:(\[]|\.\d|\s?[*+](?!\s\d))",
)
_ONE: Final = (
    r"(?:[Rr]?(?:mse|MSE)|nll|NLL|bce|BCE|ce|CE|[lL][12]|nt-xent|xent|dice"
    r"|rec(?:on(?:struction)?)?|elbo|ELBO|[Kk][Ll][Dd]|objective|total|ctc|CTC|huber"
    r"|(?<![Tt]ime )[Cc]ost|[Ss]mooth[_ ]?[Ll]1|TD(?=[=:])|(?:td|TD)[_ ]err(?:or)?"
    r"|[Cc]ross[ _-]?[Ee]ntropy|[Ii]nfo_?[Nn][Cc][Ee]"
    r"|[LJ](?=[ =:]))"
)
_OBJECTIVE: Final = compile_lazily(
    rf"(?<![\w./-])(?P<name>(?:[Tt]rain(?:ing)?[ _/-])?{_ONE}(?:[-_+]{_ONE}){{0,3}})[\"']?"
    r"(?: after (?:step|epoch|iter(?:ation)?) \d{1,9})?"
    rf"(?:\s{{0,4}}[:=]\s{{0,6}}|\s{{1,16}}(?={DECIMAL}))[\"']?"
    rf"(?P<value>{FIGURE})(?![\w/:(\[]|\.\d|\s?(?:[*+]|(?:s(?:ec\w{{0,4}})?|m(?:s|in\w{{0,4}}))\b))"
)
_DIVERGENCE: Final = compile_lazily(r"kld$", re.IGNORECASE)
"""A part that stands beside the objective, and is it only where it stands alone."""
_RETRIEVED: Final = compile_lazily(r"prec|(?<![a-z])(?:f1|m?ap|auc|iou|p)(?![a-z])", re.IGNORECASE)
"""What stands beside `rec` where it is short for recall."""
_OF_VALUES: Final = compile_lazily(
    r"^(?:td|qf?\d?)(?:$|[_ ])|critic|^v(?:alue|f)?_loss", re.IGNORECASE
)
"""What a critic minimises: the name tells that it may rise."""
_WHOLE: Final = compile_lazily(r"^(?:total|objective|elbo)$", re.IGNORECASE)
_EVAL: Final = compile_lazily(
    r"(?<![a-z])(?:va|te|val(?:i|id(?:ation)?)?|eval(?:uation)?|test(?:ing)?|dev|cv)(?![a-z])",
    re.IGNORECASE,
)
_SPLIT: Final = compile_lazily(
    r"(?<![\w./-])(?:(?P<train>train(?:ing)?|tr)|val(?:id(?:ation)?)?|validating|validate|eval(?:uation|uating)?"
    r"|test(?:ing)?|dev|sanity)(?![\w./]|\s?[=:]\s?[-+]?\.?\d)",
    re.IGNORECASE,
)
_TRAIN: Final = compile_lazily(
    r"^(?:(?:train(?:ing)?|tr|avg\.?|averaged?|mean|total|running|(?:mini-?)?batch|lm|current|epoch|step|iter)"
    r"[ _/.-]?){0,2}loss(?:es)?(?:[ _/](?:train|step|avg|total)){0,2}$",
    re.IGNORECASE,
)
_SPLIT_LOSS: Final = compile_lazily(
    r"(?:\s?\([^()\n]{1,30}\))?[^A-Za-z\d\n]{1,8}(?:\d{1,9}[^A-Za-z\d\n]{1,8})?"
    r"(?P<name>(?P<train>[Tt]rain(?:ing)?)|[Vv]al(?:id(?:ation)?)?|[Tt]est|[Dd]ev)"
    rf"\]?(?:\s?[:=]\s{{0,6}}|\s{{1,6}})(?={DECIMAL})(?P<value>{FIGURE})(?![\w/:(\[%]|\.\d)"
)
_CAMEL: Final = compile_lazily(
    r"(?<=[a-z])(?=L(?:oss|OSS))|(?<=^tr)(?=loss)|(?<=^val)(?=loss)|(?<=^(?:test|eval))(?=loss)"
    r"|(?<=^(?:train|valid))(?=loss)"
)
"""Where a name of two words is written as one."""
_SETTING: Final = compile_lazily(
    r"[ _/](?:weights?|scal(?:e|er|ing)|type|fn|func[a-z]*|coeff?[a-z]*|factor|lambda|reduction"
    r"|threshold|interval|freq[a-z]*|ratio|margin|eps|(?<!oss.)step|steps|name|mask|log(?!loss)[a-z]*"
    r"|is|was|at|of|in|for|and|on)$"
)
_FILLER: Final = compile_lazily(
    r"^(?:and|with|the|a|an|of|its|got|has|is|only|INFO|DEBUG)[ -]", re.IGNORECASE
)
_WORDS_BEFORE: Final = compile_lazily(
    r"(?:^|[,;|:>)\]}\t])[\s\"']{0,8}(?P<words>(?:(?!(?:the|and|with|of|in|at|for|INFO|DEBUG)\b)"
    rf"{_NO_COUNT}[A-Za-z][\w-]{{0,20}} ){{1,2}})$"
)
"""What else the name of a part of the loss begins with: `pal1 conf loss`."""
_BARE_LOSS: Final = compile_lazily(r"loss\b", re.IGNORECASE)
_OWN_SCORE: Final = compile_lazily(
    rf"[ _-]{{1,2}}[A-Za-z][\w@-]{{0,20}}\s{{0,4}}[:=]\s{{0,4}}{FIGURE}"
)
_NO_OBJECTIVE: Final = compile_lazily(r"eval_loss|^best_|best|min|scale", re.IGNORECASE)
_BEST: Final = compile_lazily(r"(?:best|lowest|min(?:imum)?)[ _:=]{1,3}$", re.IGNORECASE)
_MOST_LOSSES: Final = 50
ALONE: Final = (_LOSS, _OBJECTIVE)
"""What a line of a loss holds, wherever in the run it stands."""
BESIDE_PLACE: Final = (_SPLIT_LOSS,)
"""What is a loss on a line that says where in the run it stands."""


class Losses(NamedTuple):
    """The losses on a line."""

    values: dict[str, float]
    """By canonical name, in the order of the line."""
    printed: str
    """The name under which `loss` was printed; empty if there is none."""
    start: int
    """Where the first begins; -1 if there is none."""
    end: int
    """Where the last ends."""


def parse_losses(text: str, *, has_place: bool = False) -> Losses:
    """Read the figures that are called losses; beside a step or an epoch `loss is 2.3` is one."""
    values: dict[str, float] = {}
    printed, first, end = "", -1, 0
    for match in itertools.islice(_LOSS.finditer(text), _MOST_LOSSES):
        shown = _get_printed_name(match, text, has_place=has_place)
        value = parse_value(match["value"])
        if value is None or _SETTING.search(shown):
            continue
        first, end = (match.start() if first < 0 else first), match.end()
        name = _name(shown, text, match.start(), match["of"] or "")
        if name in {"loss", "eval_loss"} and name in values:
            name = normalise_name(shown)
        printed = printed or (normalise_name(shown) if name == "loss" else "")
        values.setdefault(name, value)
    if not printed and [*values] == [EVAL_LOSS] and _is_among_scores(text, first):
        values, printed = {LOSS: values[EVAL_LOSS]}, LOSS
    return Losses(values, printed, first, end)


def _get_printed_name(match: "re.Match[str]", text: str, *, has_place: bool) -> str:
    """Give the name before a figure, without fillers and the verb of `loss is 2.3`."""
    shown = _FILLER.sub("", " ".join(match["name"].split()))
    if has_place or ("." in match["value"] and not text[: match.start()].strip()):
        return shown.removesuffix(" is")
    return shown


def _is_among_scores(text: str, start: int) -> bool:
    """Say whether the splits before a bare loss name the scores: `Train Acc: 9 Test Acc: 8 Loss:`.

    The training is one of them, and each has its own figure.
    """
    splits = list(_SPLIT.finditer(text, 0, start))
    is_bare = _BARE_LOSS.match(text, start) is not None
    return (
        is_bare
        and any(split["train"] for split in splits)
        and all(_OWN_SCORE.match(text, split.end()) for split in splits)
    )


def parse_objectives(text: str) -> Losses:
    """Read the figures of a line that names no loss.

    One objective of the training alone is it, or the total of several.
    """
    found = [
        (match, value)
        for match in itertools.islice(_OBJECTIVE.finditer(text), _MOST_LOSSES)
        if (value := parse_value(match["value"])) is not None
        and not (match["name"] == "rec" and _RETRIEVED.search(text))
        and not is_evaluation(text, match.start())
    ]
    if not found:
        return Losses({}, "", -1, 0)
    whole, has_parts = _find_total_loss([match["name"] for match, _ in found])
    values = {
        "loss" if match["name"] == whole else match["name"].replace(" ", "_"): value
        for match, value in reversed(found)
    }
    if has_parts or _OF_VALUES.search(whole):
        values[normalise_name(whole)] = values["loss"]  # its name tells what is minimised
    return Losses(
        dict(reversed(values.items())),
        normalise_name(whole),
        found[0][0].start(),
        found[-1][0].end(),
    )


def parse_split_losses(text: str, start: int) -> Losses:
    """Read the losses of a line that calls them by the split alone: `step 40 train 1.7 val 1.8`."""
    values, printed, begin, end = dict[str, float](), "", -1, start
    while match := _SPLIT_LOSS.match(text, end):
        value = parse_value(match["value"])
        if value is None:
            break
        name = "loss" if match["train"] else "eval_loss"
        begin, end = (match.start("name") if begin < 0 else begin), match.end()
        printed = match["name"] if match["train"] else printed
        values.setdefault(name, value)
    return Losses(values, printed, begin, end)


def _find_total_loss(shown: list[str]) -> tuple[str, bool]:
    """Give the name among objectives that is the loss; empty if there is none.

    And whether it is but the one beside a divergence.
    """
    total = next(filter(_WHOLE.match, shown), "")
    own = [name for name in shown if not _DIVERGENCE.search(name)] or shown
    if total or len(own) > 1:
        return total, False
    return own[0], len(shown) > 1


def take_only_objective(losses: Losses) -> Losses:
    """Take the only loss on a line for the training loss, unless its name speaks against it.

    That of the validation may stand behind it.
    """
    own = [name for name in losses.values if name != EVAL_LOSS]
    if len(own) != 1 or losses.printed or next(iter(losses.values)) != own[0]:
        return losses
    name = own[0]
    if _NO_OBJECTIVE.search(name):
        return losses
    values = {LOSS if given == name else given: value for given, value in losses.values.items()}
    if _OF_VALUES.search(name):
        values[normalise_name(name)] = losses.values[name]
    return losses._replace(values=values, printed=normalise_name(name))


def is_plain_loss(name: str) -> bool:
    """Say whether a name is that of the whole training loss, of no part of it."""
    return _TRAIN.match(name) is not None


def is_of_training(label: str) -> bool:
    """Say whether the first split that a label names, if any, is the training one."""
    split = _SPLIT.search(label)
    return split is None or bool(split["train"])


def has_split_name(text: str) -> bool:
    """Say whether a text names a split of the data: training, validation, test."""
    return _SPLIT.search(text) is not None


@functools.lru_cache(4096)
def normalise_name(shown: str) -> str:
    """Write a printed name in one way."""
    return re.sub(r"[ ._/-]+", "_", shown.lower())


def find_label_split(text: str, end: int) -> str:
    """Give the split that a line is of if it is none of the training: the last named before `end`.

    Empty for a line of the training, or of no split.
    """
    splits = list(_SPLIT.finditer(text, 0, max(0, end)))
    if not splits or splits[-1]["train"]:
        return ""
    word = splits[-1][0].lower()
    return next((name for name in ("val", "eval", "test", "dev") if word.startswith(name)), word)


def _name(printed: str, text: str, start: int, of: str) -> str:
    shown = _CAMEL.sub(" ", printed)
    if _BEST.search(text, max(0, start - 12), start):
        return f"best_{normalise_name(shown)}"
    if _EVAL.search(shown):
        return (
            "eval_loss"
            if not re.search(r"best|min", shown, re.IGNORECASE)
            else normalise_name(shown)
        )
    if not _TRAIN.match(shown):
        words = _WORDS_BEFORE.search(text, max(0, start - 48), start)
        before = f"{'_'.join(words['words'].split())}_" if words else ""
        return before + printed.replace(" ", "_")
    is_own = shown.lower().startswith("tr")  # it says itself what it is of
    is_other = not is_own and is_evaluation(text, start)
    return "eval_loss" if is_other or _EVAL.search(of) else "loss"


def is_evaluation(text: str, start: int) -> bool:
    """Say whether the last split named before a figure is not the training one."""
    splits = list(_SPLIT.finditer(text, 0, start))
    return bool(splits) and not splits[-1]["train"]


_MOST_NAMES: Final = 4096
COMMON: Final = frozenset(
    {names.EPOCH, names.LEARNING_RATE, names.THROUGHPUT, names.STEP_TIME, names.DATA_TIME}
    | {names.MEMORY, names.EVAL_LOSS, names.LOSS_SCALE, names.GRAD_NORM}
)
"""Figures that are the same whatever prints them."""


class LossOwners:
    """Keeps the spelling that is each process's own."""

    def __init__(self) -> None:
        """Know no process yet."""
        self._own: dict[ProcessId, tuple[str, bool]] = {}
        self._of_steps: dict[tuple[str, ProcessId], bool] = {}
        """Whether a figure was first printed with a step."""
        self._passes: dict[tuple[str, ProcessId], int] = {}
        """Batches of the first pass that ended with a loss of a printed name."""
        self.changes = 0
        """How often the training loss of a process has got another name."""
        self.rename: Callable[[str, ProcessId], None] = lambda _name, _where: None
        """Gives what was `loss` so far the name that it has beside the one that is now."""

    def is_owned(self, where: ProcessId) -> bool:
        """Say whether a process has a training loss already."""
        return where in self._own

    def called(self, mine: tuple[str, bool], where: ProcessId) -> str:
        """Give the name of a `loss` by its printed name and whether it has a step.

        One such spelling is a process's own.
        """
        printed = mine[0]
        own = self._own.setdefault(where, mine) if printed else mine
        if own == mine:
            return names.LOSS
        if mine[1] and _rank(mine) > _rank(own):
            self._own[where] = mine
            self.changes += 1
            self.rename(_name_apart(own[0]), where)
            return names.LOSS
        return _name_apart(printed)

    def name_pass(
        self, batches: int, printed: str, figures: Sequence[str], where: ProcessId
    ) -> list[str]:
        """Name the figures at the end of a pass: of a shorter one than the first, an evaluation's.

        Args:
            batches: of the pass; 0 where the line ends none.
            printed: the name of its loss.
            figures: the names of its figures so far.
            where: the process.
        """
        if not batches or batches >= self._passes.setdefault((printed, where), batches):
            return [*figures]
        return [name if name in COMMON else name_of_split(name, "val") for name in figures]

    def name_figure(self, name: str, where: ProcessId, *, has_step: bool) -> str:
        """Give the name of any other figure of a record that has a step or not."""
        if name in COMMON or names.OF_SPLIT in name:
            return name
        key = (name, where)
        if key not in self._of_steps:
            if len(self._of_steps) >= _MOST_NAMES or not is_of_training(name.replace("_", " ")):
                return name
            self._of_steps[key] = has_step
        return f"{names.OF_EPOCH}{name}" if self._of_steps[key] and not has_step else name


def _rank(mine: tuple[str, bool]) -> int:
    """Say how much speaks for a loss: a plain one with a step has most, a part least."""
    return 2 if mine == (names.LOSS, True) else int(is_plain_loss(mine[0]))


def _name_apart(printed: str) -> str:
    """Give the name of a training loss beside that which is `loss`."""
    return printed if printed != names.LOSS else f"{names.OF_EPOCH}{names.LOSS}"
