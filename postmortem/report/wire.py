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

from postmortem.lazy_regex import lazy_compile
from postmortem.model.answer import Cause, Evidence, Fix, Verdict
from postmortem.model.diagnosis import Diagnosis
from postmortem.model.job_facts import Environment, Source
from postmortem.model.lines import Where
from postmortem.model.shown import Event, FirstFailure, Progress, SeriesView, SignatureHit
from postmortem.model.visible import RUNNER, UNSEEN, escaped
from postmortem.names import SCHEMA
from postmortem.redaction.redactor import Redactor
from postmortem.report.curves_as_json import curve_text, curve_values, whole_step
from postmortem.report.for_people import presentable
from postmortem.report.redacted import redact as hide
from postmortem.resources import version_in_wheel


class _Written(str):
    """What somebody has written as JSON already: it stands in the report as it is."""

    __slots__ = ()


def _as_it_is(value: Any) -> Any:
    return value


_PACKAGE: Final = "train-postmortem"
_SURROGATE: Final = lazy_compile("[\ud800-\udfff]")
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
    wire = _wire(diagnosis, Redactor() if redact else None, lambda one: _Written(curve_text(one)))
    # Each part by itself: one character that is no ASCII makes every look at a text take longer.
    parts = [_shown(plain_json(part)) for part in _entries(wire, "\n ", plain_json)]
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def render_jsonl(diagnosis: Diagnosis, *, redact: bool = True) -> str:
    """Write the JSON report on one line: the reports of many jobs make a file of JSON Lines."""
    return json_text(to_wire(diagnosis, Redactor() if redact else None), is_one_line=True)


def json_text(value: Any, *, is_one_line: bool = False) -> str:
    """Write values that `plain_json` has made as strict JSON.

    What would steer a terminal, an editor or a runner stands in it as an escape.
    """
    return _shown(_on_one_line(value) if is_one_line else _on_lines(value)) + "\n"


def _shown(text: str) -> str:
    # One look at each character there is, in the place of one at every place. JSON writes the
    # controls of ASCII as escapes, but for one.
    if _DELETE in text if text.isascii() else UNSEEN.search("".join(sorted(set(text)))):
        text = UNSEEN.sub(lambda match: json.dumps(match[0])[1:-1], text)
    return RUNNER.sub(escaped, text) if "::" in text or "##" in text else text


def _on_one_line(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def _on_lines(value: Any, gap: str = "\n", spelt: Callable[[Any], Any] = _as_it_is) -> str:
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
        return f"{{{inner}{f',{inner}'.join(_entries(value, inner, spelt))}{gap}}}"
    if isinstance(value, (list, tuple)) and value:
        return _items(value, gap, spelt)
    plain = spelt(value)
    is_other = plain is not value and isinstance(plain, (dict, list))
    return _on_lines(plain, gap) if is_other else _on_one_line(plain)


def _entries(value: Mapping[Any, Any], gap: str, spelt: Callable[[Any], Any]) -> list[str]:
    return [
        f"{encode_basestring(key if key.__class__ is str else str(key))}: "
        + (write(one) if (write := _WRITE.get(one.__class__)) else _on_lines(one, gap, spelt))
        for key, one in value.items()
    ]


def _items(value: Sequence[Any], gap: str, spelt: Callable[[Any], Any]) -> str:
    inner = gap + " "
    items = [*map(repr, value)] if _NUMBERS.issuperset(map(type, value)) else []
    if not items or not _NO_NUMBERS.isdisjoint(items):
        items = [_on_lines(one, inner, spelt) for one in value]
    return f"[{inner}{f',{inner}'.join(items)}{gap}]"


def schema_text(name: str = "report") -> str:
    """Give the JSON Schema of the report, of an evaluation, of a triage or of a notice."""
    return (Path(__file__).parent / f"{name}.schema.json").read_text(encoding="utf-8")


@cache
def tool_version() -> str:
    """Give the version of the installed package: a wheel holds it, a checkout is asked for it."""
    if told := version_in_wheel():
        return told
    from importlib import metadata  # noqa: PLC0415 -- 15 ms that a wheel's start does not pay

    try:
        return metadata.version(_PACKAGE)
    except metadata.PackageNotFoundError:
        return "0+unknown"


def to_wire(diagnosis: Diagnosis, redactor: Redactor | None = None) -> dict[str, Any]:
    """Turn a diagnosis into the plain values of the JSON report; a redactor hides in it."""
    return {key: plain_json(value) for key, value in _wire(diagnosis, redactor).items()}


def _wire(
    diagnosis: Diagnosis,
    redactor: Redactor | None,
    curve: Callable[[SeriesView], Any] = curve_values,
) -> dict[str, Any]:
    """Give the values of the JSON report, of which some may need another spelling.

    `curve` gives those of a curve.
    """
    shown = dataclasses.replace(presentable(diagnosis), excerpt=None, quotes=())
    if redactor is not None:
        shown = hide(shown, redactor)
    first = shown.first_failure
    wire = {
        "schema": SCHEMA,
        "tool": {
            "name": "postmortem",
            "version": tool_version(),
            "knowledge_base": shown.knowledge_base,
            "classifier": shown.classifier,
        },
        "sources": [_source(one) for one in shown.sources],
        "attempts": [_fields(one) for one in shown.attempts],
        "outcome": shown.outcome,
        "frameworks": [_fields(one) for one in shown.frameworks],
        "verdict": _verdict(shown.verdict),
        "causes": [_cause(one) for one in shown.causes],
        "signatures": [_signature(one) for one in shown.signatures],
        "first_failure": None if first is None else _failure(first),
        "timeline": [_event(one) for one in shown.timeline],
        "series": [curve(one) for one in shown.series],
        "environment": _environment(shown.environment),
        "settings": {name: _fields(one) for name, one in shown.settings.items()},
        "progress": _progress(shown.progress),
        "redactions": _redactions(redactor),
        "warnings": list(shown.warnings),
    }
    if shown.replay is not None:
        wire["replay"] = dataclasses.asdict(shown.replay)
    return wire


def _failure(first: FirstFailure) -> dict[str, Any]:
    frame = None if first.frame is None else _fields(first.frame)
    return _fields(first) | {"where": _where(first.where), "frame": frame}


def _fields(value: Any) -> dict[str, Any]:
    """Give a value's fields by name, as they are."""
    return {name: getattr(value, name) for name in _names(value.__class__)}


@cache
def _names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def _where(where: Where) -> dict[str, Any]:
    return where._asdict()


def _source(source: Source) -> dict[str, Any]:
    fields = _fields(source) | {"where": _where(source.where)}
    for name in ("digest", "is_file"):  # for stores; the contract names a source by its path
        del fields[name]
    return fields


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return _fields(verdict) | {"need": [_fields(one) for one in verdict.need]}


def _cause(cause: Cause) -> dict[str, Any]:
    fields = _fields(cause) | {
        "evidence": [_evidence(one) for one in cause.evidence],
        "fixes": [_fix(one) for one in cause.fixes],
    }
    for name in (
        "log_odds",
        "separated_by",
    ):  # for the page; the contract gives the probability, and the verdict what would change it
        del fields[name]
    return fields


def _evidence(evidence: Evidence) -> dict[str, Any]:
    fields = _fields(evidence) | {"where": _where(evidence.where)}
    carried = [_fields(one) for one in fields.pop("carried")]
    return fields | ({"carried": carried} if carried else {})


def _fix(fix: Fix) -> dict[str, Any]:
    return _fields(fix)


def _signature(hit: SignatureHit) -> dict[str, Any]:
    fields = _fields(hit) | {"where": _where(hit.where), "captures": dict(hit.captures)}
    for name in ("title", "literal"):  # for people; the contract names a signature by its id
        del fields[name]
    return fields


def _event(event: Event) -> dict[str, Any]:
    fields = _fields(event) | {"where": _where(event.where), "step": whole_step(event.step)}
    del fields["title"]  # for people as well
    return fields


def _environment(environment: Environment) -> dict[str, Any]:
    return _fields(environment) | {"gpus": [_fields(one) for one in environment.gpus]}


def _progress(progress: Progress) -> dict[str, Any]:
    bad = progress.first_bad
    return _fields(progress) | {
        "last_good_step": whole_step(progress.last_good_step),
        "first_bad": None if bad is None else [whole_step(bad[0]), bad[1]],
    }


def _redactions(redactor: Redactor | None) -> dict[str, Any]:
    kinds = redactor.counts if redactor is not None else {}
    return {"count": sum(kinds.values()), "kinds": kinds}


def plain_json(value: Any) -> Any:
    """Turn a value into what strict JSON can hold."""
    kind = value.__class__
    if kind is str:  # the most there is
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if kind in _WHOLE or (kind is float and math.isfinite(value)):
        return value
    if kind is list or kind is tuple:
        return [one if one.__class__ in _WHOLE else plain_json(one) for one in value]
    return _plain_json(value)


def _plain_json(value: Any) -> Any:
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
        return {plain_json(str(key)): plain_json(one) for key, one in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [plain_json(one) for one in value]
    return plain_json(str(value))
