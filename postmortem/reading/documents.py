"""Tell source code and documents from text that a run has printed.

In: a whole text. Out: yes or no. Not here: configurations and tables, which have readers of their
own (`extraction.run_files`), what a log holds.

A single line that only a running program prints (a frame, an exception at the left border, a time,
a level, a label of a process, a bar) makes it a log, whatever stands around it: people paste
tracebacks with their source and whole issues.
"""

import re
from collections.abc import Collection, Iterator
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE
from postmortem.core.printed_words import join_words
from postmortem.reading.prefixes import clean, has_srun_labels

_LARGEST: Final = 256 << 10
"""Characters above which a text is no source file that anybody takes for a log."""
_FEWEST_LINES: Final = 4
_CODE_SHARE: Final = 0.6
_PRINTED: Final = compile_lazily(
    r"\s*(?:Traceback \(most recent call|File \"[^\"]{1,400}\", line \d|During handling of the"
    r"|The above exception was|-{1,12}> ?\d{1,6}\s|Original Traceback|Fatal Python error)"
    r"|(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception|Interrupt|Warning|Exit|Failure)"
    r"(?:: |\s*$)"
    r"|[^\n]{0,200}\d%\|"
    r"|\{['\"](?:loss|eval_|train_|step|epoch)"
    r"|(?:slurmstepd|srun|torchrun|wandb|mpirun|mpiexec|bash|sh|python3?|-bash): "
    r"|(?:Killed|Segmentation fault|Aborted|Terminated|terminate called)\b"
    r"|[\w./+-]{1,200}(?:: line \d{1,6}: |:\d{1,6}(?::\d{1,6})?: |\(\d{1,6}\): )"
)
"""At the beginning of a line."""
_STATEMENT: Final = compile_lazily(
    # Python
    r"from [\w.]+ import\b|import [\w.{*\"]|(?:async )?def \w+\(|class \w+|@\w[\w.]*(?:\(.*)?$"
    r"|(?:if|elif|while|for|with|async with|async for|except|match|case)\b.*:$"
    r"|(?:try|else|finally):$"
    r"|(?:return|raise|assert|yield|await|del|global|pass|continue|break)\b"
    r"|[\w.\[\], ]{1,80} (?:[-+*/|&]?=|:=) .*[(\[{]|[\w.]{1,80}\(.*[)(,]$|[rfb]{0,2}\"\"\""
    # languages with braces, shells, build files
    r"|#include\b|#(?:SBATCH|PBS|BSUB|!)|.*[{;]$|[\]})>;,]{1,8}$|(?:pub |static |export )?fn \w+"
    r"|func \w*|package [\w.]+$|use [\w:]+|namespace \w+|(?:public|private|protected)\b"
    r"|(?:const|let|var|export|function)\b|(?:fi|done|esac|then|do)$|set -\w"
    r"|(?:echo|source|module|srun) "
    r"|\w+\(.*\)$|if \[|(?:FROM|RUN|COPY|WORKDIR|ENTRYPOINT|CMD|ENV) \S|.*\\$"
    # markup
    r"|</?[A-Za-z!?][^\n]*|[^\n]*</\w{1,20}>$|\\[a-z]{2,20}\b"
)
_KEPT: Final = compile_lazily(r"\s{0,40}# ?")
"""Before output that somebody kept in the comments of a script."""
_REMARK: Final = compile_lazily(r"(?:#(?![!\w])|//|/\*|\*(?:\s|/|$)|--\s|%\s)")
_QUOTES: Final = compile_lazily(r"\"\"\"|'''")
_PAIR: Final = compile_lazily(r"(?:- )*[\w./-]{1,80}:(?: .*)?$|- \S.*$|---$|#.*$")
_PATCH: Final = compile_lazily(r"(?:diff --git |--- \S+\n\+\+\+ |Index: )")
_HUNK: Final = compile_lazily(r"^@@ -\d", re.MULTILINE)
_SECTION: Final = compile_lazily(
    r"^#{1,4} +(?:install|usage\b|licen[sc]e\b|change ?log\b|contribut|citation\b|getting started"
    r"|requirements\b|\[?v?\d{1,3}\.\d{1,3}\.\d|" + join_words("document-sections") + ")",
    re.IGNORECASE | re.MULTILINE,
)


def is_document(text: str, found: Collection[int] = ()) -> bool:
    """Say whether a whole text is source code, markup, a patch or the page of a project.

    Args:
        text: all of it.
        found: the lines that seem to tell of a failure; code tells of one where it is code itself.
    """
    rows = [
        (number, row) for number, row in enumerate(text.split("\n"), 1) if row and not row.isspace()
    ]
    if len(text) > _LARGEST or len(rows) < _FEWEST_LINES:
        return False
    if not _is_shaped_so(text, rows, found):
        return False
    srun = has_srun_labels(text)
    return not any(_is_printed(row, srun=srun) for _, row in rows)


def _is_shaped_so(text: str, rows: list[tuple[int, str]], found: Collection[int]) -> bool:
    """Say whether a text is laid out as a document, whatever its lines say."""
    if _PATCH.match(text) and _HUNK.search(text):
        return True
    if text.lstrip().startswith("# ") and _SECTION.search(text):
        return True
    if all(_PAIR.match(row.strip()) for _, row in rows):
        return any(row.rstrip().endswith(":") for _, row in rows)
    judged = dict(_iter_code_flags(rows))
    is_mostly = sum(judged.values()) >= max(_FEWEST_LINES, _CODE_SHARE * len(judged))
    return is_mostly and all(judged.get(number, True) for number in found)


def _iter_code_flags(rows: list[tuple[int, str]]) -> Iterator[tuple[int, bool]]:
    """Say of each line but remarks whether it is code; an indented one goes with that above it."""
    is_quoted = is_code = False
    for number, row in rows:
        text, was_quoted = row.strip(), is_quoted
        is_quoted ^= len(_QUOTES.findall(text)) % 2 == 1
        if was_quoted or _REMARK.match(text):
            continue
        is_code = bool(_STATEMENT.match(text)) or (is_code and row[0] in " \t")
        yield number, is_code


def _is_printed(row: str, *, srun: bool) -> bool:
    """Say whether only a running program prints a line."""
    if _PRINTED.match(row) or _PRINTED.match(_KEPT.sub("", row)):
        return True
    cleaned = clean(row, srun=srun)
    return cleaned.time is not None or bool(cleaned.level) or cleaned.where != NOWHERE
