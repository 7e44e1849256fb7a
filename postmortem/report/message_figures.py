"""Extract the figures of an exception's message: sizes, types, keys, names, memory.

In: a line or two of a log. Out: (key of a label, text), most useful first. Not here: figures of the
run itself (`report.key_figures`), the labels (`report.words`).
"""

import math
import re
from collections.abc import Callable, Iterator
from typing import Final

Figure = tuple[str, str]
_LONGEST: Final = 2000
_SHAPE: Final = r"(?:torch\.Size\()?(\[[\d, ]{0,80}\])\)?"
_AGAINST: Final = "{0} ≠ {1}"


def _format_matmul_mismatch(match: re.Match[str]) -> str:
    left, inner, other, right = match.groups()
    return f"{left}x{inner} · {other}x{right}: {inner} ≠ {other}"


def _format_view_mismatch(match: re.Match[str]) -> str:
    sizes = [int(size) for size in re.findall(r"-?\d+", match[1])]
    wanted = math.prod(size for size in sizes if size > 0)
    unsaid = "…" if -1 in sizes else ""
    return f"[{match[1]}] = {wanted}{unsaid} ≠ {match[2]}"


def _build_match_formatter(wording: str) -> Callable[[re.Match[str]], str]:
    return lambda match: wording.format(*(group or "" for group in match.groups()))


_FIGURES: Final[tuple[tuple[str, str, Callable[[re.Match[str]], str]], ...]] = (
    (
        "shapes",
        r"shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)",
        _format_matmul_mismatch,
    ),
    (
        "shapes",
        r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\)[\w -]{0,30}dimension (\d+)",
        _build_match_formatter("{0} ≠ {1} (dim {2})"),
    ),
    (
        "shapes",
        r"except in dimension (\d+)\. Expected size (\d+) but got size (\d+)",
        _build_match_formatter("{1} ≠ {2} (dim ≠ {0})"),
    ),
    (
        "batch-sizes",
        r"input batch_size \((\d+)\) to match target batch_size \((\d+)\)",
        _build_match_formatter(_AGAINST),
    ),
    (
        "elements",
        r"shape '\[([\d, -]{1,80})\]' is invalid for input of size (\d+)",
        _format_view_mismatch,
    ),
    (
        "shapes",
        rf"equal size, but got {_SHAPE} at entry \d+ and {_SHAPE} at entry",
        _build_match_formatter(_AGAINST),
    ),
    (
        "shapes",
        rf"a param with shape {_SHAPE} from checkpoint, the shape in current model is {_SHAPE}",
        _build_match_formatter(_AGAINST),
    ),
    (
        "shapes",
        rf"target size \({_SHAPE}\)[\w ]{{0,40}}input size \({_SHAPE}\)",
        _build_match_formatter(_AGAINST),
    ),
    (
        "channels",
        r"to have (\d+) channels, but got (\d+) channels",
        _build_match_formatter(_AGAINST),
    ),
    (
        "index",
        r"index (-?\d+) is out of bounds for \w+ \d+ with size (\d+)",
        _build_match_formatter("{0} ≥ {1}"),
    ),
    (
        "unpacked",
        r"unpack \(expected (?:at least )?(\d+), got (\d+)\)",
        _build_match_formatter(_AGAINST),
    ),
    ("types", r"expected (?:scalar type )?(\w+) but found (\w+)", _build_match_formatter(_AGAINST)),
    (
        "types",
        r"(?:same|to have the same) dtype, but got:? ([\w.]+) (?:!=|and) ([\w.]+)",
        _build_match_formatter(_AGAINST),
    ),
    ("devices", r"at least two devices, ([\w:]+) and ([\w:]+)", _build_match_formatter(_AGAINST)),
    ("key", r"KeyError: (['\"]?[^'\"\n]{1,80}['\"]?)", _build_match_formatter("{0}")),
    (
        "there",
        r"(?i)\b(?:available|current|existing|known|valid|one of|choose from)\b[\w '-]{0,60}"
        r"[:=]? ?(\[[^\]\n]{1,300}\]|\{[^}\n]{1,300}\}|dict_keys\(\[[^\]\n]{1,300}\]\))",
        _build_match_formatter("{0}"),
    ),
    (
        "attribute",
        r"'([\w.]{1,80})' object has no attribute '(\w{1,80})'",
        _build_match_formatter("{0}.{1}"),
    ),
    ("name", r"NameError: name '(\w{1,80})' is not defined", _build_match_formatter("{0}")),
    ("argument", r"unexpected keyword argument '(\w{1,80})'", _build_match_formatter("{0}")),
    (
        "argument",
        r"missing \d+ required \w+(?: argument|-only argument)s?: ('\w{1,80}')",
        _build_match_formatter("{0}"),
    ),
    ("module", r"No module named '([\w.]{1,80})'", _build_match_formatter("{0}")),
    ("path", r"No such file or directory: '([^'\n]{1,200})'", _build_match_formatter("{0}")),
    ("asked", r"(?i)tried to allocate ([\d.]+ ?[KMGT]i?B)", _build_match_formatter("{0}")),
    ("free", r"(?:of which|;) ([\d.]+ ?[KMGT]i?B) (?:is )?free", _build_match_formatter("{0}")),
    (
        "total",
        r"([\d.]+ ?[KMGT]i?B) total capacity|total capacity of ([\d.]+ ?[KMGT]i?B)",
        _build_match_formatter("{0}{1}"),
    ),
    (
        "allocated",
        r"([\d.]+ ?[KMGT]i?B) (?:is allocated by PyTorch|already allocated)",
        _build_match_formatter("{0}"),
    ),
    (
        "timeout",
        r"OpType=(\w+)[^)\n]{0,120}Timeout\(ms\)=(\d+)",
        _build_match_formatter("{0}, {1} ms"),
    ),
)


def extract_message_values(text: str) -> Iterator[Figure]:
    """Yield the figures of a message, each kind once."""
    shown: set[str] = set()
    for key, pattern, worded in _FIGURES:
        match = None if key in shown else re.search(pattern, text[:_LONGEST])
        if match is not None:
            shown.add(key)
            yield key, worded(match)
