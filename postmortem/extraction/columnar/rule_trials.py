"""Try the rules on a line and its variants, to learn what they do on such lines.

In: a line and lines that differ from it in their numbers. Out: what each rule does on all of them.
Not here: which numbers stay open (`line_shapes`), doing it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from postmortem.extraction.columnar.line_literals import LineLiterals
from postmortem.extraction.columnar.rule_verdicts import (
    FOUND,
    NOTHING_KNOWN,
    UNSURE,
    VAIN,
    WAITS,
    RuleVerdict,
    build_verdict,
    make_claimed_key,
)
from postmortem.extraction.finding_lines import has_happened
from postmortem.extraction.formats import grids
from postmortem.extraction.formats.blocks import parse_entry
from postmortem.extraction.formats.generic import parse_metric_line
from postmortem.extraction.literals import Matcher, Wanted
from postmortem.reading.prefixes import Cleaned, clean
from postmortem.reading.windows import View
from postmortem.rules.base import Format, Signature
from postmortem.rules.engine import Budget
from postmortem.rules.first_lines import find_required_word, has_no_match_start, must_match

_FIGURES: Final = frozenset({"metric", "generic"})
_OF_MACHINE: Final = ("machine_", "gpu_")


class RuleTrials:
    """Asks the rules of one source."""

    def __init__(
        self,
        machine: Matcher,
        literals: LineLiterals,
        budget: Budget,
        is_enough: Callable[[int], bool],
        *,
        srun: bool,
    ) -> None:
        """Take the rules and what searching is taken from.

        Args:
            machine: the rules.
            literals: of the source.
            budget: of searches.
            is_enough: says whether a rule for facts has matched as often as it counts.
            srun: lines carry task numbers.
        """
        self._machine, self._budget, self._srun = machine, budget, srun
        self.literals = literals
        self._is_enough = is_enough
        self.trial_count = 0
        """About how many lines the rules were asked."""

    def answers(self, raw: bytes, *, is_read: bool) -> dict[Wanted, object]:
        """Give what each rule that wants a line does with it.

        `is_read`: its figures are taken by a template, and nobody else takes any.

        Raises:
            TimeoutError: a search took too long, or the budget is spent.
        """
        return self._try_rules(raw, self.literals.of(raw), is_read=is_read)

    def _try_rules(self, raw: bytes, literals: set[int], *, is_read: bool) -> dict[Wanted, object]:
        self.trial_count += 1
        cleaned = clean(raw.decode("utf-8", "replace"), srun=self._srun)
        wanted = dict.fromkeys(
            consumer for number in sorted(literals) for consumer in self._machine.consumers[number]
        )
        return {
            consumer: self._try_rule(consumer, raw, cleaned, is_read=is_read) for consumer in wanted
        }

    def verdict(
        self, lines: Iterable[tuple[bytes, tuple[str, ...]]], *, is_read: bool
    ) -> RuleVerdict:
        """Give what the rules do on all lines of a shape, of which these are some.

        Nothing is known where a reader of figures may make something of one of them.
        """
        tried = list(lines)
        literals = self.literals.of_each([raw for raw, _ in tried])
        outcomes = []
        for (raw, texts), numbers in zip(tried, literals, strict=True):
            answers = self._try_rules(raw, numbers, is_read=is_read)
            if _has_figures(answers):
                return NOTHING_KNOWN
            outcomes.append((answers, texts))
        return build_verdict(self._machine, outcomes, literals, is_read=is_read)

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
            if make_claimed_key(wanted) not in verdict.known_rules:
                continue
            kind, index = wanted
            if answer == FOUND:
                found.add(index)
            elif (kind == "fact" and answer != stated.get(index, VAIN)) or answer == UNSURE:
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
                self._try_rule(wanted, raw, cleaned, is_read=True) == VAIN
                for wanted in self._machine.consumers[number]
                if make_claimed_key(wanted) not in verdict.known_rules
            )
        except TimeoutError:
            return False

    def _try_rule(self, wanted: Wanted, raw: bytes, cleaned: Cleaned, *, is_read: bool) -> object:
        kind, index = wanted
        if kind in _FIGURES:
            return VAIN if is_read or self._has_no_figures(kind, index, raw) else UNSURE
        if kind == "signature":
            return self._try_signature(self._machine.signatures[index], cleaned)
        if kind == "fact":
            fact = self._machine.facts[index]
            return VAIN if self._is_enough(index) else _extract_fact(fact, cleaned, self._budget)
        return UNSURE

    def _has_no_figures(self, kind: str, index: int, raw: bytes) -> bool:
        """Say whether a reader of figures makes nothing of a line, whatever stands around it."""
        view = View(raw, 0, 0, srun=self._srun)
        if kind == "generic":
            return _is_no_record(view.cleaned.text)
        reader = self._machine.metrics[index]
        return reader.is_of_one_line and reader.read(view, self._budget) is None

    def _try_signature(self, rule: Signature, cleaned: Cleaned) -> object:
        text = cleaned.text
        if text.lstrip().startswith("raise "):
            return UNSURE
        if not has_happened(rule, cleaned):
            return VAIN
        if rule.lines > 1:
            return self._try_several_lines(rule, text)
        return VAIN if rule.search(text, self._budget) is None else FOUND

    def _try_several_lines(self, rule: Signature, text: str) -> object:
        if must_match(rule, text, self._budget):
            return FOUND
        is_known = find_required_word(rule.match) and has_no_match_start(rule, text, self._budget)
        return WAITS if is_known else UNSURE


def _extract_fact(rule: Format, cleaned: Cleaned, budget: Budget) -> object:
    if int(rule.raw.get("lines", 1)) > 1:
        return UNSURE
    matches = (
        list(rule.finditer(cleaned.text, budget))
        if rule.raw.get("each")
        else list(filter(None, [rule.search(cleaned.text, budget)]))
    )
    if not matches:
        return VAIN
    captures = [
        (name, str(value))
        for match in matches
        for name, value in (*match.groupdict().items(), *(rule.raw.get("set") or {}).items())
        if value is not None
    ]
    is_of_machine = all(name.startswith(_OF_MACHINE) for name, _ in captures)
    return captures if is_of_machine and not rule.enough and not rule.framework else UNSURE


def _has_figures(answers: Mapping[Wanted, object]) -> bool:
    """Say whether a reader of figures may make something of a line."""
    return any(answer != VAIN for (kind, _), answer in answers.items() if kind in _FIGURES)


def _is_no_record(text: str) -> bool:
    """Say whether a line is none of a record, of several lines or one, and no heading."""
    return (
        parse_metric_line(text) is None
        and parse_entry(text) is None
        and "|" not in text
        and "[=" not in text
        and "━" not in text
        and " - " not in text
        and not grids.split_columns(text)
    )
