"""Infer what the rules do on every line of a shape from what they do on some.

In: what each rule does on lines that differ in their numbers; a rule of several lines, and the text
of the line that its window begins with. Out: `RuleVerdict`; of such a rule whether it holds there
whatever stands behind that line, whether none of its matches begins in that line, and the word that
each of its matches holds. Not here: asking the rules (`trials`), which lines stand behind
(`reading.windows`).

A match in the first line alone stays one in every window that begins with it, where the engine is
linear and nothing in the pattern asks for the end of the text. That no match begins in the line,
nor may begin there and be completed behind it, tells the engine that backtracks, where nothing in
the pattern looks at both sides of a border: it does not know what stands behind this one.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from postmortem.core.log_text import compile_lazily
from postmortem.extraction.literals import Matcher, Wanted
from postmortem.rules.base import Signature
from postmortem.rules.engine import Budget, find_first_match_start
from postmortem.rules.pattern_syntax import codes, parser

_TEXT_END: Final = compile_lazily(r"\$|\\[zZ]")
"""What hangs on where the text ends."""
_BORDERS: Final = compile_lazily(r"\$|\\[bBzZGmMAKX]|\(\?<[=!]|\(\?[a-zA-Z]*r")
_SHORTEST: Final = 4
"""Characters of a word by which matches are told."""


def must_match(rule: Signature, text: str, budget: Budget | None = None) -> bool:
    """Say whether a rule is sure to hold in every window that begins with a line.

    Raises:
        TimeoutError: the search took too long, or the budget is spent.
    """
    pattern = rule.pattern()
    return (
        pattern.is_linear
        and not rule.raw.get("unless")
        and not rule.raw.get("beside")
        and _TEXT_END.search(rule.match) is None
        and pattern.search(text, budget) is not None
    )


def has_no_match_start(rule: Signature, text: str, budget: Budget | None = None) -> bool:
    """Say whether no match of a rule begins in a line, whatever stands behind it.

    Raises:
        TimeoutError: the search took too long, or the budget is spent.
    """
    if _BORDERS.search(rule.match) is not None:
        return False
    return find_first_match_start(rule.match, f"{text}\n", budget) > len(text)


@functools.lru_cache(maxsize=256)
def find_required_word(pattern: str) -> bytes:
    """Give the longest word that every match of a pattern holds, within one line.

    Empty if none is known.
    """
    try:
        nodes = parser.parse(pattern)
    except (re.error, RecursionError):
        return b""  # `regex` knows more than Python does
    if nodes.state.flags & re.IGNORECASE:
        return b""
    words, word = [], ""
    for code, value in [*nodes, (None, None)]:
        if code is codes.LITERAL and not chr(value).isspace():
            word += chr(value)
            continue
        words.append(word)
        word = ""
    longest = max(words, key=len)
    return longest.encode() if len(longest) >= _SHORTEST else b""


VAIN: Final = "vain"
FOUND: Final = "found"
UNSURE: Final = "unsure"
WAITS: Final = "waits"
"""It hangs on what stands behind the line."""
_FEWEST_MET: Final = 8
"""Lines that a rule must meet of which nothing is taken."""

LineOutcome = tuple[dict[Wanted, object], tuple[str, ...]]
"""What each rule does with a line, and the texts of its numbers."""


class MachineFigure(NamedTuple):
    """A figure of the machine, or of its GPUs, that each line of a shape states.

    A text around a number.
    """

    rule: int
    name: str
    before: str
    span: int
    """Index of the span of its number; -1 if it is always the same text."""
    behind: str
    strength: int = 1


class LinesBehind(NamedTuple):
    """What must stand behind a line if rules of several lines are to hold there after all."""

    rules: frozenset[int]
    """Signatures, by index."""
    words: tuple[bytes, ...]
    """One of them must."""
    lines: int
    """Within so many."""
    known: "RuleVerdict"
    """What is known without these rules."""


class RuleVerdict(NamedTuple):
    """What rules do on every line of a shape."""

    literals: frozenset[int]
    """Those all of whose rules are known."""
    known_rules: frozenset[int]
    """The rules that are known, by their hashes."""
    found: tuple[int, ...]
    """The signatures that hold."""
    figures: tuple[MachineFigure, ...]
    is_sure: bool
    """Whether every literal of these lines is known but for such as hang on their numbers."""
    is_idle: bool = False
    """Whether no figure is taken."""
    is_in_part: bool = False
    """Whether some rules are known, and no other reads a figure: a rule that looks at several lines
    may be asked each time, and those beside it are not."""
    behind: LinesBehind | None = None
    """What the rest hangs on, if it hangs on what stands behind a line."""

    @property
    def is_usable(self) -> bool:
        """Whether lines of the shape may be read by it."""
        return self.is_sure or self.is_in_part


NOTHING_KNOWN: Final = RuleVerdict(frozenset(), frozenset(), (), (), is_sure=False)


def build_verdict(
    matcher: Matcher,
    outcomes: Sequence[LineOutcome],
    literals: Sequence[set[int]],
    *,
    is_read: bool,
) -> RuleVerdict:
    """Give what the rules do on all lines of a shape without figures.

    Args:
        matcher: the rules.
        outcomes: what they do on some of its lines.
        literals: of these lines.
        is_read: figures are taken by a template, and nobody else takes any.
    """
    known = _find_constant_effects(outcomes)
    verdict = _build_known_verdict(matcher, known, literals, is_read=is_read)
    waiting = [consumer for consumer, answer in known.items() if answer == WAITS]
    if not waiting:
        return verdict
    rules = [matcher.signatures[index] for _, index in waiting]
    rest = {consumer: answer for consumer, answer in known.items() if answer != WAITS}
    behind = LinesBehind(
        frozenset(index for _, index in waiting),
        tuple(dict.fromkeys(find_required_word(rule.match) for rule in rules)),
        max(rule.lines for rule in rules) - 1,
        _build_known_verdict(matcher, rest, literals, is_read=is_read),
    )
    return verdict._replace(behind=behind)


def _build_known_verdict(
    matcher: Matcher,
    known: Mapping[Wanted, object],
    literals: Sequence[set[int]],
    *,
    is_read: bool,
) -> RuleVerdict:
    """Give what rules do of which it is known."""
    proved = {
        number
        for number in set[int]().union(*literals)
        if all(consumer in known for consumer in matcher.consumers[number])
    }
    is_sure = set.intersection(*literals) <= proved
    return RuleVerdict(
        frozenset(proved),
        frozenset(map(hash, known)),
        tuple(index for (_, index), answer in known.items() if answer == FOUND),
        tuple(
            figure._replace(rule=index, strength=int(matcher.facts[index].raw.get("strength", 1)))
            for (_, index), answer in known.items()
            if isinstance(answer, tuple)
            for figure in answer
        ),
        is_sure=is_sure,
        is_in_part=bool(known) and not is_read,
        is_idle=not is_read,
    )


def _find_constant_effects(outcomes: Sequence[LineOutcome]) -> dict[Wanted, object]:
    """Give what rules do that meet every line and do the same with each.

    What does nothing with any may meet some of them only, as one does whose literal holds a number.
    """
    known: dict[Wanted, object] = {}
    for wanted in {consumer for answers, _ in outcomes for consumer in answers}:
        effects = [(answers[wanted], texts) for answers, texts in outcomes if wanted in answers]
        answer = _find_common_effect(effects)
        fewest = min(len(outcomes), _FEWEST_MET) if answer == VAIN else len(outcomes)
        if answer != UNSURE and len(effects) >= fewest:
            known[wanted] = answer
    return known


def _find_common_effect(effects: list[tuple[object, tuple[str, ...]]]) -> object:
    """Give what is said of all lines alike, figures of the machine by the number that they are."""
    first = effects[0][0]
    if isinstance(first, list):
        return _find_number_positions(
            [(effect, texts) for effect, texts in effects if isinstance(effect, list)], len(effects)
        )
    return first if all(effect == first for effect, _ in effects) else UNSURE


def _find_number_positions(
    effects: list[tuple[list[tuple[str, str]], tuple[str, ...]]], count: int
) -> object:
    names = [name for name, _ in effects[0][0]]
    if len(effects) < count or any(
        [name for name, _ in captures] != names for captures, _ in effects
    ):
        return UNSURE
    found = []
    for position, name in enumerate(names):
        values = [(captures[position][1], texts) for captures, texts in effects]
        spans = range(-1, len(values[0][1]))
        figure = next(filter(None, map(functools.partial(_match_span, name, values), spans)), None)
        if figure is None:
            return UNSURE
        found.append(figure)
    return tuple(found)


def _match_span(
    name: str, values: list[tuple[str, tuple[str, ...]]], span: int
) -> MachineFigure | None:
    """Give a figure as a text around the number of a span; None if it is not that number."""
    text, texts = values[0]
    if span < 0:
        same = all(value == text for value, _ in values)
        return MachineFigure(0, name, text, -1, "") if same else None
    before, own, behind = text.partition(texts[span])
    if not own:
        return None
    same = all(value == f"{before}{others[span]}{behind}" for value, others in values)
    return MachineFigure(0, name, before, span, behind) if same else None
