r"""An accelerate loop with LoRA and trainable embeddings on a Gemma-like model whose vocabulary was padded with zero rows: the new chat tokens use these rows, the first gradients are enormous, and with the first real step the loss jumps to several times its start and does not come back.

cause: numerics.untrained-embeddings
also: [numerics.gradient-explosion]
not: [numerics.fp16-overflow, numerics.labels-all-masked, numerics.bad-batch, numerics.quantized-adapter-precision]
signature: 'grad.norm[ =:]+(nan|inf|[0-9.]+e\+)'
runs_as: train_chat_lora.py
launch: python train_chat_lora.py
environment: transformers
"""

import logging

import torch
from accelerate import Accelerator
from labkit import note, pick, seed_everything
from peft import LoraConfig, get_peft_model
from transformers import Gemma2Config, Gemma2ForCausalLM, get_scheduler

logging.basicConfig(level=logging.INFO, format="[%(asctime)s] %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("chat")
seed_everything()
OLD, NEW = 300, pick([320, 384, 320])
model = Gemma2ForCausalLM(Gemma2Config(vocab_size=OLD, hidden_size=64, intermediate_size=128, num_hidden_layers=pick([2, 3, 2]), num_attention_heads=4, num_key_value_heads=2, head_dim=16, attn_implementation="eager", pad_token_id=0, bos_token_id=None, eos_token_id=None))
model.resize_token_embeddings(NEW, mean_resizing=False)
with torch.no_grad():
    model.get_input_embeddings().weight[OLD:] = 0
names = pick([["<|user|>", "<|bot|>"], ["<|im_start|>", "<|im_end|>", "<|system|>"], ["[INST]", "[/INST]"]])
rows = model.get_input_embeddings().weight
log.info("vocabulary %d -> %d (padded to a multiple of 64)", OLD, NEW)
for index, name in enumerate(names):
    log.info("  added %-14s id %d  |embedding| = %.5f", name, OLD + index, rows[OLD + index].norm().item())
log.info("  mean |embedding| of the old tokens = %.5f", rows[:OLD].norm(dim=-1).mean().item())
model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=8, target_modules=["q_proj", "v_proj"], modules_to_save=["embed_tokens"], ensure_weight_tying=True))
trainable = [p for p in model.parameters() if p.requires_grad]
log.info("trainable: %s", f"{sum(p.numel() for p in trainable):,}")
accelerator = Accelerator(cpu=True)
optimizer = torch.optim.SGD(trainable, lr=pick([0.05, 0.02, 0.1]), momentum=0.9)
tokens = 2 + (torch.randint(0, 298, (400, 1)) + torch.arange(20) * 3) % 298
tokens[:, 0], tokens[:, 9], tokens[:, 10] = OLD, OLD + 1, OLD
schedule = get_scheduler("constant_with_warmup", optimizer, num_warmup_steps=pick([3, 2, 4]))
model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, torch.utils.data.DataLoader(tokens, batch_size=8, shuffle=True), schedule)
for step, batch in enumerate(loader, 1):
    loss = model(input_ids=batch, labels=batch).loss
    accelerator.backward(loss)
    norm = accelerator.clip_grad_norm_(trainable, float("inf"))
    rate = optimizer.param_groups[0]["lr"]
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
    log.info("step %3d  loss %.4f  grad_norm %.3e  lr %.2e", step, loss.item(), norm.item(), rate)
    note("loss", step, float(f"{loss.item():.4f}"))
    note("grad_norm", step, float(f"{norm.item():.3e}"))
    note("learning_rate", step, float(f"{rate:.2e}"))
    if step == 40:
        break
