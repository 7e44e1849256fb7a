"""Select the lines in which a log may say why values are not finite.

In: both ends of each source, the surroundings of values that are not finite. Out: lines without
their prefixes; a question to the interpreter with its answer. Not here: what they tell
(`detectors.printed_topics`).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.visible import get_last_draw
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.reading.prefixes import clean

_MOST_LINE: Final = 400
_MOST_UNDER: Final = 12
"""Lines that may stand under a heading."""
_FINITENESS_CHECK: Final = compile_lazily(r"(?:isnan|isinf|isfinite)\(")
_YES: Final = compile_lazily(
    r"""\[['"(]|True\b|tensor\(True|False\b|[\w.]{1,120}\.(?:weight|bias)\b"""
)
"""The answer to such a question, but an empty list or a plain no."""
_OF_WEIGHTS: Final = compile_lazily(
    r"param|state_?dict|weight|ckpt|checkpoint|\.bias", re.IGNORECASE
)
_CODE: Final = compile_lazily(
    r"(?:^|[^\w.])(?:torch|np|nn|F|self|math|tf|jnp|K)\.\w+[(.]|^\s*(?:def|return|import|from|class"
    r"|assert|if|elif|for|while|with|raise)\b.*[:)]\s*$|^\s*[\w.\[\]]{1,40} = \S"
)


def get_context_lines(job: Observed) -> Sequence[tuple[int, int, str]]:
    """Give the lines of both ends, and those around bad values: source, number, text."""
    return job.once(_list_context_lines)


def _list_context_lines(job: Observed) -> list[tuple[int, int, str]]:
    return list(_iter_context_lines(job))


def _iter_context_lines(job: Observed) -> Iterator[tuple[int, int, str]]:
    reported: set[tuple[int, int]] = set()
    for source in job.processes:
        parts = [(1, job.heads.get(source, "")), job.tails.get(source, (1, ""))]
        parts += [(begin, text) for place, begin, text in job.around if place == source]
        for begin, part in parts:
            rows = part.split("\n")
            for number, row in enumerate(rows, begin):
                if row.strip() and (source, number) not in reported:
                    reported.add((source, number))
                    text = _extract_statement(row, rows[number - begin + 1 :])
                    yield source, number, _join_heading(text, row, rows[: number - begin])


def _join_heading(text: str, row: str, above: Sequence[str]) -> str:
    """Put the heading before a line that stands indented under it: `the batch:`, `  mean nan`."""
    if not text or not row.startswith((" ", "\t")):
        return text
    heading = next((line for line in reversed(above[-_MOST_UNDER:]) if line[:1].strip()), "")
    return f"{heading.strip()} {text}"[:_MOST_LINE] if heading.rstrip().endswith(":") else text


def _extract_statement(row: str, behind: Sequence[str]) -> str:
    """Give the text of a line; nothing for code, unless it asks and gets an answer."""
    text = clean(get_last_draw(row)[:_MOST_LINE]).text.strip()
    if _FINITENESS_CHECK.search(text) is None:
        return "" if _CODE.search(text) else text
    answer = next((line.strip() for line in behind if line.strip()), "")
    is_no = ("True" if "isfinite" in text else "False") in answer
    if is_no or _YES.match(answer) is None:
        return ""
    subject = "weights" if _OF_WEIGHTS.search(text + answer) else "inputs"
    return f"{subject} with nan: {answer}"[:_MOST_LINE]
