"""A text of warnings alone shows no fault; one that tells of a failure, or of more, is no such."""

import pytest

from postmortem.core.findings import NOWHERE, Finding
from postmortem.diagnosis.detectors import ending
from postmortem.diagnosis.detectors.observed import Observed

PYTHON = "/env/lib/python3.11/site-packages/flow/net.py:41: UserWarning: two tokens are preferred; one is used\n  warnings.warn(\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(PYTHON, 1, id="a warning of Python"),
        pytest.param(
            "2024-05-01 10:00:00,000 - flow - WARNING - the cache is renamed", 1, id="a logger's"
        ),
        pytest.param(
            "[INFO|flow.py:12] 2024-05-01 10:00:00,000 >> loading\n" + PYTHON,
            2,
            id="beside what is no warning",
        ),
        pytest.param("警告：建议使用更大的缓存", 1, id="in Chinese"),
        pytest.param(PYTHON + "ready\n", None, id="another line"),
        pytest.param("UserWarning: the file is missing", None, id="a failure by its words"),
        pytest.param("ERROR: flow\nUserWarning: renamed", None, id="an error"),
        pytest.param("loading the model", None, id="nobody warns"),
        pytest.param(PYTHON * 20, None, id="too many for a text of its own"),
    ],
)
def test_only_notices(text: str, line: int | None) -> None:
    """The first of them is shown."""
    observed = Observed(tails={0: (1, text)}, outcome="incomplete")
    assert [shape.line for shape in ending.detect_only_warnings(observed)] == (
        [] if line is None else [line]
    )


@pytest.mark.parametrize(
    "observed",
    [
        pytest.param(
            Observed(tails={0: (1, PYTHON)}, records={0: 3}, outcome="incomplete"), id="records"
        ),
        pytest.param(
            Observed(
                tails={0: (1, PYTHON)},
                findings=[(Finding("cuda.x", "warning", 0, NOWHERE, 1, 1, 0, "told"), 0)],
                outcome="incomplete",
            ),
            id="a warning that a rule takes for a fault",
        ),
        pytest.param(Observed(tails={0: (900, PYTHON)}, outcome="incomplete"), id="a long log"),
        pytest.param(Observed(tails={0: (1, PYTHON)}, outcome="failed"), id="a failure"),
        pytest.param(
            Observed(tails={0: (1, PYTHON), 1: (1, PYTHON)}, outcome="incomplete"), id="two files"
        ),
    ],
)
def test_more_than_notices(observed: Observed) -> None:
    """Whatever else is known of the run counts."""
    assert not list(ending.detect_only_warnings(observed))
