"""Tell cheaply which sources may be something else than a log.

In: a path and the beginning of a text. Out: whether to ask `extraction.run_files`, which most jobs
need not even import; `ReadSource`, what a source holds. Not here: what such a file really is.
"""

from pathlib import PurePath
from typing import Final, NamedTuple

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import Message
from postmortem.extraction.extract import Extract

_SUFFIXES: Final = frozenset({".yaml", ".yml", ".json", ".py"})
_STORES: Final = frozenset({"params", "metrics"})
"""Folders of MLflow's file store."""
_FIGURES: Final = (".tfevents.", "trace_rank", "comm_traces/rank_", "_dump_")
_FOLDED: Final = (".json", ".jsonl")
_JSON_LOG_KEYS: Final = ('"message"', '"msg"', '"level"')
"""Keys of lines that a logger wrote as JSON."""
_NAMES: Final = compile_lazily(
    r"[\w ./()%:@#-]{0,80}(?:[,;\t][\w ./()%:@#-]{0,80}){1,9}(?:[,;\t].*|\s{0,9})$"
)
"""The heading of a table of comma-separated values."""
_MAPPINGS: Final = compile_lazily(r"\s{0,200}(?:\[\s{0,200})?\{")
"""How a mapping begins, or a list of them."""
_LOOKED_AT: Final = 20


class ReadSource(NamedTuple):
    """A source that was read."""

    part: Extract
    notes: list[Message]
    kind: str = ""
    """As `core.job_facts.Source` names it; empty where what was found tells it."""


def may_be_no_log(path: str, head: str) -> bool:
    """Say whether a text may be metrics or a configuration: JSON, a table, a name of theirs."""
    file = PurePath(path)
    first = head.split("\n", 1)[0].lower()
    return (
        file.suffix in _SUFFIXES
        or not _STORES.isdisjoint(file.parts)
        or is_mapping(head)
        or _NAMES.match(first) is not None
    )


def is_mapping(head: str) -> bool:
    """Say whether a text begins as a mapping, or a list of them."""
    return _MAPPINGS.match(head) is not None


def may_be_figures(path: str) -> bool:
    """Say whether a file may be one of figures that is no text."""
    tail = "/".join(PurePath(path).parts[-2:])
    return any(name in tail for name in _FIGURES)


def is_record_lines(head: str, path: str) -> bool:
    """Say whether a file holds a JSON record on each line and nothing that a logger words."""
    lines = [line for line in head.split("\n", _LOOKED_AT)[:_LOOKED_AT] if line.strip()]
    return PurePath(path).suffix in _FOLDED and all(
        line.startswith("{")
        and line.rstrip().endswith("}")
        and not any(word in line for word in _JSON_LOG_KEYS)
        for line in lines[: max(1, len(lines) - 1)]
    )
