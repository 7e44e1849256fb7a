"""Match signatures and facts on the lines that hold one of their literals.

In: such lines. Out: findings of the signatures whose pattern holds, in an `Extract`; named values
(arguments, versions, GPUs, checkpoints) in its `FactStore`. Not here: how many findings are kept
(`extraction.extract`), what they mean (`inference`), what the values mean (`facts`).

A rule is searched once for all processes that print the same line.
"""

import functools
from typing import Final, NamedTuple

from postmortem.core.findings import Finding, ProcessId
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import cut
from postmortem.extraction.extract import FIRST, LAST, Sighting
from postmortem.extraction.frames import parse_raise_statement
from postmortem.extraction.points import Points
from postmortem.extraction.trailing_context import infer_level, is_in_warning, is_script
from postmortem.reading.prefixes import Cleaned, clean
from postmortem.reading.windows import LONG, View, ViewContext
from postmortem.rules.base import Format, Signature
from postmortem.rules.engine import Budget, Match
from postmortem.rules.vocabulary import Trait, has_trait

_MOST_TEXTS: Final = 1024
"""Texts that are known not to need another search: a thousand processes print the same one."""


class Searches:
    """What the rules have found in the texts of one source."""

    def __init__(self, budget: Budget) -> None:
        """Take the seconds that slow searches may take."""
        self._budget = budget
        self._known: dict[tuple[str, str], tuple[Match, ...]] = {}

    def search(self, rule: Signature | Format, text: str) -> tuple[Match, ...]:
        """Give all matches of a rule that wants each of them, else the first, if there is one.

        Raises:
            TimeoutError: it took too long, or the budget is spent.
        """
        known, key = self._known, (rule.id, text)
        found = known.get(key)
        if found is None:
            found = tuple(
                rule.finditer(text, self._budget)
                if rule.raw.get("each")
                else filter(None, [rule.search(text, self._budget)])
            )
            if len(text) <= LONG:
                if len(known) >= _MOST_TEXTS:
                    known.clear()
                known[key] = found
        return found


_EVENTS: Final = frozenset({"cause", "consequence"})
"""Roles of what happens in a run; the text of a script tells what would."""
_REST: Final = compile_lazily(rb"\s*\Z")
"""What may stand behind the last line; a log that is full of such lines is not copied for each."""
_MOST_TEXT: Final = 1000
_MOST_LONG: Final = 1000
"""Findings on long lines of a source whose text is kept at this length; later ones are cut more.
One that takes the place of another is none more."""
_LEAST_TEXT: Final = 200
_BEFORE: Final = 5
"""One part in so many of a text that is cut stands before the match."""
_AROUND: Final = 3000
"""Bytes on either side of a failure that are its surroundings."""
_MOST_CONTEXTS: Final = 4_000_000
"""Characters of surroundings that are kept of a source; others are read again from the file."""


class _FindingPlace(NamedTuple):
    """Where a finding stands; holds no part of a block."""

    source: int
    where: ProcessId
    line: int
    offset: int
    cleaned: Cleaned
    before: int
    """Metric records of the process before it."""
    context: tuple[int, str]


class KnownLine(NamedTuple):
    """A line of a block of which it is known which rules hold."""

    data: bytes
    begin: int
    end: int
    number: int
    """Raw."""
    base: int
    """The offset of its block."""


class FindingLines:
    """Takes the findings of one source."""

    def __init__(
        self,
        rules: tuple[Signature, ...],
        points: Points,
        searches: Searches,
        sight: ViewContext,
        line_break: bytes,
    ) -> None:
        """Take the rules, where records are counted, who searches, and what the views share."""
        self._rules, self._points, self._searches = rules, points, searches
        self._sight, self._break = sight, line_break
        self._contexts = self._long = 0
        """Characters of surroundings, and findings on long lines, so far."""

    def take(self, index: int, view: View, base: int) -> None:
        """Take what the signature of this index finds on a line."""
        rule, cleaned = self._rules[index], view.cleaned
        text = cleaned.text if rule.lines == 1 else "\n".join(view.following(rule.lines))
        text = _find_last_statement(view) or text
        match = next(iter(self._searches.search(rule, text)), None)
        if match is None or not has_happened(rule, cleaned):
            return
        cleaned = _infer_warning(rule, view)
        points = self._points
        where = points.process(cleaned.where)
        kept = points.result.kept(rule.id, points.source, where)
        if kept.count > FIRST + LAST and kept.last_line == view.number:
            kept.count += 1
            return
        is_quoted = rule.fatal or has_trait(rule.id, Trait.ABOUT_VALUES)
        is_new = is_quoted and kept.count < 2  # a crowd's too, whose first is one
        context = self._get_surroundings(view, base) if is_new else (0, "")
        place = _FindingPlace(
            points.source,
            where,
            view.number,
            base + view.start,
            cleaned,
            points.count_records_of(where),
            context,
        )
        if len(text) > LONG:
            self._long += not kept.is_full
            most = _MOST_TEXT if self._long <= _MOST_LONG else _LEAST_TEXT
            kept.add(
                _build_finding(rule, text, match, place, most)
            )  # what waits would hold all of the line
        else:
            kept.add_later(functools.partial(_build_finding, rule, text, match, place), view.number)

    def may_count(self, index: int, where: ProcessId) -> bool:
        """Say whether a further finding of a process costs no more than its count."""
        points, rule = self._points, self._rules[index]
        kept = points.result.findings.get((rule.id, points.source, where))
        return kept is not None and (kept.is_late if rule.lines == 1 else kept.is_full)

    def count(self, index: int, line: KnownLine, where: ProcessId) -> None:
        """Count a line on which a signature is known to hold, which is made only if it is kept."""
        points, rule, number = self._points, self._rules[index], line.number
        if rule.lines > 1:  # what stands behind it must not be held
            self.take(index, self._sight.view(line.data, line.begin, number), line.base)
            return
        kept = points.result.findings[rule.id, points.source, where]
        if kept.count > FIRST + LAST and kept.last_line == number:
            kept.count += 1
            return
        raw, place = line.data[line.begin : line.end], (number, line.begin + line.base)
        make = functools.partial(
            self._make_again, rule, raw, where, (*place, points.count_records_of(where))
        )
        kept.add_later(make, number)

    def count_unseen(self, index: int, where: ProcessId, count: int) -> None:
        """Count findings of which none is kept, since as many come behind them as are."""
        points, rule = self._points, self._rules[index]
        points.result.findings[rule.id, points.source, where].count += count

    def _make_again(
        self, rule: Signature, raw: bytes, where: ProcessId, place: tuple[int, int, int]
    ) -> Sighting:
        """Make the finding of a line that was only counted."""
        cleaned = clean(raw.decode("utf-8", "replace"), srun=self._sight.srun)
        match = next(iter(self._searches.search(rule, cleaned.text)))
        line, offset, before = place
        source = self._points.source
        found = _FindingPlace(source, where, line, offset, cleaned, before, (0, ""))
        return _build_finding(rule, cleaned.text, match, found)

    def _get_surroundings(self, view: View, base: int) -> tuple[int, str]:
        """Give the lines around a failure, and note the time nearest to it."""
        self._sight.stamp(view, base)
        if self._contexts >= _MOST_CONTEXTS:
            return 0, ""
        context = view.around(_AROUND, self._break)
        self._contexts += len(context[1])
        return context


def has_happened(rule: Signature, cleaned: Cleaned) -> bool:
    """Say whether what a signature shows has happened: the text of a script tells what would."""
    return rule.role not in _EVENTS or not is_script(cleaned.text)


def _infer_warning(rule: Signature, view: View) -> Cleaned:
    """Give a line with the level of the Python warning that quotes what a rule takes for fatal."""
    is_quoted = rule.fatal and not view.cleaned.level and is_in_warning(view)
    return view.cleaned._replace(level="WARNING") if is_quoted else view.cleaned


def _find_last_statement(view: View) -> str | None:
    """Give what a statement raises that is the last line of all: the exception is cut off."""
    text = view.cleaned.text.lstrip()
    if not text.startswith("raise ") or _REST.match(view.data, view.end) is None:
        return None
    raised = parse_raise_statement(text)
    return f"{raised[0]}: {raised[1]}" if raised else None


def _build_finding(
    rule: Signature, text: str, match: Match, place: _FindingPlace, most: int = _MOST_TEXT
) -> Sighting:
    """Make the finding of a match, with at most so many characters of its text."""
    last = place.line + text.count("\n", 0, match.end()) if rule.lines > 1 else place.line
    captures = tuple(
        (name, value) for name, value in match.groupdict().items() if value is not None
    )
    shown = text if len(text) <= most else text[max(0, match.start() - most // _BEFORE) :]
    finding = Finding(
        rule.id,
        rule.role,
        place.source,
        place.where,
        place.line,
        last,
        place.offset,
        cut(shown, most).strip(),
        captures,
        place.cleaned.time,
        level=infer_level(place.cleaned),
    )
    return Sighting(finding, place.before, place.context)


_TOTAL: Final = "total_steps"


class FactLines:
    """Takes the facts that the lines of one source state."""

    def __init__(self, rules: list[Format], points: Points, searches: Searches) -> None:
        """Take the rules, where frameworks are counted, and who searches."""
        self._rules, self._points, self._searches = rules, points, searches
        self._seen: dict[int, int] = {}
        """Matches of the rules of which some are enough, by index."""

    def take(self, index: int, view: View, _: int) -> None:
        """Take what the rule of this index finds on a line."""
        rule = self._rules[index]
        if self.is_enough(index):
            return
        text = "\n".join(view.following(int(rule.raw.get("lines", 1))))
        for match in self._searches.search(rule, text):
            self._put(rule, match, view)
            if rule.enough:
                self._seen[index] = self._seen.get(index, 0) + 1
            if rule.framework:
                self._points.recognise(rule.framework)

    def is_enough(self, index: int) -> bool:
        """Say whether a rule has matched as often as it counts."""
        enough = self._rules[index].enough
        return enough > 0 and self._seen.get(index, 0) >= enough

    def _put(self, rule: Format, match: Match, view: View) -> None:
        result, source = self._points.result, self._points.source
        strength = int(rule.raw.get("strength", 1))
        groups = {name: value for name, value in match.groupdict().items() if value is not None}
        if "package" in groups and "version" in groups:
            package = groups.pop("package").lower().replace("-", "_")
            groups[f"package_{package}"] = groups.pop("version")
        for name, value in (*groups.items(), *(rule.raw.get("set") or {}).items()):
            if name == _TOTAL and value.replace(",", "").isdigit():
                result.total_steps = float(value.replace(",", ""))
            result.facts.add(name, value, strength, source, view.number, view.cleaned.time)
