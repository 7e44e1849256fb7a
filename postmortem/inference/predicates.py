"""The small language in which causes, fixes and advisories ask about a case.

In: a predicate (see patterns/README.md) and a `Case`. Out: `Hit`s that show why it holds, or
nothing. Not here: weights. What is not known makes a predicate false, never true.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from postmortem.facts.numbers import number
from postmortem.inference.case import Case
from postmortem.knowledge.engine import compiled
from postmortem.model.findings import Traceback
from postmortem.model.lines import NOWHERE, Where
from postmortem.model.numerals import whole_number
from postmortem.model.said import Said, labelled, quote, say

_COMPARISON: Final = re.compile(r"(==|!=|>=|<=|>|<)\s*([^,\s]+)")


_FIELDS: Final[Mapping[str, Said]] = {
    "os": say("os", "系统"),
    "driver": say("driver", "驱动"),
    "exit_status": say("exit_status", "退出码"),
    "signal": say("signal", "信号"),
    "world_size": say("world_size", "进程数"),
    "launcher": say("launcher", "启动器"),
    "precision": say("precision", "精度"),
}
"""What the fields of the environment are called where they stand as evidence."""


class Hit(NamedTuple):
    """Why a predicate holds: what kind of evidence, and where it stands."""

    kind: str
    id: str
    said: Said
    source: int | None = None
    where: Where = NOWHERE
    line: int | None = None
    factor: float = 1.0


def holds(predicate: Mapping[str, Any], case: Case) -> list[Hit] | None:
    """Ask the case; gives the hits if every key holds (possibly none, for a negation), else None."""
    hits: list[Hit] = []
    for key, wanted in predicate.items():
        found = _KEYS[key](wanted, case)
        if found is None:
            return None
        hits += found
    return hits


def _listed(wanted: Any) -> list[Any]:
    return list(wanted) if isinstance(wanted, list) else [wanted]


def _signature(wanted: Any, case: Case) -> list[Hit] | None:
    events = [event for name in _listed(wanted) for event in case.signatures(name)]
    if not events:
        return None
    best = max(events, key=lambda event: event.factor)
    finding = best.finding
    return [
        Hit(
            "signature",
            finding.signature,
            quote(finding.text),
            finding.source,
            finding.where,
            finding.line,
            best.factor,
        )
    ]


def _shape(wanted: Any, case: Case) -> list[Hit] | None:
    for name in _listed(wanted):
        if name in case.shapes:
            shape = case.shapes[name]
            return [Hit("shape", name, shape.said, shape.source, shape.where, shape.line)]
    return None


def _precision(wanted: Any, case: Case) -> list[Hit] | None:
    known = case.environment.precision
    return (
        [Hit("environment", "precision", labelled(say("precision", "精度"), known))]
        if known in _listed(wanted)
        else None
    )


def _framework(wanted: Any, case: Case) -> list[Hit] | None:
    name = next((name for name in _listed(wanted) if name in case.frameworks), None)
    return [Hit("environment", f"framework.{name}", quote(str(name)))] if name else None


def _setting(wanted: Mapping[str, Any], case: Case) -> list[Hit] | None:
    hits = []
    for name, condition in wanted.items():
        setting = case.settings.get(name)
        if setting is None or not matches(setting.value, condition):
            return None
        hits.append(
            Hit(
                "setting",
                name,
                quote(f"{name} = {setting.value}"),
                setting.source,
                NOWHERE,
                setting.line,
            )
        )
    return hits


def _package(wanted: Mapping[str, Any], case: Case) -> list[Hit] | None:
    hits = []
    for name, condition in wanted.items():
        version = case.environment.packages.get(name.lower().replace("_", "-"))
        if version is None or not (condition == "any" or version_matches(version, str(condition))):
            return None
        hits.append(Hit("environment", f"package.{name}", quote(f"{name} {version}")))
    return hits


def _gpu(wanted: Mapping[str, Any], case: Case) -> list[Hit] | None:
    fields = {
        "capability": "compute_capability",
        "name": "name",
        "memory_gib": "memory_gib",
        "count": "count",
    }
    for gpu in case.environment.gpus:
        values = {key: getattr(gpu, fields[key]) for key in wanted}
        if all(value is not None and matches(value, wanted[key]) for key, value in values.items()):
            said = quote(gpu.name)
            if gpu.compute_capability:
                said = say(
                    "{name}, compute capability {capability}",
                    "{name}，计算能力 {capability}",
                    name=gpu.name,
                    capability=gpu.compute_capability,
                )
            return [Hit("environment", "gpu", said)]
    return None


def _env(wanted: Mapping[str, Any], case: Case) -> list[Hit] | None:
    hits = []
    for name, condition in wanted.items():
        value = getattr(case.environment, name, None)
        if value is None:
            return None
        is_version = name in {"python", "cuda", "driver"} and not str(condition).startswith("~")
        if not (
            version_matches(str(value), str(condition)) if is_version else matches(value, condition)
        ):
            return None
        hits.append(Hit("environment", name, labelled(_FIELDS.get(name, name), value)))
    return hits


def _traceback(wanted: Mapping[str, Any], case: Case) -> list[Hit] | None:
    for one in case.tracebacks:
        if all(_traceback_key(key, condition, one) for key, condition in wanted.items()):
            inner = one.frames[-1] if one.frames else None
            said = quote(
                ": ".join(
                    part for part in (one.exception, (one.message.splitlines() or [""])[0]) if part
                )
            )
            if inner:
                said = say(
                    "{what} in {place} {function}",
                    "{what}（位于 {place} {function}）",
                    what=said,
                    place=f"{inner.file}:{inner.line}",
                    function=inner.function,
                )
            return [
                Hit(
                    "traceback",
                    one.exception or "traceback",
                    said,
                    one.source,
                    one.where,
                    one.exception_line,
                )
            ]
    return None


def _traceback_key(key: str, condition: Any, one: Traceback) -> bool:
    conditions = _listed(condition)
    if key == "raised_in":
        return bool(one.frames) and ("library" if one.raised_in_library() else "user") in conditions
    if key == "frame":
        places = {f"{frame.file}:{frame.function}" for frame in one.frames}
        return any(matches(place, wanted) for place in places for wanted in conditions)
    if key == "code":
        lines = {frame.code for frame in one.frames}
        return any(matches(line, wanted) for line in lines for wanted in conditions)
    inner = one.frames[-1] if one.frames else None
    value = {
        "exception": one.exception,
        "message": one.message,
        "file": inner.file if inner else "",
        "inner_code": inner.code if inner else "",
    }[key]
    return any(matches(value, wanted) for wanted in conditions)


def _outcome(wanted: Any, case: Case) -> list[Hit] | None:
    return [] if case.outcome in _listed(wanted) else None


def _all(wanted: Iterable[Mapping[str, Any]], case: Case) -> list[Hit] | None:
    hits: list[Hit] = []
    for inner in wanted:
        found = holds(inner, case)
        if found is None:
            return None
        hits += found
    return hits


def _any(wanted: Iterable[Mapping[str, Any]], case: Case) -> list[Hit] | None:
    return next((found for inner in wanted if (found := holds(inner, case)) is not None), None)


def _not(wanted: Mapping[str, Any], case: Case) -> list[Hit] | None:
    return [] if holds(wanted, case) is None else None


_KEYS: Final[Mapping[str, Callable[[Any, Case], list[Hit] | None]]] = {
    "signature": _signature,
    "shape": _shape,
    "precision": _precision,
    "framework": _framework,
    "setting": _setting,
    "package": _package,
    "gpu": _gpu,
    "env": _env,
    "traceback": _traceback,
    "outcome": _outcome,
    "all": _all,
    "any": _any,
    "not": _not,
}


def matches(value: Any, condition: Any) -> bool:  # noqa: PLR0911 -- one form of condition, one return
    """Compare a value: `~regex`, a numeric comparison such as ">= 1e-3", a list of alternatives, or equality (case aside)."""
    if isinstance(condition, list):
        return any(matches(value, one) for one in condition)
    if isinstance(condition, bool) or isinstance(value, bool):
        return str(value).lower() == str(condition).lower()
    if isinstance(condition, (int, float)):
        known = number(str(value))
        return known is not None and known == float(condition)
    text = str(condition)
    if text.startswith("~"):
        return _finds(f"(?i){text[1:]}", str(value))
    if text.strip() == "any":
        return True
    comparisons = _COMPARISON.findall(text)
    if comparisons:
        known = number(str(value))
        return known is not None and all(
            _compare(known, operator, float(limit))
            for operator, limit in comparisons
            if number(limit) is not None
        )
    return str(value).lower() == text.lower()


def _finds(pattern: str, text: str) -> bool:
    """Search a printed text, which is anybody's; where that takes too long, nothing is known."""
    try:
        return compiled(pattern).search(text) is not None
    except TimeoutError:
        return False


def version_matches(version: str, condition: str) -> bool:
    """Compare a version with ">= 2.5, < 2.5.1", an exact "2.5.0", or a `~regex`.

    Local parts (+cu121) do not count.
    """
    if condition.startswith("~"):
        return _finds(condition[1:], version)
    known = _parts(version)
    comparisons = _COMPARISON.findall(condition)
    if not comparisons:
        wanted = _parts(condition)
        return known[: len(wanted)] == wanted
    return all(_compare_versions(known, operator, _parts(limit)) for operator, limit in comparisons)


def _parts(version: str) -> tuple[int, ...]:
    release = re.match(r"v?(\d+(?:\.\d+)*)", version.strip())
    return tuple(whole_number(part) or 0 for part in release[1].split(".")) if release else ()


def _compare_versions(known: tuple[int, ...], operator: str, limit: tuple[int, ...]) -> bool:
    if not known:
        return False
    width = max(len(known), len(limit))
    return _compare(
        known + (0,) * (width - len(known)), operator, limit + (0,) * (width - len(limit))
    )


def _compare(known: Any, operator: str, limit: Any) -> bool:
    table: Mapping[str, bool] = {
        "==": known == limit,
        "!=": known != limit,
        ">=": known >= limit,
        "<=": known <= limit,
        ">": known > limit,
        "<": known < limit,
    }
    return table[operator]
