"""What a run that says it is through shows of having learned."""

import pytest

from postmortem.api import analyze
from postmortem.core.findings import NOWHERE
from postmortem.diagnosis.detectors.chance_level import detect_unproved_learning
from postmortem.diagnosis.detectors.observed import Observed
from postmortem.extraction.facts.series import Series


def curve(name: str, values: list[float]) -> Series:
    """A series of these values, one a line."""
    one = Series(name, "test", 0, NOWHERE)
    for number, value in enumerate(values, 1):
        one.append(100.0 * number, value, number)
    one.settle()
    return one


def told(outcome: str = "completed", **curves: list[float]) -> str:
    """The shape of these curves; empty without one."""
    series = [curve(name, values) for name, values in curves.items()]
    observed = Observed(series=series, outcome=outcome)
    return "".join(shape.id for shape in detect_unproved_learning(observed))


@pytest.mark.parametrize(
    ("curves", "shape"),
    [
        pytest.param({"loss": [6.7]}, "few-losses", id="one record tells no course"),
        pytest.param({"loss": [1.9, 1.8, 1.85]}, "few-losses", id="three that hardly fall"),
        pytest.param({"loss": [1.8, 2.4, 2.9]}, "loss-no-better", id="three that rise"),
        pytest.param({"loss": [4.6, 4.61, 4.6, 4.59, 4.62]}, "loss-no-better", id="five, level"),
        pytest.param({"loss": [6.7], "ppl": [812.0]}, "loss-no-better", id="words, by frequency"),
        pytest.param({"loss": [0.8, 0.4]}, "", id="two that fall to half"),
        pytest.param({"loss": [2.1], "eval_loss": [2.2, 1.4]}, "", id="the evaluation falls"),
        pytest.param({"loss": [0.6], "accuracy": [0.91]}, "", id="a score is high"),
        pytest.param({"loss": [0.6], "accuracy": [31.0, 58.0]}, "", id="a score rises"),
        pytest.param({"loss": [0.6], "accuracy": [0.12]}, "few-losses", id="a score is low"),
        pytest.param({"loss": [0.01]}, "", id="nothing left to lose"),
        pytest.param({"loss": [1.0, 1.2, 1.4], "reward": [1.0, 1.0, 1.0]}, "", id="of a policy"),
        pytest.param({"loss": [2.0 + 0.1 * n for n in range(12)]}, "", id="many: judged elsewhere"),
        pytest.param({"eval_loss": [2.0]}, "", id="no training loss"),
    ],
)
def test_few_figures_prove_little(curves: dict[str, list[float]], shape: str) -> None:
    """One record shows no course, and a loss no lower than its first no learning."""
    assert told(**curves) == shape


def test_a_run_that_is_not_through_need_show_nothing() -> None:
    """Its next records may fall."""
    assert told(outcome="running", loss=[1.8, 2.4, 2.9]) == ""


HEAD = "number of classes: 100\n"
ROWS = "Epoch [{n}/3] train loss: {loss} lr: 0.1\n"
END = "Training finished in 0:31:22\n"


@pytest.mark.parametrize(
    ("head", "losses", "cause", "most"),
    [
        pytest.param(HEAD, [4.65, 4.63, 4.62], "learning.plateau", 1.0, id="that of guessing"),
        pytest.param("", [4.65, 4.63, 4.62], "healthy.completed", 0.55, id="of how many?"),
        pytest.param(HEAD, [4.65, 4.41, 4.3], "healthy.completed", 0.75, id="somewhat better"),
        pytest.param("vocab_size = 32000\n", [6.66], "healthy.completed", 0.55, id="one, of words"),
        pytest.param("", [6.66], "healthy.completed", 0.75, id="one, of anything"),
    ],
)
def test_health_is_as_probable_as_it_is_shown(
    head: str, losses: list[float], cause: str, most: float
) -> None:
    """The success line proves the end of the run alone."""
    rows = "".join(ROWS.format(n=n, loss=loss) for n, loss in enumerate(losses, 1))
    verdict = analyze((head + rows + END).encode()).verdict
    assert (verdict.cause, verdict.probability <= most) == (cause, True)
    assert verdict.status != "established"


def test_a_loss_that_falls_to_half_is_enough() -> None:
    """Nothing is held against health then."""
    rows = "".join(ROWS.format(n=n, loss=loss) for n, loss in enumerate([0.82, 0.6, 0.41], 1))
    verdict = analyze((rows + END).encode()).verdict
    assert (verdict.cause, verdict.probability > 0.7) == ("healthy.completed", True)
