"""A GPT-2-like model gets sequences longer than its position table: the position embedding asserts.

cause: data.sequence-too-long
also: [cuda.device-side-assert]
not: [memory.cuda-oom, cuda.illegal-memory-access, cuda.cublas]
signature: 'device-side assert triggered'
first_failure: 'Assertion .* failed'
environment: transformers
runs_as: run_clm.py
needs: [gpu]
kept: []
seconds: 300
"""

import logging
import sys

import torch
from labkit import pick, seed_everything
from transformers import GPT2Config, GPT2LMHeadModel

logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S", handlers=[logging.StreamHandler(sys.stdout)], level=logging.INFO)
logger = logging.getLogger(__name__)
seed_everything()
config = GPT2Config(vocab_size=5000, n_positions=512, n_embd=128, n_layer=2, n_head=4)
model = GPT2LMHeadModel(config).cuda()
logger.info(f"Training new model from scratch - Total size={sum(p.numel() for p in model.parameters()) / 2**20:.2f}M params, max_position_embeddings={config.n_positions}")
logger.warning("The chosen block_size (768) supported by the tokenizer is larger than the model's; it is used as it is")
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
for step in range(1, 40):
    length = 256 if step < pick([12, 25, 8]) else 768
    ids = torch.randint(0, 5000, (4, length), device="cuda")
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    logger.info(f"step {step}: batch length {length}, loss {loss.item():.4f}")
