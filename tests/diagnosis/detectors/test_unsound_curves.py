"""When the model of curves is asked, and what its answer becomes."""

from collections.abc import Sequence

import pytest

from postmortem.core.findings import NOWHERE
from postmortem.diagnosis.detectors import registry
from postmortem.diagnosis.detectors.boosted_trees import CurveModel, Node
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Series

_GENTLE = [1.5, 1.1, 0.9, 0.85, 0.87, 0.9, 0.92, 0.95, 0.98, 1.0]
_FALLING = [1.6, 1.1, 0.8, 0.6, 0.5, 0.42, 0.36, 0.31, 0.28, 0.26]


def _answer(one: str, sureness: float) -> CurveModel:
    """A model that finds one class wherever the validation loss is lost again."""
    leaf = Node(-1, 0, 0, 0, missing_above=False, value=0.0)
    tree = [
        Node(0, 0.1, 1, 2, missing_above=False, value=0.0),
        leaf,
        leaf._replace(value=sureness),
    ]
    return CurveModel("", ["sound", one], ["eval_loss.lost"], [0.5, 0.0], 1.0, [[], [tree]])


def _ask(
    loss: Sequence[float],
    judged: Sequence[float],
    model: CurveModel | None,
    outcome: str = "completed",
) -> dict[str, str]:
    """Give what is found, each with its figures."""
    series = []
    for name, values in (("loss", loss), ("eval_loss", judged)):
        one = Series(name, "test", 0, NOWHERE)
        for index, value in enumerate(values):
            one.append(10.0 * (index % 10), value, 2 * index + 1 + (name == "loss"))
        one.settle()
        series.append(one)
    observed = Observed(series=series)
    known = registry.detect_anomalies(observed)
    opener = None if model is None else lambda: model
    shapes = registry.add_outcome_anomalies(observed, known, outcome, opener)
    return {
        name: shape.message.text("en")
        for name, shape in shapes.items()
        if name.startswith(("resembles-", "unlike-"))
    }


def test_a_sure_answer_is_an_anomaly() -> None:
    """It tells the course of the curve that moved the model most."""
    found = _ask(_FALLING, _GENTLE, _answer("learning.overfitting", 3.0))
    assert found == {
        "resembles-overfitting": "eval_loss 1.5 at first, 0.85 at best, 1 at last, 10 records"
    }


@pytest.mark.parametrize(
    ("loss", "judged", "model", "outcome"),
    [
        pytest.param(_FALLING, _GENTLE, None, "completed", id="no model"),
        pytest.param(
            _FALLING, _GENTLE, _answer("learning.overfitting", -0.5), "completed", id="rather sound"
        ),
        pytest.param(
            _FALLING, _FALLING, _answer("learning.overfitting", 3.0), "completed", id="sound"
        ),
        pytest.param(
            _FALLING, _GENTLE, _answer("learning.overfitting", 3.0), "failed", id="a failed run"
        ),
        pytest.param(
            _FALLING[:3], _GENTLE[:3], _answer("learning.overfitting", 3.0), "completed", id="few"
        ),
        pytest.param(
            _FALLING,
            [value + 3 * max(0, index - 3) for index, value in enumerate(_GENTLE)],
            _answer("learning.collapse", 3.0),
            "completed",
            id="decided by a figure",
        ),
    ],
)
def test_it_is_silent(
    loss: Sequence[float], judged: Sequence[float], model: CurveModel | None, outcome: str
) -> None:
    """Where it is not asked, not sure, or where a figure decides."""
    assert not _ask(loss, judged, model, outcome)


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(_answer("learning.overfitting", 0.7), id="half sure"),
        pytest.param(_answer("memory.cuda-oom", 3.0), id="no anomaly of this class"),
    ],
)
def test_an_unsure_answer_is_a_doubt(model: CurveModel) -> None:
    """It accuses nobody, but keeps the run from being called sound with certainty."""
    assert set(_ask(_FALLING, _GENTLE, model)) == {"unlike-sound-runs"}


def test_earlier_trainings_cast_doubt_on_the_last_one() -> None:
    """The last of two is sound by itself, and both together are not like a sound run."""
    model = _answer("learning.overfitting", 3.0)
    assert not _ask(_FALLING, _FALLING, model)
    twice = _ask([*_FALLING, *_FALLING], [*_FALLING, *_GENTLE], model)
    assert set(twice) == {"resembles-overfitting"}
    mended = _ask([*_FALLING, *_FALLING], [0.2, 0.21, *_GENTLE[2:], *_FALLING], model)
    assert set(mended) == {"unlike-sound-runs"}
