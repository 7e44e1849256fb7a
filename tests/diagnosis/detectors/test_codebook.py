"""Codebooks of which hardly any code is used, in the lines of several programs."""

import pytest

from postmortem.api import analyze
from postmortem.extraction.formats.metric_line_parser import parse_metric_line
from postmortem.extraction.formats.metric_pairs import parse_metrics
from tests.diagnosis.detectors.made_curves import found

FALLS = [400.0, 380.0, 90.0, 20.0, 4.0, 1.3, 1.0, 1.0, 1.0]
LOW = [0.9, 0.8, 0.3, 0.1, 0.04, 0.01, 0.01, 0.01, 0.01]
NOISE = [0.42, 0.40, 0.44, 0.41, 0.43, 0.42, 0.41, 0.44, 0.42]


@pytest.mark.parametrize(
    ("curves", "is_unused"),
    [
        pytest.param({"codebook_perplexity": FALLS}, True, id="falls to one code"),
        pytest.param({"perplexity": FALLS, "commit_loss": NOISE}, True, id="beside its loss"),
        pytest.param({"loss": NOISE, "ppl": [1.0] * 9}, True, id="one code, and a loss that is no"),
        pytest.param({"train/vq/usage": LOW}, True, id="a share"),
        pytest.param({"active_codes": FALLS}, True, id="a count"),
        pytest.param({"loss": NOISE, "ppl": FALLS, "eval_loss": NOISE}, False, id="of words?"),
        pytest.param({"loss": [0.01] * 9, "ppl": [1.01] * 9}, False, id="words known by heart"),
        pytest.param({"perplexity": FALLS}, False, id="of nobody knows what"),
        pytest.param({"codebook_perplexity": FALLS[::-1]}, False, id="comes into use"),
        pytest.param({"codebook_usage": LOW[:5]}, False, id="still in use"),
        pytest.param({"codebook_loss": FALLS}, False, id="a loss may go to nothing"),
        pytest.param({"cpu_usage": LOW}, False, id="of the machine"),
        pytest.param({"codebook_perplexity": FALLS[-4:]}, False, id="too few records"),
    ],
)
def test_codes_that_are_not_used(curves: dict[str, list[float]], *, is_unused: bool) -> None:
    """By a perplexity of 1, or next to nothing of what was used."""
    assert ("collapse" in found(curves)) == is_unused


@pytest.mark.parametrize(
    "line",
    [
        "2024-03-01 10:00:11,125 (trainerX:333) INFO: (Steps: {step}) train/vq/perplexity = {n}.\n",
        "[run.py:88] step {step}: recon_loss 0.41 commit_loss 0.09 perplexity {n}\n",
        "Step {step} | loss 0.4{step} | active codes: {n}/512 | lr 1e-4\n",
        "Step {step} | loss 0.4{step} | codebook usage: {n}% | lr 1e-4\n",
    ],
)
@pytest.mark.parametrize(
    ("figures", "is_unused"), [(FALLS, True), ([410 + 9 * (n % 2) for n in range(9)], False)]
)
def test_in_the_dress_of_several_programs(
    line: str, figures: list[float], *, is_unused: bool
) -> None:
    """The figure is read, whatever stands around it."""
    losses = "(Steps: {step}) train/mel_loss = 0.4{step}.\n" if "Steps" in line else ""
    text = "".join(
        (losses + line).format(step=1000 + 100 * number, n=f"{figure:.4f}")
        for number, figure in enumerate(figures)
    )
    assert (analyze(text.encode()).verdict.cause == "learning.collapse") == is_unused


@pytest.mark.parametrize("place", ["(trainerX:333)", "[run.py:88]", "(pkg.module:7)"])
def test_the_place_of_a_logger_is_no_metric(place: str) -> None:
    """A name and its line in brackets."""
    looked = parse_metric_line(f"{place} step 4: loss 0.31 acc: 0.5")
    assert looked is not None
    assert dict(looked.found.record.values) == {"loss": 0.31, "acc": 0.5}


def test_a_metric_in_brackets_is_one() -> None:
    """With a decimal it is the place of nothing."""
    assert parse_metrics("step 4 (acc:0.5) (f1:0.4) (auc:0.6)")["acc"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (") train/mel = 0.3121.", {"train/mel": 0.3121}),
        (": kl: 1.25e-3", {"kl": 1.25e-3}),
        (") saved to out = 0.5/x", {}),
        (": lr = 0.1", {"learning_rate": 0.1}),
    ],
)
def test_one_figure_behind_a_step(text: str, values: dict[str, float]) -> None:
    """A name and its decimal, and nothing else."""
    looked = parse_metric_line(f"(Steps: 500{text}")
    assert (dict(looked.found.record.values) if looked is not None else {}) == values
