"""What the rules do on a line, found out by asking them.

In: a line and lines that differ from it in their numbers. Out: what each rule does on all of them.
Not here: which numbers stay open (`line_shapes`), doing it.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from postmortem.formats import grids
from postmortem.formats.blocks import entry
from postmortem.formats.generic import look
from postmortem.gathering.columnar.line_literals import LineLiterals
from postmortem.gathering.finding_lines import has_happened
from postmortem.gathering.literals import Machine, Wanted
from postmortem.knowledge.base import Format, Signature
from postmortem.knowledge.engine import Budget
from postmortem.reading.prefixes import Cleaned, clean
from postmortem.reading.windows import View

_VAIN: Final = "vain"
_FOUND: Final = "found"
_UNSURE: Final = "unsure"
_FIGURES: Final = frozenset({"metric", "generic"})
_MACHINE: Final = "machine_"


class MachineFigure(NamedTuple):
    """A figure of the machine that each line of a shape states: a text around a number."""

    rule: int
    name: str
    before: str
    span: int
    """Index of the span of its number; -1 if it is always the same text."""
    behind: str


class RuleVerdict(NamedTuple):
    """What rules do on every line of a shape."""

    literals: frozenset[int]
    """Those all of whose rules are known."""
    asked: frozenset[int]
    """The rules that are known, as keys of `claimed_key`."""
    found: tuple[int, ...]
    """The signatures that hold."""
    figures: tuple[MachineFigure, ...]
    is_sure: bool
    """Whether every literal of these lines is known but for such as hang on their numbers."""
    is_idle: bool = False
    """Whether no figure is taken."""
    is_in_part: bool = False
    """Whether some rules are known, and no other reads a figure: a rule that looks at several lines
    is asked each time, and those beside it are not."""

    @property
    def is_usable(self) -> bool:
        """Whether lines of the shape may be read by it."""
        return self.is_sure or self.is_in_part


NOTHING_KNOWN: Final = RuleVerdict(frozenset(), frozenset(), (), (), is_sure=False)


def claimed_key(wanted: Wanted) -> int:
    """Give what stands for a rule that has looked at a line."""
    return hash(wanted)


class RuleTrials:
    """Asks the rules of one source."""

    def __init__(
        self, machine: Machine, budget: Budget, is_enough: Callable[[int], bool], *, srun: bool
    ) -> None:
        """Take the rules and what searching is taken from.

        Args:
            machine: the rules.
            budget: of searches.
            is_enough: says whether a rule for facts has matched as often as it counts.
            srun: lines carry task numbers.
        """
        self._machine, self._budget, self._srun = machine, budget, srun
        self.literals = LineLiterals(machine)
        self._is_enough = is_enough
        self.asked = 0
        """About how many lines the rules were asked."""

    def answers(self, raw: bytes, *, is_read: bool) -> dict[Wanted, object]:
        """Give what each rule that wants a line does with it.

        `is_read`: its figures are taken by a template, and nobody else takes any.

        Raises:
            TimeoutError: a search took too long, or the budget is spent.
        """
        return self._answers(raw, self.literals.of(raw), is_read=is_read)

    def _answers(self, raw: bytes, literals: set[int], *, is_read: bool) -> dict[Wanted, object]:
        self.asked += 1
        cleaned = clean(raw.decode("utf-8", "replace"), srun=self._srun)
        wanted = dict.fromkeys(
            one for number in sorted(literals) for one in self._machine.consumers[number]
        )
        return {one: self._answer(one, raw, cleaned, is_read=is_read) for one in wanted}

    def verdict(
        self, lines: Iterable[tuple[bytes, tuple[str, ...]]], *, is_read: bool
    ) -> RuleVerdict:
        """Give what the rules do on all lines of a shape, of which these are some."""
        asked = list(lines)
        literals = self.literals.of_each([raw for raw, _ in asked])
        given = []
        for (raw, texts), numbers in zip(asked, literals, strict=True):
            given.append((self._answers(raw, numbers, is_read=is_read), texts))
            if _has_figures(given[-1][0]):
                return NOTHING_KNOWN
        known = _known(given)
        consumers = self._machine.consumers
        proved = {
            number
            for number in set[int]().union(*literals)
            if all(one in known for one in consumers[number])
        }
        is_sure = set.intersection(*literals) <= proved
        return RuleVerdict(
            frozenset(proved),
            frozenset(map(claimed_key, known)),
            tuple(index for (_, index), answer in known.items() if answer == _FOUND),
            tuple(
                one._replace(rule=index)
                for (_, index), answer in known.items()
                if isinstance(answer, tuple)
                for one in answer
            ),
            is_sure=is_sure,
            is_in_part=bool(known) and not is_read,
            is_idle=not is_read,
        )

    def is_so(
        self,
        verdict: RuleVerdict,
        groups: tuple[int, ...],
        raw: bytes,
        texts: tuple[bytes, ...],
    ) -> bool:
        """Say whether the rules do on a line what they are known to do.

        Args:
            verdict: what is known.
            groups: by figure of the machine, the group of its number.
            raw: the line.
            texts: its groups.
        """
        found, stated = set(), dict[int, list[tuple[str, str]]]()
        for figure, group in zip(verdict.figures, groups, strict=True):
            number = texts[group].decode() if group >= 0 else ""
            stated.setdefault(figure.rule, []).append(
                (figure.name, f"{figure.before}{number}{figure.behind}")
            )
        for wanted, answer in self.answers(raw, is_read=not verdict.is_idle).items():
            if claimed_key(wanted) not in verdict.asked:
                continue
            kind, index = wanted
            if answer == _FOUND:
                found.add(index)
            elif (kind == "fact" and answer != stated.get(index, _VAIN)) or answer == _UNSURE:
                return False
        return found == set(verdict.found)

    def is_vain(self, verdict: RuleVerdict, number: int, raw: bytes) -> bool:
        """Say whether a literal on a line leads nowhere, but for the rules that are known.

        Only signatures may want it: whatever does not hold there leaves no trace.
        """
        if not self._machine.is_of_signatures[number]:
            return False
        cleaned = clean(raw.decode("utf-8", "replace"), srun=self._srun)
        try:
            return all(
                self._answer(wanted, raw, cleaned, is_read=True) == _VAIN
                for wanted in self._machine.consumers[number]
                if claimed_key(wanted) not in verdict.asked
            )
        except TimeoutError:
            return False

    def _answer(self, wanted: Wanted, raw: bytes, cleaned: Cleaned, *, is_read: bool) -> object:
        kind, index = wanted
        if kind in _FIGURES:
            return _VAIN if is_read or self._has_no_figures(kind, index, raw) else _UNSURE
        if kind == "signature":
            return self._signature(self._machine.signatures[index], cleaned)
        if kind == "fact":
            fact = self._machine.facts[index]
            return _VAIN if self._is_enough(index) else _fact(fact, cleaned, self._budget)
        return _UNSURE

    def _has_no_figures(self, kind: str, index: int, raw: bytes) -> bool:
        """Say whether a reader of figures makes nothing of a line, whatever stands around it."""
        view = View(raw, 0, 0, srun=self._srun)
        if kind == "generic":
            return _is_no_record(view.cleaned.text)
        reader = self._machine.metrics[index]
        return reader.is_of_one_line and reader.read(view, self._budget) is None

    def _signature(self, rule: Signature, cleaned: Cleaned) -> object:
        if rule.lines > 1 or cleaned.text.lstrip().startswith("raise "):
            return _UNSURE
        match = rule.search(cleaned.text, self._budget)
        return _FOUND if match is not None and has_happened(rule, cleaned) else _VAIN


def _fact(rule: Format, cleaned: Cleaned, budget: Budget) -> object:
    if int(rule.raw.get("lines", 1)) > 1:
        return _UNSURE
    matches = (
        list(rule.finditer(cleaned.text, budget))
        if rule.raw.get("each")
        else list(filter(None, [rule.search(cleaned.text, budget)]))
    )
    if not matches:
        return _VAIN
    told = [
        (name, str(value))
        for match in matches
        for name, value in (*match.groupdict().items(), *(rule.raw.get("set") or {}).items())
        if value is not None
    ]
    is_of_machine = all(name.startswith(_MACHINE) for name, _ in told)
    return told if is_of_machine and not rule.enough and not rule.framework else _UNSURE


def _has_figures(answers: dict[Wanted, object]) -> bool:
    """Say whether a reader of figures may make something of a line: no shape is made of it then."""
    return any(answer != _VAIN for (kind, _), answer in answers.items() if kind in _FIGURES)


def _known(
    given: Sequence[tuple[dict[Wanted, object], tuple[str, ...]]],
) -> dict[Wanted, object]:
    """Give what rules do that meet every line and do the same with each."""
    known: dict[Wanted, object] = {}
    for wanted in {one for answers, _ in given for one in answers}:
        told = [(answers[wanted], texts) for answers, texts in given if wanted in answers]
        answer = _common(told)
        if answer != _UNSURE and len(told) == len(given):
            known[wanted] = answer
    return known


def _is_no_record(text: str) -> bool:
    """Say whether a line is none of a record, of several lines or one, and no heading."""
    return (
        look(text) is None
        and entry(text) is None
        and "|" not in text
        and "[=" not in text
        and "━" not in text
        and " - " not in text
        and not grids.columns(text)
    )


def _common(told: list[tuple[object, tuple[str, ...]]]) -> object:
    """Give what is said of all lines alike, figures of the machine by the number that they are."""
    first = told[0][0]
    if isinstance(first, list):
        return _figures([(one, texts) for one, texts in told if isinstance(one, list)], len(told))
    return first if all(one == first for one, _ in told) else _UNSURE


def _figures(told: list[tuple[list[tuple[str, str]], tuple[str, ...]]], count: int) -> object:
    names = [name for name, _ in told[0][0]]
    if len(told) < count or any([name for name, _ in one] != names for one, _ in told):
        return _UNSURE
    found = []
    for position, name in enumerate(names):
        values = [(one[position][1], texts) for one, texts in told]
        spans = range(-1, len(values[0][1]))
        figure = next(filter(None, map(functools.partial(_as_span, name, values), spans)), None)
        if figure is None:
            return _UNSURE
        found.append(figure)
    return tuple(found)


def _as_span(
    name: str, values: list[tuple[str, tuple[str, ...]]], span: int
) -> MachineFigure | None:
    """Give a figure as a text around the number of a span; None if it is not that number."""
    text, texts = values[0]
    if span < 0:
        same = all(one == text for one, _ in values)
        return MachineFigure(0, name, text, -1, "") if same else None
    before, own, behind = text.partition(texts[span])
    if not own:
        return None
    same = all(one == f"{before}{others[span]}{behind}" for one, others in values)
    return MachineFigure(0, name, before, span, behind) if same else None
