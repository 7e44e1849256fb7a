"""The first loss against the logarithm of the vocabulary."""

import math

import pytest

from postmortem.core.findings import NOWHERE
from postmortem.diagnosis.detectors import chance_level
from postmortem.diagnosis.detectors.observed import Curves, Observed
from postmortem.extraction.facts.fact_store import FactStore
from postmortem.extraction.facts.series import Series


def loss(*values: float, start: float = 1.0) -> Curves:
    """A loss that is recorded at each step."""
    one = Series("loss", "test", 0, NOWHERE)
    for index, value in enumerate(values):
        one.append(start + index, value, index + 1)
    one.settle()
    return Curves([one])


@pytest.mark.parametrize(
    ("vocabulary", "values", "name"),
    [
        pytest.param("32000", [16.2, 15.0, 14.1], "first-loss-high", id="worse than guessing"),
        pytest.param("32000", [10.4, 9.0, 8.1], None, id="an untrained head"),
        pytest.param("32000", [1.6, 1.5, 1.4], None, id="fine-tuning"),
        pytest.param("32000", [0.05, 0.04, 0.04], "first-loss-low", id="nothing left to predict"),
        pytest.param("4", [3.0, 2.9, 2.8], None, id="too few classes to tell"),
        pytest.param(None, [16.2, 15.0, 14.1], None, id="the vocabulary is not printed"),
    ],
)
def test_the_first_loss_against_guessing(
    vocabulary: str | None, values: list[float], name: str | None
) -> None:
    """The logarithm of the vocabulary is what a model gives that knows nothing."""
    facts = FactStore()
    if vocabulary is not None:
        facts.add("setting_vocab_size", vocabulary, 1, 0, 1)
    found = list(
        chance_level.detect_initial_loss_level(Observed(facts=facts, curves=loss(*values)))
    )
    assert [shape.id for shape in found] == ([name] if name else [])
    assert all("ln(32000) = 10.37" in shape.message.text("en") for shape in found)
    late = Observed(facts=facts, curves=loss(values[0], start=500.0))
    assert not list(chance_level.detect_initial_loss_level(late))


@pytest.mark.parametrize(
    ("epoch", "is_early"),
    [pytest.param(0.02, True, id="the first batches"), pytest.param(0.6, False, id="later")],
)
def test_a_share_of_the_first_epoch_stands_for_the_step(epoch: float, *, is_early: bool) -> None:
    """A Trainer prints no step, but how much of the first pass is done."""
    series = []
    for name, value in (("loss", 40.0), ("epoch", epoch)):
        one = Series(name, "test", 0, NOWHERE)
        one.append(math.nan, value, 1)
        one.settle()
        series.append(one)
    facts = FactStore()
    facts.add("setting_vocab_size", "32000", 1, 0, 1)
    found = list(
        chance_level.detect_initial_loss_level(Observed(facts=facts, curves=Curves(series)))
    )
    assert bool(found) == is_early


@pytest.mark.parametrize(
    ("classes", "start", "values", "is_guess"),
    [
        pytest.param(None, 78000.0, [6.9063, 6.9073, 6.9073], True, id="a thousand classes"),
        pytest.param(None, 10.0, [6.9063, 6.9073, 6.9073], False, id="at the start"),
        pytest.param(None, 5000.0, [6.95, 6.91, 6.88], False, id="it passes by"),
        pytest.param("100", 5000.0, [4.605, 4.604, 4.606], True, id="as many as are printed"),
        pytest.param(None, 5000.0, [4.605, 4.604, 4.606], False, id="nobody knows how many"),
    ],
)
def test_a_loss_that_is_a_guess_far_into_the_run(
    classes: str | None, start: float, values: list[float], *, is_guess: bool
) -> None:
    """The logarithm of the classes, in all records."""
    facts = FactStore()
    if classes is not None:
        facts.add("setting_num_classes", classes, 1, 0, 1)
    found = chance_level.detect_chance_level(
        Observed(facts=facts, curves=loss(*values, start=start))
    )
    assert [shape.id for shape in found] == (["at-chance"] if is_guess else [])
