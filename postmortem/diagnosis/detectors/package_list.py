"""Check whether a package that an error asks for is in a complete list of packages.

In: texts of dumps, findings about imports and requirements. Out: the anomalies
`named-package-listed` or `named-package-unlisted`. Not here: versions (`facts.fact_store`).

A list is whole where `pip list`, `pip freeze` or `conda list` printed it without a filter: it has
its header, or many rows; and the dump is short enough to be known to its end.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Final

from postmortem.core.findings import Finding
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.lines import NOWHERE
from postmortem.core.message import quote
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.rules.traits import Trait, has_trait

_HEADER: Final = compile_lazily(
    r"^(?:Package\s+Version(?:\s.*)?|# packages in environment at .*|# Name\s+Version\s+Build.*)$",
    re.MULTILINE,
)
_FREEZE: Final = compile_lazily(r"^([A-Za-z0-9][\w.-]*) ?(?:==|@ )\S", re.MULTILINE)
_ROW: Final = compile_lazily(r"^([A-Za-z0-9_][\w.-]*)\s+v?\d[\w.+!-]*(?:\s|$)", re.MULTILINE)
_FEWEST_ROWS: Final = 8
_FEWEST_FROZEN: Final = 20
_FILTER: Final = compile_lazily(r"\|\s*(?:grep|egrep|rg|head|tail|findstr)\b")
_PACKAGE_GROUPS: Final = ("module", "package", "requirement", "other", "wanted")
_IN_WORDS: Final = compile_lazily(
    r"(?:pip3? install (?:-U |--upgrade )?|requires? |needs? |have |the )[`'\"]?"
    r"([A-Za-z][\w.-]{1,40})",
)
_FIRST: Final = compile_lazily(r"[A-Za-z][\w-]*")


def detect_package_listing(observed: Observed) -> Iterable[Anomaly]:
    """Compare the first error that names a package with the lists."""
    known = [
        (source, rows)
        for source in sorted(observed.dumps)
        if (rows := set(_iter_listed_names(_read_whole_text(observed, source))))
    ]
    if not known:
        return
    for finding, _ in observed.findings:
        if finding.role != "cause" or not has_trait(finding.signature, Trait.ABOUT_PACKAGES):
            continue
        for name in _iter_requested_packages(finding):
            yield from _compare_package(name, known)


def _compare_package(name: str, known: list[tuple[int, set[str]]]) -> Iterator[Anomaly]:
    for source, rows in known:
        message = quote(name)
        if name in rows:
            yield Anomaly("named-package-listed", message, source, NOWHERE, 1)
        elif not any(other.startswith(name) for other in rows):
            yield Anomaly("named-package-unlisted", message, source, NOWHERE, 1)


def _read_whole_text(observed: Observed, source: int) -> str:
    """Give the text of a source, of which both ends are kept; empty if they leave a gap."""
    lines = observed.kept_lines(source)
    is_whole = all(
        current == previous + 1 for (previous, _), (current, _) in itertools.pairwise(lines)
    )
    return "\n".join(line for _, line in lines) if is_whole else ""


def _iter_listed_names(text: str) -> Iterator[str]:
    """Give the names of a whole list; none of a text that is not one."""
    if _FILTER.search(text):
        return
    frozen = [match[1] for match in _FREEZE.finditer(text)]
    header = _HEADER.search(text)
    rows = [match[1] for match in _ROW.finditer(text, header.end())] if header else []
    if len(rows) >= _FEWEST_ROWS:
        yield from (_normalize_name(row) for row in rows)
    if len(frozen) >= _FEWEST_FROZEN:
        yield from (_normalize_name(row) for row in frozen)


def _iter_requested_packages(finding: Finding) -> Iterator[str]:
    """Give the packages that a message asks for: captured, or to be installed with pip."""
    for group in _PACKAGE_GROUPS:
        if (value := finding.capture(group)) and (match := _FIRST.match(value)):
            yield _normalize_name(match[0])
    for match in _IN_WORDS.finditer(finding.text):
        name = _normalize_name(match[1])
        if name in _KNOWN:
            yield name


_KNOWN: Final = frozenset(
    [
        "accelerate",
        "bitsandbytes",
        "peft",
        "trl",
        "datasets",
        "deepspeed",
        "flash-attn",
        "xformers",
        "triton",
        "sentencepiece",
        "tiktoken",
        "protobuf",
        "safetensors",
        "tensorboard",
        "tensorboardx",
        "wandb",
        "optimum",
        "auto-gptq",
        "autoawq",
        "einops",
        "timm",
        "scikit-learn",
        "evaluate",
        "rouge-score",
        "liger-kernel",
        "unsloth",
        "vllm",
        "apex",
    ]
)


def _normalize_name(name: str) -> str:
    """As package indexes spell it."""
    return re.sub(r"[-_.]+", "-", name).lower()
