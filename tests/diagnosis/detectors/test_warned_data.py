"""A warning of NumPy counts where it leads to the first bad loss, and comes from code of the data."""

import pytest

import postmortem

SOUND = "epoch {0} train_loss: {1:.3f} val_loss: {1:.3f}"
BAD = "epoch 9 train_loss: nan val_loss: nan"
LINES = "/repo/{file}:41: RuntimeWarning: invalid value encountered in divide\n  x = (x - m) / s"


def first_cause(file: str, behind: int) -> str:
    """What is said of a run with a warning, and so many sound records behind it."""
    sound = [SOUND.format(number, 2 / (1 + number)) for number in range(4 + behind)]
    lines = [*sound[:4], LINES.format(file=file), *sound[4:], BAD]
    return postmortem.analyze("\n".join(lines).encode()).causes[0].id


@pytest.mark.parametrize("file", ["spectra/datasets.py", "data/wells.py", "my_transforms.py"])
def test_code_of_the_data_tells_of_a_bad_batch(file: str) -> None:
    """Its file or folder says what it is for."""
    assert first_cause(file, 0) == "numerics.bad-batch"


@pytest.mark.parametrize(("file", "behind"), [("plot.py", 0), ("spectra/datasets.py", 5)])
def test_other_code_and_earlier_warnings_tell_of_nothing(file: str, behind: int) -> None:
    """What the run survived for several records has not spoilt its weights."""
    assert first_cause(file, behind) == "numerics.nonfinite-unknown"
