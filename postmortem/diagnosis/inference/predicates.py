"""Evaluate named conditions on a case, with the evidence for each.

In: the conditions that an item of a rule asks (`rules.cause_rules`), and a `Case`. Out: `Hit`s
that show why they hold, or nothing. Not here: the conditions (`patterns/conditions`), weights. What
is not known makes a predicate false, never true.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from postmortem.core.findings import NOWHERE, Frame, ProcessId, Traceback
from postmortem.core.message import Message, add_label, quote, say
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.inference.rule_matching import is_match, is_version_match
from postmortem.rules.cause_rules import Condition, ConditionSet

_FIELDS: Final[Mapping[str, Message]] = {
    "os": say("os"),
    "driver": say("driver"),
    "exit_status": say("exit_status"),
    "signal": say("signal"),
    "world_size": say("world_size"),
    "launcher": say("launcher"),
    "precision": say("precision"),
}
"""What the fields of the environment are called where they stand as evidence."""


_LATE: Final = 0.35
"""What a traceback behind the first failure counts: it tells of what followed."""


class Hit(NamedTuple):
    """Why a predicate holds: what kind of evidence, and where it stands."""

    kind: str
    id: str
    message: Message
    source: int | None = None
    where: ProcessId = NOWHERE
    line: int | None = None
    factor: float = 1.0


def evaluate_conditions(item: ConditionSet, case: Case) -> list[Hit] | None:
    """Ask the case; gives the hits if every condition holds and no exception does, else None.

    The hits may be none: where only exceptions are named, nothing shows that they do not hold.
    """
    hits: list[Hit] = []
    for condition in item.wanted:
        found = evaluate_condition(condition, case)
        if found is None:
            return None
        hits += found
    is_excepted = any(
        evaluate_condition(condition, case) is not None for condition in item.unwanted
    )
    return None if is_excepted else hits


def evaluate_condition(condition: Condition, case: Case) -> list[Hit] | None:
    """Ask a condition, once of each case; gives the hits if it holds, else None."""
    known = case.answers.get(id(condition))
    if known is None:
        known = case.answers[id(condition)] = (
            condition,
            evaluate_predicate(condition.predicate, case),
        )
    found: list[Hit] | None = known[1]
    return found


def evaluate_predicate(predicate: Mapping[str, Any], case: Case) -> list[Hit] | None:
    """Ask one predicate; gives the hits if every key holds, else None."""
    hits: list[Hit] = []
    for key, wanted in predicate.items():
        found = _ANSWERS[key](wanted, case)
        if found is None:
            return None
        hits += found
    return hits


def _ensure_list(wanted: Any) -> list[Any]:
    return list(wanted) if isinstance(wanted, list) else [wanted]


def _match_signature(wanted: Any, case: Case) -> list[Hit] | None:
    events = [event for name in _ensure_list(wanted) for event in case.signatures(name)]
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


def _match_anomaly(wanted: Any, case: Case) -> list[Hit] | None:
    for name in _ensure_list(wanted):
        if name in case.anomalies:
            anomaly = case.anomalies[name]
            return [
                Hit("shape", name, anomaly.message, anomaly.source, anomaly.where, anomaly.line)
            ]
    return None


def _match_precision(wanted: Any, case: Case) -> list[Hit] | None:
    known = case.environment.precision
    return (
        [Hit("environment", "precision", add_label(say("precision"), known))]
        if known in _ensure_list(wanted)
        else None
    )


def _match_framework(wanted: Any, case: Case) -> list[Hit] | None:
    name = next((name for name in _ensure_list(wanted) if name in case.frameworks), None)
    return [Hit("environment", f"framework.{name}", quote(str(name)))] if name else None


def _match_setting(wanted: Mapping[str, Any], case: Case) -> list[Hit] | None:
    hits = []
    for name, condition in wanted.items():
        setting = case.settings.get(name)
        if setting is None or not is_match(setting.value, condition):
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


def _match_package(wanted: Mapping[str, Any], case: Case) -> list[Hit] | None:
    hits = []
    for name, condition in wanted.items():
        version = case.environment.packages.get(name.lower().replace("_", "-"))
        if version is None or not is_version_match(version, condition):
            return None
        hits.append(Hit("environment", f"package.{name}", quote(f"{name} {version}")))
    return hits


def _match_gpu(wanted: Mapping[str, Any], case: Case) -> list[Hit] | None:
    fields = {
        "capability": "compute_capability",
        "name": "name",
        "memory_gib": "memory_gib",
        "count": "count",
    }
    for gpu in case.environment.gpus:
        values = {key: getattr(gpu, fields[key]) for key in wanted}
        if all(value is not None and is_match(value, wanted[key]) for key, value in values.items()):
            name = quote(gpu.name)
            if gpu.compute_capability:
                name = say(
                    "{name}, compute capability {capability}",
                    name=gpu.name,
                    capability=gpu.compute_capability,
                )
            return [Hit("environment", "gpu", name)]
    return None


def _match_environment(wanted: Mapping[str, Any], case: Case) -> list[Hit] | None:
    hits = []
    for name, condition in wanted.items():
        value = getattr(case.environment, name, None)
        if value is None:
            return None
        is_version = name in {"python", "cuda", "driver"} and not str(condition).startswith("~")
        if not (
            is_version_match(str(value), condition) if is_version else is_match(value, condition)
        ):
            return None
        hits.append(Hit("environment", name, add_label(_FIELDS.get(name, name), value)))
    return hits


def _match_traceback(wanted: Mapping[str, Any], case: Case) -> list[Hit] | None:
    found = [
        traceback
        for traceback in case.tracebacks
        if all(
            any(_TRACEBACK[key](traceback, alternative) for alternative in _ensure_list(condition))
            for key, condition in wanted.items()
        )
    ]
    if not found:
        return None
    best = max(found, key=lambda traceback: compute_timeliness(traceback, case))
    return [
        Hit(
            "traceback",
            best.exception or "traceback",
            _describe_exception(best),
            best.source,
            best.where,
            best.exception_line,
            compute_timeliness(best, case),
        )
    ]


def compute_timeliness(traceback: Traceback, case: Case) -> float:
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


def _describe_exception(traceback: Traceback) -> Message:
    """Quote an exception with the first line of its message, and say where it was raised."""
    message = (traceback.message.splitlines() or [""])[0]
    text = quote(": ".join(part for part in (traceback.exception, message) if part))
    inner = _get_innermost_frame(traceback)
    if inner is None:
        return text
    return say(
        "{what} in {place} {function}",
        what=text,
        place=f"{inner.file}:{inner.line}",
        function=inner.function,
    )


def _get_innermost_frame(traceback: Traceback) -> Frame | None:
    return traceback.frames[-1] if traceback.frames else None


def _is_raised_in(traceback: Traceback, wanted: Any) -> bool:
    return bool(traceback.frames) and wanted == (
        "library" if traceback.raised_in_library() else "user"
    )


def _has_frame(traceback: Traceback, wanted: Any) -> bool:
    places = {f"{frame.file}:{frame.function}" for frame in traceback.frames}
    return any(is_match(place, wanted) for place in places)


def _has_code(traceback: Traceback, wanted: Any) -> bool:
    lines = {frame.code for frame in traceback.frames}
    return any(is_match(line, wanted) for line in lines)


def _is_innermost_file(traceback: Traceback, wanted: Any) -> bool:
    inner = _get_innermost_frame(traceback)
    return is_match(inner.file if inner else "", wanted)


def _is_innermost_code(traceback: Traceback, wanted: Any) -> bool:
    inner = _get_innermost_frame(traceback)
    return is_match(inner.code if inner else "", wanted)


_TRACEBACK: Final[Mapping[str, Callable[[Traceback, Any], bool]]] = {
    "exception": lambda traceback, wanted: is_match(traceback.exception, wanted),
    "message": lambda traceback, wanted: is_match(traceback.message, wanted),
    "raised_in": _is_raised_in,
    "frame": _has_frame,
    "code": _has_code,
    "file": _is_innermost_file,
    "inner_code": _is_innermost_code,
}


def _match_outcome(wanted: Any, case: Case) -> list[Hit] | None:
    return [] if case.outcome_names.intersection(_ensure_list(wanted)) else None


def _match_all(wanted: Iterable[Mapping[str, Any]], case: Case) -> list[Hit] | None:
    hits: list[Hit] = []
    for inner in wanted:
        found = evaluate_predicate(inner, case)
        if found is None:
            return None
        hits += found
    return hits


def _match_any(wanted: Iterable[Mapping[str, Any]], case: Case) -> list[Hit] | None:
    return next(
        (found for inner in wanted if (found := evaluate_predicate(inner, case)) is not None), None
    )


def _match_not(wanted: Mapping[str, Any], case: Case) -> list[Hit] | None:
    return [] if evaluate_predicate(wanted, case) is None else None


_ANSWERS: Final[Mapping[str, Callable[[Any, Case], list[Hit] | None]]] = {
    "signature": _match_signature,
    "shape": _match_anomaly,
    "precision": _match_precision,
    "framework": _match_framework,
    "setting": _match_setting,
    "package": _match_package,
    "gpu": _match_gpu,
    "env": _match_environment,
    "traceback": _match_traceback,
    "outcome": _match_outcome,
    "all": _match_all,
    "any": _match_any,
    "not": _match_not,
}
