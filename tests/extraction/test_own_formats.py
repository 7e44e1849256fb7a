"""Series of logs whose owners print their records in a form of their own."""

import pytest

from postmortem import Stream, analyze

Ends = tuple[int, float | None, float, float | None, float]
"""Points of a series, its first step and value, its last."""


def read(text: str, path: str = "train.log") -> dict[str, Ends]:
    """The series of a log by name and producer."""
    analysis = analyze(Stream(path, text.encode())).analysis
    return {
        f"{series.name}/{series.producer}": (series.points, *series.first, *series.last)  # type: ignore[misc]
        for series in analysis.series
        if series.first is not None and series.last is not None
    }


@pytest.mark.parametrize(
    ("record", "name", "ends"),
    [
        pytest.param(
            "| epoch   {e} | {s:4d}/  500 batches | lr 20.00 | ms/batch 11.4 | loss  {v} | ppl 9.5\n",
            "loss/pytorch",
            (8, 100, 1.15, 800, 1.85),
            id="a step that its unit follows, counted anew in each epoch",
        ),
        pytest.param(
            "Epoch 1.0{e} / 50, i = {n} / 9000, lr= 0.001000, loss = {v}\n",
            "loss/pytorch",
            (8, 1, 1.15, 8, 1.85),
            id="a counter of one letter",
        ),
        pytest.param(
            "[Train {n}0/900] {{'finite': 1.0, 'train_loss': {v}}}\n",
            "loss/pytorch",
            (8, 10, 1.15, 80, 1.85),
            id="a word and a position in brackets",
        ),
        pytest.param(
            "[{e}/30] iter: {s}/500. lr:0.0003 . Loss: {v}, Acc:0.9{n}\n",
            "loss/pytorch",
            (8, 100, 1.15, 800, 1.85),
            id="the epoch in brackets before the step",
        ),
        pytest.param(
            "[2023-05-19 20:00:3{n},765][my.agent][INFO] - Sample {n}000, up 50, q loss +{v}\n",
            "q_loss/pytorch",
            (8, 1000, 1.15, 8000, 1.85),
            id="a count of its own name behind Hydra's prefix",
        ),
        pytest.param(
            "it=         {n}\t\tLoss/train:{v}e+00\tLR:1.000e-03\n",
            "loss/pytorch",
            (8, 1, 1.15, 8, 1.85),
            id="a step behind many blanks",
        ),
        pytest.param(
            "----step{n}000----\nhq: {v}, entropy: 3.1{n}\n",
            "hq/pytorch",
            (8, 1000, 1.15, 8000, 1.85),
            id="a heading between dashes",
        ),
        pytest.param(
            "Epoch: {n}, global_step={n}00\nSampling\nSPS: 17{n}, pg_loss={v}, v_loss=0.{n}9\n",
            "pg_loss/pytorch",
            (8, 100, 1.15, 800, 1.85),
            id="a heading with epoch and step, and a rate before the loss",
        ),
        pytest.param(
            "Eval Epoch num {n} | val loss 0.{n}5 | dsc {v}\n",
            "dsc/pytorch",
            (8, 1, 1.15, 8, 1.85),
            id="the number of an epoch",
        ),
        pytest.param(
            "----\n| grad_norm | 9.{n}   |\n| loss | {v} |\n| step | {n}.5e+03 |\n----\n",
            "loss/pytorch",
            (8, 1500, 1.15, 8500, 1.85),
            id="a step with an exponent",
        ),
        pytest.param(
            "Valid MRR at step {n}0: {v}\nValid HITS@1 at step {n}0: 0.{n}\n",
            "valid_MRR/pytorch",
            (8, 10, 1.15, 80, 1.85),
            id="a place between a name and its figure",
        ),
    ],
)
def test_positions(record: str, name: str, ends: Ends) -> None:
    """The step of the run is read however the owner prints it; an epoch has five of them here."""
    text = "".join(
        record.format(n=n, e=(n + 4) // 5, s=100 * ((n - 1) % 5 + 1), v=f"1.{n}5")
        for n in range(1, 9)
    )
    assert read(text).get(name) == ends


@pytest.mark.parametrize(
    ("record", "name"),
    [
        pytest.param(
            "Epoch {n}: trloss: 0.{n}, valloss: {v}, valroc: 0.5\n", "eval_loss", id="glued"
        ),
        pytest.param("[epoch{n}] trian_loss={v} valid_loss=3.{n}\n", "loss", id="misspelt"),
        pytest.param(
            "[Episode {n}] Avg delay: {v} s | energy: 4.{n} J\n", "avg_delay", id="a unit"
        ),
        pytest.param("Epoch {n} | Reward: 1.{n} | Win Rate: {v}%\n", "win_Rate", id="a rate"),
        pytest.param(
            "Epoch {n} loss: 0.{n}, grad_total_norm: {v}\n", "grad_total_norm", id="a norm"
        ),
        pytest.param("Epoch {n} M0_BoxLoss={v} M1_BoxLoss=0.{n}\n", "M0_BoxLoss", id="a part"),
        pytest.param("epoch_loss is {v}, epoch_time is 2.{n}\n", "loss", id="a sentence"),
        pytest.param(
            "[Epoch {n}] Test: OrderedDict([('loss', 0.{n}), ('auc', {v})])\n", "auc", id="a dict"
        ),
        pytest.param(
            "valid_data: {{'rouge-l': 0.{n}, 'bleu': {v}}}\n", "bleu", id="a mapping behind a split"
        ),
        pytest.param(
            "Iter: {n}    training-metric, acc: {v}    training-metric, auc: 0.{n}\n",
            "training_acc",
            id="a name behind its kind",
        ),
        pytest.param(
            "Iteration {n} lr = 0.01 loss = {v} * 1 eval = 0.{n}\n", "loss", id="a weight"
        ),
        pytest.param(
            "Epoch {n}: Validation Accuracy: {v}%\n", "validation_Accuracy", id="as printed"
        ),
        pytest.param(
            "Epoch[{n}] Batch [9] accuracy=0.{n} lr={v}\n", "learning_rate", id="a rate too"
        ),
    ],
)
def test_names(record: str, name: str) -> None:
    """Each figure has the name that a reader of the log would give it."""
    found = read("".join(record.format(n=n, v=f"1.{n}5") for n in range(1, 9)))
    ends = found.get(f"{name}/pytorch")
    assert ends is not None
    assert (ends[0], ends[2], ends[4]) == (8, 1.15, 1.85)


def test_figures_of_epochs_stand_beside_those_of_steps() -> None:
    """A summary of an epoch is a series of its own under the same name."""
    step = "Epoch[{0}] Batch [{1}]\tSpeed: 9.5 samples/sec\taccuracy=0.{0}{1}\n"
    text = "".join(
        "".join(step.format(epoch, at) for at in (1, 2, 3))
        + f"[Epoch {epoch}] training: accuracy=0.{epoch}9\n"
        for epoch in range(6)
    )
    found = read(text)
    assert found["accuracy/pytorch"][0] == 18
    assert found["accuracy/pytorch-epoch"] == (6, 0, 0.09, 5, 0.59)


def test_a_line_that_comes_twice_at_first_is_kept() -> None:
    """What comes again and again counts from its first line."""
    text = "".join(
        f"global step={step}, episodic return=-{max(500, step)}.0\n" for step in (2, 2, 2, 900)
    )
    assert read(text)["episodic_return/pytorch"] == (4, 2, -500, 900, -900)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "  * epoch: 15\n  * batch: 64\n  * lr: 0.001\n  * smoothing: 0.{n}\n", id="settings"
        ),
        pytest.param("Answer {n}: the loss of life is great in 1/3 of cases\n", id="prose"),
        pytest.param("{{'question': 'q{n}', 'score': 0.5}}\n", id="an answer"),
        pytest.param("Loading shard {n}/9 of the data, 0.5 GB each\n", id="a progress message"),
    ],
)
def test_what_is_no_record(text: str) -> None:
    """Settings, prose and answers have no curve."""
    assert read("".join(text.format(n=n) for n in range(1, 9))) == {}
