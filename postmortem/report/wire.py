"""The JSON report, `postmortem.report/1`: field for field as DESIGN.md section 4 fixes it.

In: a `Diagnosis`. Out: plain values, strict JSON text, the JSON Schema. Not here: reading a report
back, computing anything. Non-finite numbers are the strings "NaN", "Infinity" and "-Infinity". The
log excerpt is no part of the contract and stays out.
"""

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any, Final

from postmortem.core.answer import (
    Cause,
    Event,
    Evidence,
    FirstFailure,
    Progress,
    SeriesView,
    SignatureHit,
    Verdict,
)
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.findings import Source
from postmortem.core.log_text import RUNNER, UNSEEN, compile_lazily, escape_character
from postmortem.core.names import SCHEMA
from postmortem.core.resources import read_wheel_version
from postmortem.report.curves import build_curve_values, convert_whole_step, serialize_curve
from postmortem.report.display import prepare_for_display
from postmortem.report.redacted import conceal_excerpt, redact_report
from postmortem.report.redaction.redactor import Redactor


class _Written(str):
    """Text that is JSON already and goes into the report unchanged."""

    __slots__ = ()


def _as_it_is(value: Any) -> Any:
    return value


_PACKAGE: Final = "train-postmortem"
_SURROGATE: Final = compile_lazily("[\ud800-\udfff]")
_WHOLE: Final = frozenset({int, bool, type(None)})
_NUMBERS: Final = frozenset({int, float})
_DELETE: Final = "\x7f"
_NO_NUMBERS: Final = frozenset({"nan", "inf", "-inf"})
_WORDS: Final[Mapping[Any, str]] = {None: "null", True: "true", False: "false"}
_WRITE: Final[Mapping[Any, Callable[[Any], str]]] = {
    str: encode_basestring,
    int: repr,
    bool: _WORDS.__getitem__,
    type(None): _WORDS.__getitem__,
    _Written: _as_it_is,
}
"""By kind: how what takes a single word is written."""


def render_json(diagnosis: Diagnosis, *, redact: bool = True) -> str:
    """Write the JSON report."""
    wire = _build_report(
        diagnosis, Redactor() if redact else None, lambda curve: _Written(serialize_curve(curve))
    )
    # Each part by itself: one character that is no ASCII makes every look at a text take longer.
    parts = [
        _escape_unsafe_characters(convert_to_json_value(part))
        for part in _dump_entries(wire, "\n ", convert_to_json_value)
    ]
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def render_jsonl(diagnosis: Diagnosis, *, redact: bool = True) -> str:
    """Write the JSON report on one line: the reports of many jobs make a file of JSON Lines."""
    return dump_json(to_wire(diagnosis, Redactor() if redact else None), is_one_line=True)


def dump_json(value: Any, *, is_one_line: bool = False) -> str:
    """Write values that `plain_json` has made as strict JSON.

    What would steer a terminal, an editor or a runner stands in it as an escape.
    """
    return (
        _escape_unsafe_characters(_dump_compact(value) if is_one_line else _dump_indented(value))
        + "\n"
    )


def _escape_unsafe_characters(text: str) -> str:
    # One look at each character there is, in the place of one at every place. JSON writes the
    # controls of ASCII as escapes, but for one.
    if _DELETE in text if text.isascii() else UNSEEN.search("".join(sorted(set(text)))):
        text = UNSEEN.sub(lambda match: json.dumps(match[0])[1:-1], text)
    return RUNNER.sub(escape_character, text) if "::" in text or "##" in text else text


def _dump_compact(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def _dump_indented(value: Any, gap: str = "\n", spelt: Callable[[Any], Any] = _as_it_is) -> str:
    """Write a value with an entry on each line, as `json.dumps` does with an indent of 1.

    That goes through Python's own steps for each entry, and took twice as long. `spelt` is asked
    for what JSON may not hold.
    """
    write = _WRITE.get(value.__class__)
    if write is not None:
        return write(value)
    if value.__class__ is float and math.isfinite(value):
        return repr(value)
    if isinstance(value, dict) and value:
        inner = gap + " "
        return f"{{{inner}{f',{inner}'.join(_dump_entries(value, inner, spelt))}{gap}}}"
    if isinstance(value, (list, tuple)) and value:
        return _dump_items(value, gap, spelt)
    plain = spelt(value)
    is_other = plain is not value and isinstance(plain, (dict, list))
    return _dump_indented(plain, gap) if is_other else _dump_compact(plain)


def _dump_entries(value: Mapping[Any, Any], gap: str, spelt: Callable[[Any], Any]) -> list[str]:
    return [
        f"{encode_basestring(key if key.__class__ is str else str(key))}: "
        + (
            write(item)
            if (write := _WRITE.get(item.__class__))
            else _dump_indented(item, gap, spelt)
        )
        for key, item in value.items()
    ]


def _dump_items(value: Sequence[Any], gap: str, spelt: Callable[[Any], Any]) -> str:
    inner = gap + " "
    items = [*map(repr, value)] if _NUMBERS.issuperset(map(type, value)) else []
    if not items or not _NO_NUMBERS.isdisjoint(items):
        items = [_dump_indented(item, inner, spelt) for item in value]
    return f"[{inner}{f',{inner}'.join(items)}{gap}]"


def read_schema(name: str = "report") -> str:
    """Give the JSON Schema of the report, of an evaluation, of a triage or of a notice."""
    return (Path(__file__).parent / f"{name}.schema.json").read_text(encoding="utf-8")


@cache
def get_tool_version() -> str:
    """Give the version of the installed package: a wheel holds it, a checkout is asked for it."""
    if version := read_wheel_version():
        return version
    from importlib import metadata  # noqa: PLC0415 -- 15 ms that a wheel's start does not pay

    try:
        return metadata.version(_PACKAGE)
    except metadata.PackageNotFoundError:
        return "0+unknown"


_STEPS: Final = ("last_good_step", "last_step", "planned_steps", "epoch", "planned_epochs")
"""Fields of the progress that are written as whole numbers where they are."""


def to_wire(diagnosis: Diagnosis, redactor: Redactor | None = None) -> dict[str, Any]:
    """Turn a diagnosis into the plain values of the JSON report; a redactor hides in it."""
    return {
        key: convert_to_json_value(value)
        for key, value in _build_report(diagnosis, redactor).items()
    }


def _build_report(
    diagnosis: Diagnosis,
    redactor: Redactor | None,
    curve: Callable[[SeriesView], Any] = build_curve_values,
) -> dict[str, Any]:
    """Give the values of the JSON report, of which some may need another spelling.

    `curve` gives those of a curve.
    """
    shown = dataclasses.replace(
        prepare_for_display(diagnosis),
        excerpt=None,
        quotes=tuple(map(conceal_excerpt, diagnosis.quotes)) if redactor is not None else (),
    )
    shown = redact_report(shown, redactor)
    first = shown.first_failure
    wire = {
        "schema": SCHEMA,
        "tool": {
            "name": "postmortem",
            "version": get_tool_version(),
            "knowledge_base": shown.knowledge_base,
            "classifier": shown.classifier,
        },
        "sources": [_build_source(source) for source in shown.sources],
        "attempts": [_get_fields(attempt) for attempt in shown.attempts],
        "outcome": shown.outcome,
        "frameworks": [_get_fields(framework) for framework in shown.frameworks],
        "verdict": _build_verdict(shown.verdict),
        "causes": [_build_cause(cause) for cause in shown.causes],
        "signatures": [_build_signature(signature) for signature in shown.signatures],
        "first_failure": None if first is None else _build_failure(first),
        "timeline": [_build_event(event) for event in shown.timeline],
        "series": [
            curve(series)
            for series in sorted(
                (*shown.other_series, *shown.series), key=lambda series: series.attempt
            )
        ],
        "environment": (
            _get_fields(shown.environment)
            | {"gpus": [_get_fields(gpu) for gpu in shown.environment.gpus]}
        ),
        "settings": {name: _get_fields(setting) for name, setting in shown.settings.items()},
        "progress": _build_progress(shown.progress),
        "redactions": _count_redactions(redactor),
        "warnings": list(shown.warnings),
    }
    if shown.replay is not None:
        wire["replay"] = dataclasses.asdict(shown.replay)
    return wire


def _build_failure(first: FirstFailure) -> dict[str, Any]:
    frame = None if first.frame is None else _get_fields(first.frame)
    return _get_fields(first) | {"where": first.where._asdict(), "frame": frame}


def _get_fields(value: Any) -> dict[str, Any]:
    """Give a value's fields by name, as they are."""
    return {name: getattr(value, name) for name in _list_field_names(value.__class__)}


@cache
def _list_field_names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def _build_source(source: Source) -> dict[str, Any]:
    fields = _get_fields(source) | {"where": source.where._asdict()}
    for name in ("digest", "is_file"):  # for stores; the contract names a source by its path
        del fields[name]
    return fields


def _build_cause(cause: Cause) -> dict[str, Any]:
    fields = _get_fields(cause) | {
        "evidence": [_build_evidence(item) for item in cause.evidence],
        "fixes": [_get_fields(fix) for fix in cause.fixes],
    }
    for name in (
        "log_odds",
        "separated_by",
    ):  # for the page; the contract gives the probability, and the verdict what would change it
        del fields[name]
    return fields


def _build_evidence(evidence: Evidence) -> dict[str, Any]:
    fields = _get_fields(evidence) | {"where": evidence.where._asdict()}
    carried = [_get_fields(entry) for entry in fields.pop("carried")]
    return fields | ({"carried": carried} if carried else {})


def _build_signature(hit: SignatureHit) -> dict[str, Any]:
    fields = _get_fields(hit) | {"where": hit.where._asdict(), "captures": dict(hit.captures)}
    for name in ("title", "literal"):  # for people; the contract names a signature by its id
        del fields[name]
    return fields


def _build_event(event: Event) -> dict[str, Any]:
    fields = _get_fields(event) | {
        "where": event.where._asdict(),
        "step": convert_whole_step(event.step),
    }
    del fields["title"]  # for people as well
    return fields


def _build_progress(progress: Progress) -> dict[str, Any]:
    bad, best = progress.first_bad, progress.best
    return _get_fields(progress) | {
        **{name: convert_whole_step(getattr(progress, name)) for name in _STEPS},
        "first_bad": None if bad is None else [convert_whole_step(bad[0]), bad[1]],
        "best": None
        if best is None
        else _get_fields(best)
        | {name: convert_whole_step(getattr(best, name)) for name in ("step", "epoch")},
    }


def convert_to_json_value(value: Any) -> Any:
    """Turn a value into what strict JSON can hold."""
    kind = value.__class__
    if kind is str:  # the most there is
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if kind in _WHOLE or (kind is float and math.isfinite(value)):
        return value
    if kind is list or kind is tuple:
        return [item if item.__class__ in _WHOLE else convert_to_json_value(item) for item in value]
    return _convert_other_value(value)


def _convert_other_value(value: Any) -> Any:
    """Do the same for what is less common."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return (
            value
            if math.isfinite(value)
            else ("NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity")
        )
    if isinstance(value, dict):
        return {
            convert_to_json_value(str(key)): convert_to_json_value(item)
            for key, item in value.items()
        }
    if isinstance(value, tuple | list | set | frozenset):
        return [convert_to_json_value(item) for item in value]
    return convert_to_json_value(str(value))


def _build_verdict(verdict: Verdict) -> dict[str, Any]:
    return _get_fields(verdict) | {"need": [_get_fields(entry) for entry in verdict.need]}


def _count_redactions(redactor: Redactor | None) -> dict[str, Any]:
    kinds = redactor.counts if redactor is not None else {}
    return {"count": sum(kinds.values()), "kinds": kinds}
