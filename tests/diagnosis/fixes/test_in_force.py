"""What a run has already is not advised."""

import pytest

from postmortem.diagnosis.fixes.select import is_in_force

SETTINGS = {
    "max_grad_norm": "1.0",
    "gradient_checkpointing": "True",
    "bf16": "true",
    "learning_rate": "2e-4",
    "optim": "adamw_torch",
    "per_device_train_batch_size": "4",
}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("TrainingArguments(max_grad_norm=1.0)", True, id="python"),
        pytest.param("max_grad_norm: 1", True, id="yaml"),
        pytest.param('{"bf16": true}', True, id="json"),
        pytest.param("--max-grad-norm 1.0 --optim adamw_torch", True, id="options"),
        pytest.param("trainer.max_grad_norm=1.0  # lower it: max_grad_norm=0.3", True, id="dotted"),
        pytest.param("TrainingArguments(bf16=True, fp16=False)", True, id="then one unknown"),
        pytest.param("TrainingArguments(fp16=False, bf16=True)", False, id="first one unknown"),
        pytest.param("TrainingArguments(max_grad_norm=0.3)", False, id="another value"),
        pytest.param("F(max_grad_norm=1.0, learning_rate=1e-4)", False, id="one otherwise"),
        pytest.param("per_device_train_batch_size=2", False, id="a smaller batch"),
        pytest.param("nvidia-smi", False, id="sets nothing"),
        pytest.param("", False, id="no code"),
    ],
)
def test_in_force(code: str, *, expected: bool) -> None:
    """What is set first has to be known and equal, and nothing else may be otherwise."""
    assert is_in_force(code, SETTINGS) == expected
