"""Whether named conditions hold in a case, and what shows it.

In: the conditions that an item of a rule asks (`knowledge.conditions`), and a `Case`. Out: `Hit`s
that show why they hold, or nothing. Not here: the conditions (`patterns/conditions`), weights. What
is not known makes a predicate false, never true.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from postmortem.case.values import Case
from postmortem.inference.matching import matches, version_matches
from postmortem.knowledge.conditions import Asked, Condition
from postmortem.model.findings import Frame, Traceback
from postmortem.model.lines import NOWHERE, Where
from postmortem.model.said import Said, labelled, quote, say

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


_LATE: Final = 0.35
"""What a traceback behind the first failure counts: it tells of what followed."""


class Hit(NamedTuple):
    """Why a predicate holds: what kind of evidence, and where it stands."""

    kind: str
    id: str
    said: Said
    source: int | None = None
    where: Where = NOWHERE
    line: int | None = None
    factor: float = 1.0


def holds(asked: Asked, case: Case) -> list[Hit] | None:
    """Ask the case; gives the hits if every condition holds and no exception does, else None.

    The hits may be none: where only exceptions are named, nothing shows that they do not hold.
    """
    hits: list[Hit] = []
    for condition in asked.wanted:
        found = answered(condition, case)
        if found is None:
            return None
        hits += found
    is_excepted = any(answered(one, case) is not None for one in asked.unwanted)
    return None if is_excepted else hits


def answered(condition: Condition, case: Case) -> list[Hit] | None:
    """Ask a condition, once of each case; gives the hits if it holds, else None."""
    known = case.answers.get(id(condition))
    if known is None:
        known = case.answers[id(condition)] = (condition, answer(condition.predicate, case))
    found: list[Hit] | None = known[1]
    return found


def answer(predicate: Mapping[str, Any], case: Case) -> list[Hit] | None:
    """Ask one predicate; gives the hits if every key holds, else None."""
    hits: list[Hit] = []
    for key, wanted in predicate.items():
        found = _ANSWERS[key](wanted, case)
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
    found = [
        traceback
        for traceback in case.tracebacks
        if all(
            any(_TRACEBACK[key](traceback, one) for one in _listed(condition))
            for key, condition in wanted.items()
        )
    ]
    if not found:
        return None
    best = max(found, key=lambda traceback: timeliness(traceback, case))
    return [
        Hit(
            "traceback",
            best.exception or "traceback",
            _exception_said(best),
            best.source,
            best.where,
            best.exception_line,
            timeliness(best, case),
        )
    ]


def timeliness(traceback: Traceback, case: Case) -> float:
    """Give how much a traceback counts: one behind that of the first failure, in its file, less."""
    first = case.first
    if first is None or traceback.chained or traceback.wrapped:
        return 1.0
    is_late = any(
        other.source == first.source == traceback.source
        and other.line <= first.line <= other.end_line < traceback.line
        for other in case.tracebacks
    )
    return _LATE if is_late else 1.0


def _exception_said(traceback: Traceback) -> Said:
    """Quote an exception with the first line of its message, and say where it was raised."""
    message = (traceback.message.splitlines() or [""])[0]
    said = quote(": ".join(part for part in (traceback.exception, message) if part))
    inner = _innermost(traceback)
    if inner is None:
        return said
    return say(
        "{what} in {place} {function}",
        "{what}（位于 {place} {function}）",
        what=said,
        place=f"{inner.file}:{inner.line}",
        function=inner.function,
    )


def _innermost(traceback: Traceback) -> Frame | None:
    return traceback.frames[-1] if traceback.frames else None


def _raised_in(traceback: Traceback, wanted: Any) -> bool:
    return bool(traceback.frames) and wanted == (
        "library" if traceback.raised_in_library() else "user"
    )


def _has_frame(traceback: Traceback, wanted: Any) -> bool:
    places = {f"{frame.file}:{frame.function}" for frame in traceback.frames}
    return any(matches(place, wanted) for place in places)


def _has_code(traceback: Traceback, wanted: Any) -> bool:
    lines = {frame.code for frame in traceback.frames}
    return any(matches(line, wanted) for line in lines)


def _inner_file(traceback: Traceback, wanted: Any) -> bool:
    inner = _innermost(traceback)
    return matches(inner.file if inner else "", wanted)


def _inner_code(traceback: Traceback, wanted: Any) -> bool:
    inner = _innermost(traceback)
    return matches(inner.code if inner else "", wanted)


_TRACEBACK: Final[Mapping[str, Callable[[Traceback, Any], bool]]] = {
    "exception": lambda traceback, wanted: matches(traceback.exception, wanted),
    "message": lambda traceback, wanted: matches(traceback.message, wanted),
    "raised_in": _raised_in,
    "frame": _has_frame,
    "code": _has_code,
    "file": _inner_file,
    "inner_code": _inner_code,
}


def _outcome(wanted: Any, case: Case) -> list[Hit] | None:
    return [] if case.outcome in _listed(wanted) else None


def _all(wanted: Iterable[Mapping[str, Any]], case: Case) -> list[Hit] | None:
    hits: list[Hit] = []
    for inner in wanted:
        found = answer(inner, case)
        if found is None:
            return None
        hits += found
    return hits


def _any(wanted: Iterable[Mapping[str, Any]], case: Case) -> list[Hit] | None:
    return next((found for inner in wanted if (found := answer(inner, case)) is not None), None)


def _not(wanted: Mapping[str, Any], case: Case) -> list[Hit] | None:
    return [] if answer(wanted, case) is None else None


_ANSWERS: Final[Mapping[str, Callable[[Any, Case], list[Hit] | None]]] = {
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
