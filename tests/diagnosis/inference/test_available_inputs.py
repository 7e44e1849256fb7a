"""What was handed in is not asked for."""

from dataclasses import replace
from typing import Any

import pytest

from postmortem.core.findings import Environment, Gpu
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.inference.case_contents import is_available
from tests.diagnosis.fixes.runs import case


def of(**known: Any) -> Case:
    """A case of which this is known of the machine."""
    return replace(case(), environment=Environment(**known))


@pytest.mark.parametrize(
    ("things", "known", "is_there"),
    [
        pytest.param((), {}, False, id="nothing is named"),
        pytest.param(("precision",), {"precision": "fp16"}, True, id="the precision"),
        pytest.param(("precision", "gpu"), {"precision": "fp16"}, False, id="one of two"),
        pytest.param(
            ("environment",),
            {"packages": {"torch": "2.4.0"}, "gpus": (Gpu("A100", 1, 80.0, 8.0),)},
            True,
            id="versions and cards in the log",
        ),
        pytest.param(("environment",), {"packages": {"numpy": "2.0"}}, False, id="one package"),
        pytest.param(("every-rank",), {"world_size": 1}, True, id="a single process"),
        pytest.param(("every-rank",), {"world_size": 8}, False, id="eight, none of which is seen"),
        pytest.param(("traceback",), {}, False, id="no traceback"),
        pytest.param(("loss",), {}, False, id="no curve"),
    ],
)
def test_what_is_at_hand(things: tuple[str, ...], known: dict[str, Any], *, is_there: bool) -> None:
    """All that is named must be there."""
    assert is_available(things, of(**known)) == is_there
