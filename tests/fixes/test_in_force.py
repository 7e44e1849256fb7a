"""What a run has already is not advised."""

import pytest

from postmortem.fixes.in_force import is_in_force

SETTINGS = {
    "max_grad_norm": "1.0",
    "gradient_checkpointing": "True",
    "bf16": "true",
    "per_device_train_batch_size": "4",
}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("TrainingArguments(max_grad_norm=1.0)", True, id="python"),
        pytest.param("max_grad_norm: 1", True, id="yaml"),
        pytest.param('{"bf16": true}', True, id="json"),
        pytest.param("python train.py --max-grad-norm 1.0", True, id="an option"),
        pytest.param("trainer.max_grad_norm=1.0  # lower it: max_grad_norm=0.3", True, id="dotted"),
        pytest.param("TrainingArguments(max_grad_norm=0.3)", False, id="another value"),
        pytest.param("TrainingArguments(max_grad_norm=1.0, fp16=False)", False, id="one unknown"),
        pytest.param("per_device_train_batch_size=2", False, id="a smaller batch"),
        pytest.param("nvidia-smi", False, id="sets nothing"),
        pytest.param("", False, id="no code"),
    ],
)
def test_in_force(code: str, *, expected: bool) -> None:
    """All that is set has to be known and equal."""
    assert is_in_force(code, SETTINGS) == expected
