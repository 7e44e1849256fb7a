"""The quoted lines of the log as the page shows them, and places that lead to them.

In: a `Diagnosis` with quotes. Out: plain values for the template. Not here: which lines are quoted
(`story.quotes`), escaping them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, Final

from postmortem.model.diagnosis import Cause, Diagnosis, Evidence, Excerpt
from postmortem.model.visible import safe
from postmortem.report.for_people import input_kind
from postmortem.report.plain import file_name, place
from postmortem.report.words import Words

NO_SPOT: Final = {"text": "", "anchor": ""}
_FILES_OPEN: Final = 3
"""Quoted files that are all open; of more, those that have to do with the failure."""
LONGEST_LINE: Final = 1000
_Cited = Mapping[tuple[int, int], list[dict[str, str]]]
"""By source and line what cites it."""


def anchor(language: str, source: int, line: int) -> str:
    """Name a quoted line within the page."""
    return f"{language}-{source}-L{line}"


def spot_of(
    diagnosis: Diagnosis, source: int | None, lines: tuple[int | None, int | None], words: Words
) -> dict[str, str]:
    """Name a place, with the anchor of its line if the page quotes it."""
    line = lines[0]
    if source is None or line is None:
        return dict(NO_SPOT)
    is_quoted = any(
        one.source == source and one.first_line <= line < one.first_line + len(one.lines)
        for one in _kept(diagnosis)
    )
    return {
        "text": place(diagnosis, source, lines, words),
        "anchor": anchor(words.language, source, line) if is_quoted else "",
    }


def weighed(cause: Cause) -> list[Evidence]:
    """Give the evidence of a cause, the weightiest first."""
    return sorted(cause.evidence, key=lambda item: -abs(item.weight))


def number_of(words: Words, index: int) -> str:
    """Name a piece of evidence within the page."""
    return f"{words.language}-e{index}"


def _kept(diagnosis: Diagnosis) -> tuple[Excerpt, ...]:
    """Give the quoted lines; what is no log has none."""
    return () if input_kind(diagnosis) else diagnosis.quotes


def quoted_files(diagnosis: Diagnosis, cause: Cause | None, words: Words) -> list[dict[str, Any]]:
    """Give the quoted lines of each file, that of the first failure first.

    With them stands what cites them, and between them the gaps.
    """
    cited, involved = _cited(cause, words), _involved(diagnosis, cause)
    first = diagnosis.first_failure
    kept = sorted(_kept(diagnosis), key=lambda quote: first is None or quote.source != first.source)
    return _opened(
        [
            {
                "name": file_name(diagnosis, source, words),
                "lines": _lines(stretches, diagnosis.sources[source].lines, cited, words),
                "is_open": source in involved,
            }
            for source, stretches in groupby(kept, key=lambda quote: quote.source)
        ]
    )


def _cited(cause: Cause | None, words: Words) -> _Cited:
    cited: defaultdict[tuple[int, int], list[dict[str, str]]] = defaultdict(list)
    for index, item in enumerate(weighed(cause) if cause is not None else (), 1):
        if item.source is not None and item.line is not None:
            cited[item.source, item.line].append(
                {"anchor": number_of(words, index), "number": str(index)}
            )
    return cited


def _lines(
    stretches: Iterable[Excerpt], count: int, cited: _Cited, words: Words
) -> list[dict[str, Any]]:
    """Give the quoted lines of a file of `count` lines, and the gaps between them."""
    lines: list[dict[str, Any]] = []
    following = 1
    for quote in stretches:
        if quote.first_line > following:
            lines.append({"gap": words("excerpt.gap", count=quote.first_line - following)})
        lines += [
            _line(quote, index, cited.get((quote.source, quote.first_line + index), []), words)
            for index in range(len(quote.lines))
        ]
        following = quote.first_line + len(quote.lines)
    if following <= count:
        lines.append({"gap": words("excerpt.gap", count=count + 1 - following)})
    return lines


def _opened(files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Open all of few files; of more, where none has to do with the failure, the first."""
    if len(files) > _FILES_OPEN and any(file["is_open"] for file in files):
        return files
    return [file | {"is_open": index < _FILES_OPEN} for index, file in enumerate(files)]


def _involved(diagnosis: Diagnosis, cause: Cause | None) -> set[int | None]:
    """Give the sources of the first failure and of the evidence of the cause or first candidate."""
    first = diagnosis.first_failure
    return {
        first.source if first is not None else None,
        *(
            item.source
            for one in (cause, *diagnosis.causes[:1])
            if one is not None
            for item in one.evidence
        ),
    }


def _line(quote: Excerpt, index: int, cited: list[dict[str, str]], words: Words) -> dict[str, Any]:
    number, shown = quote.first_line + index, safe(quote.lines[index]).replace("\n", "␊")
    over = max(0, len(shown) - LONGEST_LINE) + dict(quote.over).get(number, 0)
    return {
        "gap": "",
        "anchor": anchor(words.language, quote.source, number),
        "number": number,
        "text": shown[:LONGEST_LINE],
        "cut": words("excerpt.cut", count=over) if over else "",
        "is_marked": number in quote.marked,
        "cited": cited,
    }
