"""A run of the Hugging Face family is advised in the terms of its uppermost stack."""

import json
from pathlib import Path

import pytest

import postmortem

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 23.69 GiB"
TRACE = f'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n{OOM}\n'
START = "***** Running training *****\n"


@pytest.mark.parametrize(
    ("head", "said", "unsaid"),
    [
        pytest.param(
            f"{START}  Instantaneous batch size per device = 8\n",
            "TrainingArguments(per_device_train_batch_size=4",
            "SFTConfig",
            id="the Trainer alone",
        ),
        pytest.param(
            f"llamafactory-cli train a.yaml\nper_device_train_batch_size: 8\n{START}",
            "per_device_train_batch_size: 4",
            "TrainingArguments",
            id="LLaMA-Factory over the Trainer",
        ),
        pytest.param(
            f"swift sft --model m --per_device_train_batch_size 8\n{START}",
            "--per_device_train_batch_size 4 ",
            "TrainingArguments",
            id="ms-swift over the Trainer",
        ),
        pytest.param(
            f"axolotl train a.yaml\nmicro_batch_size: 8\n{START}",
            "micro_batch_size: 4",
            "TrainingArguments",
            id="Axolotl over the Trainer",
        ),
        pytest.param(
            f"trl sft --per_device_train_batch_size 8\n{START}",
            "SFTConfig(per_device_train_batch_size=4",
            "TrainingArguments(per",
            id="TRL over the Trainer",
        ),
        pytest.param(
            "accelerate launch sdxl_train_network.py --train_batch_size=8\n",
            "--train_batch_size 4 ",
            "Accelerator(",
            id="sd-scripts over Accelerate",
        ),
        pytest.param(
            "accelerate launch train_text_to_image.py --train_batch_size=8\n",
            "--train_batch_size=4 ",
            "Accelerator(",
            id="a script of Diffusers over Accelerate",
        ),
        pytest.param(
            "GPU available: True (cuda), used: True\n",
            "Trainer(accumulate_grad_batches=2)",
            "TrainingArguments",
            id="Lightning",
        ),
    ],
)
def test_half_the_batch_is_said_in_the_users_terms(
    tmp_path: Path, head: str, said: str, unsaid: str
) -> None:
    """With the user's own figure, and without the stack beneath."""
    log = tmp_path / "run.log"
    log.write_text(f"{head}{TRACE}")
    report = json.loads(postmortem.analyze(str(log)).render("json"))
    fixes = {fix["id"]: fix["snippet"] for fix in report["causes"][0]["fixes"]}
    assert said in fixes["memory.halve-batch"]
    assert unsaid not in fixes["memory.halve-batch"]
