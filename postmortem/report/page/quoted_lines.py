"""The quoted log lines of the page, and links to them.

In: a `Diagnosis` with quotes. Out: plain values for the template. Not here: which lines are quoted
(`story.quotes`), escaping them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, Final

from postmortem.core.answer import Cause, Evidence
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.shown import Excerpt
from postmortem.core.visible import escape_control_characters
from postmortem.report.for_people import detect_input_type
from postmortem.report.plain import place, shorten_source_path
from postmortem.report.words import Words

NO_SPOT: Final = {"text": "", "anchor": ""}
_FILES_OPEN: Final = 3
"""Quoted files that are all open; of more, those that have to do with the failure."""
LONGEST_LINE: Final = 1000
_Cited = Mapping[tuple[int, int], list[dict[str, str]]]
"""By source and line what cites it."""


def build_line_anchor(language: str, source: int, line: int) -> str:
    """Name a quoted line within the page."""
    return f"{language}-{source}-L{line}"


def build_spot(
    diagnosis: Diagnosis, source: int | None, lines: tuple[int | None, int | None], words: Words
) -> dict[str, str]:
    """Name a place, with the anchor of its line if the page quotes it."""
    line = lines[0]
    if source is None or line is None:
        return dict(NO_SPOT)
    is_quoted = any(
        quote.source == source and quote.first_line <= line < quote.first_line + len(quote.lines)
        for quote in _list_quotes(diagnosis)
    )
    return {
        "text": place(diagnosis, source, lines, words),
        "anchor": build_line_anchor(words.language, source, line) if is_quoted else "",
    }


def sort_evidence(cause: Cause) -> list[Evidence]:
    """Give the evidence of a cause, the weightiest first."""
    return sorted(cause.evidence, key=lambda item: -abs(item.weight))


def build_evidence_anchor(words: Words, index: int) -> str:
    """Name a piece of evidence within the page."""
    return f"{words.language}-e{index}"


def _list_quotes(diagnosis: Diagnosis) -> tuple[Excerpt, ...]:
    """Give the quoted lines; what is no log has none."""
    return () if detect_input_type(diagnosis) else diagnosis.quotes


def build_quoted_files(
    diagnosis: Diagnosis, cause: Cause | None, words: Words
) -> list[dict[str, Any]]:
    """Give the quoted lines of each file, that of the first failure first.

    With them stands what cites them, and between them the gaps.
    """
    cited, involved = _collect_citations(cause, words), _find_involved_sources(diagnosis, cause)
    first = diagnosis.first_failure
    kept = sorted(
        _list_quotes(diagnosis), key=lambda quote: first is None or quote.source != first.source
    )
    return _mark_open_files(
        [
            {
                "name": shorten_source_path(diagnosis, source, words),
                "lines": _build_lines(stretches, diagnosis.sources[source].lines, cited, words),
                "is_open": source in involved,
            }
            for source, stretches in groupby(kept, key=lambda quote: quote.source)
        ]
    )


def _collect_citations(cause: Cause | None, words: Words) -> _Cited:
    cited: defaultdict[tuple[int, int], list[dict[str, str]]] = defaultdict(list)
    for index, item in enumerate(sort_evidence(cause) if cause is not None else (), 1):
        if item.source is not None and item.line is not None:
            cited[item.source, item.line].append(
                {"anchor": build_evidence_anchor(words, index), "number": str(index)}
            )
    return cited


def _build_lines(
    stretches: Iterable[Excerpt], count: int, cited: _Cited, words: Words
) -> list[dict[str, Any]]:
    """Give the quoted lines of a file of `count` lines, and the gaps between them."""
    lines: list[dict[str, Any]] = []
    following = 1
    for quote in stretches:
        if quote.first_line > following:
            lines.append({"gap": words("excerpt.gap", count=quote.first_line - following)})
        lines += [
            _build_line(
                quote, index, cited.get((quote.source, quote.first_line + index), []), words
            )
            for index in range(len(quote.lines))
        ]
        following = quote.first_line + len(quote.lines)
    if following <= count:
        lines.append({"gap": words("excerpt.gap", count=count + 1 - following)})
    return lines


def _mark_open_files(files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Open all of few files; of more, where none has to do with the failure, the first."""
    if len(files) > _FILES_OPEN and any(file["is_open"] for file in files):
        return files
    return [file | {"is_open": index < _FILES_OPEN} for index, file in enumerate(files)]


def _find_involved_sources(diagnosis: Diagnosis, cause: Cause | None) -> set[int | None]:
    """Give the sources of the first failure and of the evidence of the cause or first candidate."""
    first = diagnosis.first_failure
    return {
        first.source if first is not None else None,
        *(
            item.source
            for text in (cause, *diagnosis.causes[:1])
            if text is not None
            for item in text.evidence
        ),
    }


def _build_line(
    quote: Excerpt, index: int, cited: list[dict[str, str]], words: Words
) -> dict[str, Any]:
    number, shown = (
        quote.first_line + index,
        escape_control_characters(quote.lines[index]).replace("\n", "␊"),
    )
    over = max(0, len(shown) - LONGEST_LINE) + dict(quote.over).get(number, 0)
    return {
        "gap": "",
        "anchor": build_line_anchor(words.language, quote.source, number),
        "number": number,
        "text": shown[:LONGEST_LINE],
        "cut": words("excerpt.cut", count=over) if over else "",
        "is_marked": number in quote.marked,
        "cited": cited,
    }
