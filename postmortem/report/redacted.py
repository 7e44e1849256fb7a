"""Redact a diagnosis: pseudonyms for tokens, addresses, user and host names.

In: a `Diagnosis` and a `Redactor`. Out: a `Diagnosis` that every form renders as it is. Not here:
the patterns (`redaction.redactor`).
"""

import dataclasses
import functools
import operator
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, TypeVar, get_args

from postmortem.core.answer import DecisiveWords, Excerpt, SignatureHit
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.findings import ProcessId
from postmortem.report.display import prepare_for_display
from postmortem.report.redaction.redactor import Redactor

# Ids and words of the program's own vocabulary, versions, and numbers: nothing to hide, and a
# version may look like an address.
_SKIPPED_FIELDS: Final = frozenset(
    {
        "knowledge_base",
        "classifier",
        "language",
        "outcome",
        "frameworks",
        "status",
        "whose",
        "retry",
        "group",
        "id",
        "kind",
        "category",
        "safety",
        "role",
        "encoding",
        "compression",
        "time",
        "time_basis",
        "samples",
        "python",
        "cuda",
        "driver",
        "precision",
        "checkpoint_before_first_bad",
        "signal",
        "gpus",
    }
)
_NUMBERS: Final = frozenset({int, float, bool, type(None)})
_BARE: Final = _NUMBERS | {str}
"""What names no process."""
_NUMBER_TYPES: Final = (*_NUMBERS, None, Ellipsis)
"""What a type is made of that holds numbers alone."""
_MANY: Final = 100
"""Values of which the texts are looked through together first."""
_T = TypeVar("_T")
_VERSION_NAMES: Final = ("version", "torch", "cuda", "cudnn", "nccl", "driver")


def prepare_redacted(diagnosis: Diagnosis, redactor: Redactor | None) -> Diagnosis:
    """Mend the texts of a diagnosis, and hide what they give away if there is a redactor."""
    return redact_report(prepare_for_display(diagnosis), redactor)


def redact_report(diagnosis: _T, redactor: Redactor | None) -> _T:
    """Hide what the log gives away, the same name under the same pseudonym everywhere.

    Without a redactor nothing is hidden.
    """
    if redactor is None:
        return diagnosis
    redactor.learn(where.node for where in _iter_processes(diagnosis) if where.node)
    hidden = _redact_dataclass(diagnosis, redactor)
    if not redactor.knows_any:
        return hidden
    redactor.settle()
    return _redact_dataclass(_drop_concealed(diagnosis), redactor)


@functools.cache
def _list_redactable_fields(kind: Any) -> tuple[str, ...]:
    """Name the fields of a class that may hold something to hide.

    Of a class that is no dataclass, none.
    """
    return (
        tuple(
            field.name
            for field in dataclasses.fields(kind)
            if field.name not in _SKIPPED_FIELDS and _may_hold_text(field.type)
        )
        if dataclasses.is_dataclass(kind)
        else ()
    )


def _may_hold_text(kind: Any) -> bool:
    """Say whether a value of a type may hold anything but numbers, however deep."""
    if any(kind is type_ for type_ in _NUMBER_TYPES):
        return False
    parts = get_args(kind)
    return not parts or any(map(_may_hold_text, parts))


def _iter_processes(value: Any) -> Iterator[ProcessId]:
    """Yield every process named in a diagnosis, in the order of its fields."""
    if isinstance(value, ProcessId):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            if item.__class__ not in _BARE:
                yield from _iter_processes(item)
    else:
        for name in _list_redactable_fields(value.__class__):
            item = getattr(value, name)
            if item.__class__ not in _BARE:
                yield from _iter_processes(item)


def _redact_dataclass(value: _T, redactor: Redactor) -> _T:
    """Hide in every field of a value; where nothing is hidden it is the same value."""
    changed = {}
    for name in _list_redactable_fields(value.__class__):  # type: ignore[arg-type]
        before = getattr(value, name)
        kind = before.__class__
        if kind in _NUMBERS or (kind is ProcessId and not before.node):
            continue
        after = (
            redactor.text(before) if kind is str else _redact_field(value, name, before, redactor)
        )
        if after is not before:
            changed[name] = after
    return dataclasses.replace(value, **changed) if changed else value  # type: ignore[type-var]


def _redact_field(owner: Any, name: str, value: Any, redactor: Redactor) -> Any:
    """Hide in one field, with the exceptions that a field's meaning asks for."""
    if name == "packages":
        return {
            redactor.text(key): redactor.text(str(version), addresses=False)
            for key, version in value.items()
        }
    if name == "settings":
        return {
            redactor.text(key): dataclasses.replace(
                setting, value=_redact_value(redactor.setting(key, setting.value), redactor)
            )
            for key, setting in value.items()
        }
    if isinstance(owner, SignatureHit) and name == "captures":
        return tuple(
            (key, redactor.text(text, addresses=not any(word in key for word in _VERSION_NAMES)))
            for key, text in value
        )
    if isinstance(owner, DecisiveWords) and name == "terms":
        return _filter_terms(owner, redactor)
    if isinstance(owner, Excerpt):
        return redact_excerpt(owner, redactor) if name == "lines" else ()
    return _redact_value(value, redactor)


def redact_excerpt(excerpt: Excerpt, redactor: Redactor) -> tuple[str, ...]:
    """Hide in the lines of an excerpt, with those around it in view."""
    return redactor.lines(excerpt.lines, before=excerpt.before, behind=excerpt.behind)


def conceal_excerpt(excerpt: Excerpt) -> Excerpt:
    """Leave nothing of an excerpt to show; its lines still tell what is a secret elsewhere."""
    return dataclasses.replace(excerpt, lines=(), before=(*excerpt.before, *excerpt.lines))


def _drop_concealed(diagnosis: _T) -> _T:
    """Leave out the excerpts of which nothing is shown."""
    if not isinstance(diagnosis, Diagnosis):
        return diagnosis
    return dataclasses.replace(
        diagnosis, quotes=tuple(quote for quote in diagnosis.quotes if quote.lines)
    )


def _redact_value(value: Any, redactor: Redactor) -> Any:
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, ProcessId):
        return value._replace(node=redactor.node(value.node)) if value.node else value
    if _list_redactable_fields(value.__class__):
        return _redact_dataclass(value, redactor)
    if isinstance(value, dict):
        return {
            redactor.text(key) if isinstance(key, str) else key: _redact_value(
                redactor.setting(str(key), item), redactor
            )
            for key, item in value.items()
        }
    if isinstance(value, tuple | list | set | frozenset):
        return _redact_collection(value, redactor)
    return value


def _iter_texts(values: Iterable[Any]) -> Iterator[str]:
    """Yield the texts that values hold in their own fields."""
    for value in values:
        for name in _list_redactable_fields(value.__class__):
            item = getattr(value, name)
            if item.__class__ is str:
                yield item


def _redact_collection(values: Collection[Any], redactor: Redactor) -> Collection[Any]:
    """Hide in each of several values; a tuple in which nothing is hidden is the same one."""
    if len(values) >= _MANY:
        redactor.foresee(_iter_texts(values))
    hidden = [
        value if value.__class__ in _NUMBERS else _redact_value(value, redactor) for value in values
    ]
    if isinstance(values, tuple) and all(map(operator.is_, hidden, values)):
        return values
    return hidden if isinstance(values, list) else tuple(hidden)


def _filter_terms(carried: DecisiveWords, redactor: Redactor) -> tuple[str, ...]:
    """Keep the terms that are still in their redacted line: a term must not reveal a secret."""
    shown = redactor.text(carried.text)
    return tuple(term for term in carried.terms if term in shown)
