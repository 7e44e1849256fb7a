"""A fix that is in force already is none."""

import pytest

from postmortem.fixes.in_force import is_in_force
from postmortem.model.job_facts import Setting

SETTINGS = {
    name: Setting(value, 0, 1)
    for name, value in {
        "gradient_checkpointing": True,
        "max_grad_norm": 1.0,
        "learning_rate": 2e-4,
        "optim": "adamw_torch",
    }.items()
}


@pytest.mark.parametrize(
    ("code", "is_set"),
    [
        ("TrainingArguments(gradient_checkpointing=True)", True),
        ("--max_grad_norm 1.0 --optim adamw_torch", True),
        ('{"gradient_checkpointing": true}', True),
        ("TrainingArguments(max_grad_norm=0.3)", False),
        ("TrainingArguments(max_grad_norm=1.0, learning_rate=1e-4)", False),
        ("TrainingArguments(bf16=True, max_grad_norm=1.0)", False),
        ("model.half()", False),
        ("", False),
    ],
)
def test_what_is_set_already(code: str, *, is_set: bool) -> None:
    """What is set first decides, and nothing else may be otherwise."""
    assert is_in_force(code, SETTINGS) == is_set
