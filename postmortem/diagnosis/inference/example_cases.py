"""Test conditions and advisories on their example cases.

In: compiled rules. Out: faults. Not here: the shape of an example (`rules.predicate_schema`), and
whether a log gives such a case (`extraction.proof`, the formats).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from postmortem.core.errors import PatternError
from postmortem.core.findings import Finding, Frame, Traceback
from postmortem.core.job_facts import Environment, Gpu, Setting
from postmortem.core.lines import NOWHERE
from postmortem.core.message import quote
from postmortem.diagnosis.case.values import Case, Occurrence
from postmortem.diagnosis.detectors.anomaly import Anomaly
from postmortem.diagnosis.inference.known_defects import find_symptom, is_applicable
from postmortem.diagnosis.inference.predicates import evaluate_predicate
from postmortem.extraction.frames import is_library
from postmortem.rules.causes import build_advisory
from postmortem.rules.conditions import Conditions


def find_condition_errors(conditions: Iterable[Mapping[str, Any]]) -> Iterator[PatternError]:
    """Yield a fault for each example that says otherwise than the condition itself."""
    for condition in conditions:
        for kind, is_meant in (("holds", True), ("fails", False)):
            for number, example in enumerate(condition["examples"][kind], 1):
                if (
                    evaluate_predicate(condition["holds"], build_example_case(example)) is not None
                ) != is_meant:
                    says = "does not hold" if is_meant else "holds"
                    yield PatternError(
                        f"{condition['id']}: it {says} in example {number} of `{kind}`: {example}",
                        str(condition.get("file", "")),
                        "correct the predicate or the example",
                    )


def find_advisory_errors(
    advisories: Iterable[Mapping[str, Any]], conditions: Conditions
) -> Iterator[PatternError]:
    """Yield a fault for each example of an advisory that says otherwise than the advisory itself.

    In those of `fires` it is evidence; in those of `silent` versions or machine are sound.
    """
    for written in advisories:
        entry = build_advisory(written, conditions)
        for kind, is_meant in (("fires", True), ("silent", False)):
            for number, example in enumerate(written["examples"][kind], 1):
                case = build_example_case(example)
                holds = is_applicable(entry, case) and (
                    not is_meant or find_symptom(entry, case) is not None
                )
                if holds != is_meant:
                    says = "is silent" if is_meant else "fires"
                    yield PatternError(
                        f"{entry.id}: it {says} in example {number} of `{kind}`: {example}",
                        str(written.get("file", "")),
                        "correct the advisory or the example",
                    )


def build_example_case(example: Mapping[str, Any]) -> Case:
    """Give the case that an example describes: what it does not name was not seen."""
    return Case(
        events=tuple(
            Occurrence(_build_finding(name), 1.0, "", is_fatal=True)
            for name in example.get("signatures", ())
        ),
        tracebacks=tuple(
            _build_traceback(traceback) for traceback in example.get("tracebacks", ())
        ),
        shapes={
            name: Anomaly(name, quote(name), 0, NOWHERE, 1) for name in example.get("shapes", ())
        },
        environment=_build_environment(example.get("environment", {})),
        settings={
            name: Setting(value, 0, 1) for name, value in example.get("settings", {}).items()
        },
        frameworks=dict.fromkeys(example.get("frameworks", ())),
        outcome=example.get("outcome", "unknown"),
    )


def _build_finding(signature: str) -> Finding:
    return Finding(signature, "cause", 0, NOWHERE, 1, 1, 0, signature)


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
    frames = tuple(_parse_frame(text) for text in example.get("frames", ()))
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


def _parse_frame(text: str) -> Frame:
    """Read `path:function` or `path:function: source line`."""
    file, _, rest = text.partition(":")
    function, _, code = rest.partition(": ")
    return Frame(file, 1, function, code, is_library(file))
