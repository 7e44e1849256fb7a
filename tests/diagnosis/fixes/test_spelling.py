"""A misspelt name is put right first; a name that is merely close, or renamed, is not."""

import pytest

import postmortem
from postmortem.diagnosis.fixes.close_names import is_slip


@pytest.mark.parametrize(
    ("raised", "title"),
    [
        ("AttributeError: module 'torch' has no attribute 'autgorad'", "`autgorad` → `autograd`"),
        (
            "TypeError: __init__() got an unexpected keyword argument 'pin_memroy'",
            "`pin_memroy` → `pin_memory`",
        ),
        ("ModuleNotFoundError: No module named 'trasnformers'", "`trasnformers` → `transformers`"),
        (
            "NameError: name 'tokenzier' is not defined. Did you mean: 'tokenizer'?",
            "`tokenzier` → `tokenizer`",
        ),
        ("train.py: error: unrecognized arguments: --learing-rate 1e-4", "→ `learning_rate`"),
    ],
)
def test_the_spelling_comes_first(raised: str, title: str) -> None:
    """Python's own suggestion, a name that the rules know, a package, an option."""
    log = f'Traceback (most recent call last):\n  File "train.py", line 9, in main\n{raised}\n'
    first = postmortem.analyze(postmortem.Stream("run.log", log.encode())).causes[0].fixes[0]
    assert title in first.title


@pytest.mark.parametrize(
    "raised",
    [
        pytest.param("AttributeError: module 'torch' has no attribute 'compiler'", id="an ending"),
        pytest.param(
            "AttributeError: module 'numpy' has no attribute 'asfarray'. Did you mean: 'asarray'?",
            id="renamed",
        ),
        pytest.param(
            "AttributeError: module 'torch' has no attribute 'xpu'. Did you mean: 'cpu'?",
            id="another name",
        ),
        pytest.param("ModuleNotFoundError: No module named 'models'", id="the user's own"),
        pytest.param(
            "TypeError: Trainer.__init__() got an unexpected keyword argument 'tokenizer'",
            id="a name that is known",
        ),
    ],
)
def test_other_names_are_left_alone(raised: str) -> None:
    """A near miss of each kind."""
    log = f'Traceback (most recent call last):\n  File "train.py", line 9, in main\n{raised}\n'
    report = postmortem.analyze(postmortem.Stream("run.log", log.encode()))
    assert "spelling" not in {fix.id for fix in report.causes[0].fixes}


@pytest.mark.parametrize(
    ("name", "other", "expected"),
    [
        ("optmizer", "optimizer", True),
        ("Dataloader", "DataLoader", True),
        ("labels", "label", False),
        ("float16", "float32", False),
        ("bfloat16", "float16", False),
        ("models", "modles", True),
        ("model", "modes", False),
        ("eval_steps", "save_steps", False),
    ],
)
def test_what_is_a_slip(name: str, other: str, *, expected: bool) -> None:
    """One letter or two in turn; no other form, no other number."""
    assert is_slip(name, other) is expected
