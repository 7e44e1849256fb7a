"""One word and one number that agree, and other causes that share the rest."""

from typing import Final

import pytest

import postmortem
from postmortem.diagnosis.inference.certainty import is_rivalled, reconcile_status, share_rest
from postmortem.diagnosis.inference.ranking import RankedCause

_DIVERGING: Final = (2.5, 2.1, 1.8, 1.6, 1.5, 1.4, 3.0, 9.0, 40.0, 300.0, 4e3, 9e4, 8e5, 9e6, 3e7)


@pytest.mark.parametrize(
    ("asked", "probability", "status"),
    [
        pytest.param("established", 0.93, "established", id="proved"),
        pytest.param("established", 0.7, "supported", id="proved, but not believed"),
        pytest.param("supported", 0.95, "supported", id="supported"),
        pytest.param("supported", 0.5, "hypothesis", id="as likely as not"),
        pytest.param("hypothesis", 0.79, "hypothesis", id="a hypothesis"),
        pytest.param("hypothesis", 0.985, "supported", id="nearly certain"),
        pytest.param("unknown", 0.9, "unknown", id="an abstention stays one"),
    ],
)
def test_the_word_fits_the_number(asked: str, probability: float, status: str) -> None:
    """No hypothesis is nearly certain, and nothing unlikely is supported."""
    assert reconcile_status(asked, probability) == status


@pytest.mark.parametrize(
    ("given", "shared"),
    [
        pytest.param((0.99, 0.5), (0.99, 0.01), id="99 beside 50 per cent"),
        pytest.param((0.9, 0.2, 0.1), (0.9, 0.0666, 0.0333), id="in proportion, rounded down"),
        pytest.param((0.5, 0.3, 0.1), (0.5, 0.3, 0.1), id="there is room"),
        pytest.param((0.7,), (0.7,), id="alone"),
    ],
)
def test_the_others_share_the_rest(given: tuple[float, ...], shared: tuple[float, ...]) -> None:
    """In their order; together no more than the first leaves."""
    causes = [RankedCause(str(number), share, 0.0, ()) for number, share in enumerate(given)]
    assert [cause.probability for cause in share_rest(causes)] == pytest.approx(shared, abs=1e-4)


@pytest.mark.parametrize(
    ("scores", "is_open"),
    [
        pytest.param((1.5, 1.5), True, id="a tie"),
        pytest.param((3.0, 2.8, -1.0), True, id="close behind"),
        pytest.param((3.0, 1.5), False, id="ahead"),
        pytest.param((3.0,), False, id="alone"),
    ],
)
def test_a_rival_leaves_doubt(scores: tuple[float, ...], *, is_open: bool) -> None:
    """No cause is certain beside another with as much for it."""
    causes = [RankedCause(str(number), 0.9, score, ()) for number, score in enumerate(scores)]
    assert is_rivalled(causes) == is_open


@pytest.mark.parametrize("norms", [(1.2, 1.1, 1.2, 3e27, 1e30), (1.2, 1.1, 1.2, 50.0, 900.0)])
def test_no_report_contradicts_itself(norms: tuple[float, ...]) -> None:
    """The causes of a whole analysis add up, and its word is that of its number."""
    text = "".join(
        f"{{'loss': {loss}, 'grad_norm': {norm}, 'learning_rate': 5e-05, 'epoch': 0.1}}\n"
        for loss, norm in zip((2.5, 2.3, 2.2, 8e27, 5e30), norms, strict=True)
    )
    report = postmortem.analyze(text.encode())
    first, *others = report.causes
    assert others
    assert sum(one.probability for one in others) <= 1 - first.probability + 1e-9
    assert reconcile_status(report.verdict.status, first.probability) == report.verdict.status


_LOADED: Final = "epoch 1 loss 0.9\nepoch 2 loss 0.8\nepoch 3 loss 0.7\n"
_KILLED: Final = """Traceback (most recent call last):
  File "/home/user/train.py", line 20, in <module>
    for batch in loader:
  File "/opt/env/lib/python3.12/site-packages/torch/utils/data/_utils/signal_handling.py", line 66, in handler
    _error_if_any_worker_fails()
RuntimeError: DataLoader worker (pid 4067) is killed by signal: Aborted.
"""
_OWN: Final = """Process Process-1:
Traceback (most recent call last):
  File "/opt/env/lib/python3.12/multiprocessing/process.py", line 314, in _bootstrap
    self.run()
  File "/home/user/train.py", line 52, in main
    first, second = model(batch)
ValueError: too many values to unpack (expected 2)
"""


@pytest.mark.parametrize(
    ("text", "probability"),
    [
        pytest.param(_LOADED + _KILLED, 0.9, id="the only exception"),
        pytest.param(_LOADED + _KILLED + _KILLED, 0.9, id="twice the same"),
        pytest.param(_LOADED + _KILLED + _OWN, 0.7, id="beside another one"),
    ],
)
def test_another_exception_leaves_doubt(text: str, probability: float) -> None:
    """What a second process died of is not explained by what the first one says."""
    first = postmortem.analyze(text.encode()).causes[0]
    assert first.probability == pytest.approx(probability, abs=0.1)


def test_curves_alone_leave_doubt() -> None:
    """A course of the loss speaks for a cause, and proves none."""
    text = "".join(f"step {step} loss {loss}\n" for step, loss in enumerate(_DIVERGING))
    first = postmortem.analyze(text.encode()).causes[0]
    assert {item.kind for item in first.evidence if item.kind != "classifier"} == {"shape"}
    assert 0.6 < first.probability < 0.8
