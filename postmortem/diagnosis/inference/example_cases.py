"""Test conditions and advisories on their example cases, anomalies on their example curves.

In: compiled rules. Out: faults. Not here: the shape of an example (`rules.predicate_schema`), and
whether a log gives such a case (`extraction.proof`, the formats).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from postmortem.core import names
from postmortem.core.errors import PatternError
from postmortem.core.findings import NOWHERE, Environment, Finding, Frame, Gpu, Setting, Traceback
from postmortem.core.message import quote
from postmortem.diagnosis.case.values import Case, Occurrence
from postmortem.diagnosis.detectors.curve_features import compute_features, detect_curve_conditions
from postmortem.diagnosis.detectors.observed import Anomaly, Curves, Observed
from postmortem.diagnosis.inference.known_defects import find_symptom, is_applicable
from postmortem.diagnosis.inference.predicates import evaluate_predicate
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.extraction.facts.series import Series
from postmortem.extraction.frames import is_library
from postmortem.rules.cause_rules import Conditions, build_advisory
from postmortem.rules.vocabulary import AnomalyType, build_anomaly_types


def find_condition_errors(conditions: Iterable[Mapping[str, Any]]) -> Iterator[PatternError]:
    """Yield a fault for each example that says otherwise than the condition itself."""
    for condition in conditions:
        for example, is_meant, place in _iter_examples(condition, "holds", "fails"):
            holds = evaluate_predicate(condition["holds"], build_example_case(example)) is not None
            if holds != is_meant:
                says = "does not hold" if is_meant else "holds"
                yield _build_error(condition, f"{says} in {place}: {example}", "predicate")


def find_advisory_errors(
    advisories: Iterable[Mapping[str, Any]], conditions: Conditions
) -> Iterator[PatternError]:
    """Yield a fault for each example of an advisory that says otherwise than the advisory itself.

    In those of `fires` it is evidence; in those of `silent` versions or machine are sound.
    """
    for written in advisories:
        entry = build_advisory(written, conditions)
        for example, is_meant, place in _iter_examples(written, "fires", "silent"):
            case = build_example_case(example)
            holds = is_applicable(entry, case) and (
                not is_meant or find_symptom(entry, case) is not None
            )
            if holds != is_meant:
                says = "is silent" if is_meant else "fires"
                yield _build_error(written, f"{says} in {place}: {example}", "advisory")


def find_anomaly_errors(rows: Iterable[Mapping[str, Any]]) -> Iterator[PatternError]:
    """Yield a fault for each unknown feature, and each example that the bounds tell wrongly."""
    known = frozenset(compute_features(Curves(()), FactStore()))
    for row in rows:
        kinds = build_anomaly_types([row])
        bounds = [*kinds[row["id"]].when, *kinds[row["id"]].contradicted_by]
        unknown = sorted({name for one in bounds for name in one.list_features()} - known)
        if unknown:
            yield PatternError(
                f"{row['id']}: no feature is called {unknown[0]!r}",
                str(row.get("file", "")),
                "name one of detectors/curve_features.py",
            )
            continue
        examples = _iter_examples(row, "shows", "silent") if row.get("when") else ()
        for example, is_meant, place in examples:
            view = _build_example_view(example["curves"], kinds)
            if any(detect_curve_conditions(view)) != is_meant:
                says = "is not found" if is_meant else "is found"
                yield _build_error(row, f"{says} in {place}", "bounds")


def _iter_examples(
    entry: Mapping[str, Any], meant: str, others: str
) -> Iterator[tuple[Mapping[str, Any], bool, str]]:
    """Yield the examples of both kinds, whether each is of the one that is meant, and its place."""
    for kind in (meant, others):
        for number, example in enumerate(entry["examples"][kind], 1):
            yield example, kind == meant, f"example {number} of `{kind}`"


def _build_error(entry: Mapping[str, Any], what: str, part: str) -> PatternError:
    return PatternError(
        f"{entry['id']}: it {what}",
        str(entry.get("file", "")),
        f"correct the {part} or the example",
    )


def build_example_case(example: Mapping[str, Any]) -> Case:
    """Give the case that an example describes: what it does not name was not seen."""
    return Case(
        events=tuple(
            Occurrence(Finding(name, "cause", 0, NOWHERE, 1, 1, 0, name), 1.0, "", is_fatal=True)
            for name in example.get("signatures", ())
        ),
        tracebacks=tuple(
            _build_traceback(traceback) for traceback in example.get("tracebacks", ())
        ),
        anomalies={
            name: Anomaly(name, quote(name), 0, NOWHERE, 1) for name in example.get("shapes", ())
        },
        environment=_build_environment(example.get("environment", {})),
        settings={
            name: Setting(value, 0, 1) for name, value in example.get("settings", {}).items()
        },
        frameworks=dict.fromkeys(example.get("frameworks", ())),
        outcome=example.get("outcome", "unknown"),
    )


def _build_environment(example: Mapping[str, Any]) -> Environment:
    gpus = tuple(
        Gpu(
            gpu["name"],
            gpu.get("count", 1),
            gpu.get("memory_gib"),
            gpu.get("capability"),
        )
        for gpu in example.get("gpus", ())
    )
    return Environment(**{**example, "gpus": gpus})


def _build_traceback(example: Mapping[str, Any]) -> Traceback:
    frames = tuple(parse_frame(text) for text in example.get("frames", ()))
    return Traceback(
        example.get("exception", ""),
        example.get("message", ""),
        frames,
        source=0,
        where=NOWHERE,
        line=1,
        end_line=1,
        exception_line=1,
        offset=0,
        end_offset=0,
    )


def parse_frame(text: str) -> Frame:
    """Read `path:function` or `path:function: source line`."""
    file, _, rest = text.partition(":")
    function, _, code = rest.partition(": ")
    return Frame(file, 1, function, code, is_library(file))


def _build_example_view(
    curves: Mapping[str, Sequence[float | None]], kinds: Mapping[str, AnomalyType]
) -> Observed:
    """Give the view of a process with some curves; the n-th record stands on line n."""
    series = [_build_series(name, values) for name, values in curves.items()]
    view = Observed(series=series, anomaly_types=kinds)
    return view.of(Curves(series, metrics=view.metrics))


def _build_series(name: str, values: Iterable[float | None]) -> Series:
    one = Series(name, names.PLAIN_LOOP, 0, NOWHERE)
    for index, value in enumerate(values, 1):
        if value is not None:
            one.append(float(index), value, index)
    one.settle()
    return one
