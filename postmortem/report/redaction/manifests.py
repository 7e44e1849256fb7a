"""The values of a manifest of Kubernetes whose kind is Secret, whatever their keys are.

In: text of several lines, or a manifest in JSON on one line. Out: the rule of kind `secret`. Not
here: pairs `name:` and `value:` of any other manifest (`line_above`, `assignments`).

The kind may stand before or behind the values: `kubectl` writes the fields by the alphabet. A
launcher may have put anything before each of the lines.
"""

from collections.abc import Iterator
from typing import Any, Final

from postmortem.report.redaction.hiding import (
    HidingPattern,
    HidingRule,
    Span,
    build_linear_pattern,
)
from postmortem.report.redaction.secret_names import is_placeholder

_KIND: Final = build_linear_pattern(
    r"(?:^|[\s{,'\"\\])kind\\{0,3}['\"]?:[ \t]*\\{0,3}['\"]?Secret(?:\\{0,3}['\"]|[,\s}]|$)"
)
_HINT: Final = r"kind[\\]*['\"]?:[ \t]*[\\]*['\"]?Secret"
_FIELDS: Final = HidingPattern(
    r"(?m:^(?P<p>[^\n]{0,80}?)(?:data|stringData):[ \t]{0,8}$)"
    r"|['\"](?:data|stringData)\\{0,3}['\"]:\s{0,8}\{(?P<j>[^{}]{1,4000})\}"
)
_LINE: Final = HidingPattern(
    r"[\w.-]{1,253}:[ \t]{1,8}(?:['\"](?P<a>[^'\"\n]{1,4096})|(?P<b>[^\s'\"|>][^\n]{0,4096}))"
)
_BLOCK_OPENED: Final = HidingPattern(r"[\w.-]{1,253}:[ \t]{1,8}[|>][+-]?[ \t]*$")
_VALUE: Final = HidingPattern(
    r"\\{0,3}['\"][\w.-]{1,253}\\{0,3}['\"]\s{0,8}:\s{0,8}\\{0,3}['\"](?P<v>[^'\"\\\n]{1,4096})"
)
_AROUND: Final = 6000
"""Characters around the kind in which the values stand."""
_MOST_LINES: Final = 60


def _find_values(text: str) -> Iterator[Span]:
    """Give the values of every Secret, in the order of the text."""
    done = seen = 0
    for kind in _KIND.finditer(text):
        start = max(seen, kind.start() - _AROUND)
        start = max(start, text.rfind("\n---", start, kind.start()))
        seen = min(len(text), kind.end() + _AROUND)
        end = text.find("\n---", kind.end(), seen)
        seen = end if end >= 0 else seen
        for fields in _FIELDS.compiled.finditer(text, start, max(start, seen)):
            if fields.start() < done:
                continue
            for first, last in _iter_field_values(text, fields):
                if not is_placeholder(text[first:last]):
                    done = last
                    yield first, last


def _iter_field_values(text: str, fields: Any) -> Iterator[Span]:
    """Yield the values of a field, which stand below it or in braces."""
    if fields["j"] is None:
        return _iter_lines(text, fields.end() + 1, fields["p"])
    return (one.span("v") for one in _VALUE.compiled.finditer(text, *fields.span("j")))


def _iter_lines(text: str, start: int, before: str) -> Iterator[Span]:
    """Yield the values of the lines that are indented deeper than their field.

    Args:
        text: where they stand.
        start: where the first of them begins.
        before: what stands before the field in its line.
    """
    block = 0  # the indentation of the key whose value stands in the lines below it
    for _ in range(_MOST_LINES):
        end = text.find("\n", start)
        end = end if end >= 0 else len(text)
        behind = text[start + len(before) : end]
        indent = len(behind) - len(behind.lstrip(" "))
        if indent == 0 or not behind.strip():
            return
        first = start + len(before) + indent
        if block and indent > block:
            yield first, start + len(text[start:end].rstrip())
        else:
            block = indent if _BLOCK_OPENED.match(behind, indent) else 0
            yield from _iter_pair_values(text, first)
        start = end + 1


def _iter_pair_values(text: str, start: int) -> Iterator[Span]:
    """Yield the value of the pair that stands at a place on a line of a text."""
    value = _LINE.match(text, start)
    if value is not None:
        group = "a" if value["a"] is not None else "b"
        yield value.start(group), value.start(group) + len(value[group].rstrip())


MANIFESTS: Final = (HidingRule("secret", _HINT, _find_values),)
