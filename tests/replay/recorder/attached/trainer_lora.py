"""Trainer with LoRA over a tiny Llama, two micro-batches a step; a capsule is asked for at step 9."""

import sys
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from reruns import rerun, same
from tiny_llama import model, sequences, trainer
from transformers import TrainerCallback, set_seed

from postmortem.recorder import TrainerRecorder


class Asking(TrainerCallback):
    """Asks for a capsule."""

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == 9:
            recorder.write("asked")


set_seed(3)
trained = get_peft_model(
    model(),
    LoraConfig(
        r=4,
        lora_alpha=8,
        target_modules=["q_proj", "v_proj"],
        task_type="CAUSAL_LM",
        lora_dropout=0.1,
    ),
)
start = {
    name: one.detach().clone() for name, one in trained.named_parameters() if not one.requires_grad
}
recorder = TrainerRecorder(folder=sys.argv[1], every=4)
training = trainer(
    trained,
    sequences(200),
    sys.argv[1],
    recorder,
    gradient_accumulation_steps=2,
    max_steps=12,
    bf16=True,
)
training.add_callback(Asking())
training.train()
(capsule,) = Path(sys.argv[1]).glob("*.capsule")
again, losses, recorded = rerun(capsule)
assert (len(losses), len(losses[0])) == (9 - 4 if len(losses) == 5 else 9, 2), losses
assert same(losses, recorded), (losses, recorded)
assert all(torch.equal(one, dict(again.named_parameters())[name]) for name, one in start.items())
print("attached")
