"""What a finding is worth beside the first failure, by where it stands and what it says."""

from dataclasses import replace

import pytest

from postmortem.core.findings import NOWHERE, Finding, Traceback
from postmortem.diagnosis.case.failures import Failure, build_from_finding, build_from_traceback
from postmortem.diagnosis.case.order_of_time import Clock
from postmortem.diagnosis.case.relevance import build_occurrences
from postmortem.extraction.extract import Extract, Sighting
from postmortem.rules.base import load

RULES = load().by_id
OOM = "memory.cuda-oom.torch"
NO_CLOCK = Clock([], {}, [])


def finding(signature: str, line: int, **more: object) -> Finding:
    """A finding of a signature on a line, a hundred bytes each."""
    made = Finding(signature, "cause", 0, NOWHERE, line, line, 100 * line, f"{signature} {line}")
    return replace(made, **more)


FIRST = build_from_finding(finding(OOM, 50))
RAISED = build_from_traceback(
    Traceback("ValueError", "boom", (), 0, NOWHERE, 48, 50, 50, 5000, 5001)
)


def fatal(area: str) -> list[str]:
    """The signatures of an area that end a run."""
    return [name for name, rule in sorted(RULES.items()) if name.startswith(area) and rule.fatal]


ECHO, ANOTHER_ECHO, *_ = fatal("distributed.")
EXIT, OTHER = fatal("scheduler.")[0], fatal("environment.")[0]


@pytest.mark.parametrize(
    ("told", "first", "expected"),
    [
        pytest.param(finding(OTHER, 9), None, (1.0, ""), id="nothing has failed"),
        pytest.param(
            finding(OTHER, 5, role="harmless"), FIRST, (1.0, ""), id="harmless, wherever it is"
        ),
        pytest.param(finding(OTHER, 20), FIRST, (1.0, ""), id="before the failure"),
        pytest.param(
            finding(OTHER, 20, level="WARNING"), FIRST, (0.4, "survived"), id="caught before it"
        ),
        pytest.param(
            finding(EXIT, 20, level="WARNING"), FIRST, (1.0, ""), id="a signal is but a warning"
        ),
        pytest.param(finding(OOM, 50), FIRST, (1.0, ""), id="the failure itself"),
        pytest.param(finding(OTHER, 53), FIRST, (1.0, ""), id="right behind it"),
        pytest.param(
            finding(OTHER, 54), FIRST, (0.75, "after-first-failure"), id="some lines behind it"
        ),
        pytest.param(
            finding(OTHER, 111), FIRST, (0.55, "after-first-failure"), id="many lines behind it"
        ),
        pytest.param(
            finding(OTHER, 651), FIRST, (0.35, "after-first-failure"), id="very many behind it"
        ),
        pytest.param(
            finding(OTHER, 1, source=1), FIRST, (0.35, "after-first-failure"), id="another file"
        ),
        pytest.param(finding(OOM, 651), FIRST, (1.0, ""), id="it says the same, however late"),
        pytest.param(
            finding(ECHO, 51), FIRST, (0.35, "after-first-failure"), id="an echo, however near"
        ),
        pytest.param(
            finding(ECHO, 54),
            build_from_finding(finding(ANOTHER_ECHO, 50)),
            (0.75, "after-first-failure"),
            id="no echo where that was the failure",
        ),
        pytest.param(
            finding(EXIT, 51), RAISED, (0.55, "after-first-failure"), id="the exit it led to"
        ),
        pytest.param(finding(EXIT, 51), FIRST, (1.0, ""), id="an exit behind no exception"),
        pytest.param(
            finding(OTHER, 54, role="warning"), FIRST, (0.75, ""), id="a warning is no consequence"
        ),
    ],
)
def test_a_finding_counts_by_its_standing(
    told: Finding, first: Failure | None, expected: tuple[float, str]
) -> None:
    """In full at the failure and before it, less behind it, least if it was survived."""
    (found,) = build_occurrences([Sighting(told, 0, (0, ""))], RULES, first, Extract(), NO_CLOCK)
    assert (found.factor, found.because) == expected


def test_what_a_run_went_on_behind_was_survived() -> None:
    """Three records are enough; a dump tells how things stand, whatever follows."""
    gathered = Extract(records={0: 3})
    seen = [Sighting(finding(OTHER, 9), 0, (0, ""))]
    assert build_occurrences(seen, RULES, None, gathered, NO_CLOCK)[0].because == "survived"
    assert build_occurrences(seen, RULES, None, gathered, NO_CLOCK, {0})[0].factor == 1.0
