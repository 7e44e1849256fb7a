"""Batches of very different lengths; step 38 has the longest texts, and the card does not hold its attention scores.

cause: memory.cuda-oom
also: [data.sequence-too-long]
not: [memory.cuda-fragmentation, memory.gpu-shared, memory.cuda-leak, memory.oom-at-eval]
signature: 'CUDA out of memory'
runs_as: train_sum.py
needs: [gpu]
kept: []
seconds: 300
"""

import logging
import torch
from labkit import note, pick, seed_everything

logging.basicConfig(format="%(asctime)s | %(levelname)s | %(name)s | %(message)s", level=logging.INFO, datefmt="%Y-%m-%d %H:%M:%S")
logger = logging.getLogger("train_sum")
seed_everything()
embed = torch.nn.Embedding(1000, 512).cuda()
qkv = torch.nn.Linear(512, 1536).cuda()
out = torch.nn.Linear(512, 1000).cuda()
optimizer = torch.optim.Adam([*embed.parameters(), *qkv.parameters(), *out.parameters()], lr=1e-3)
logger.info("epoch 1 | max_tokens per batch = unlimited, 16 sentences per batch")
for update in range(1, 60):
    length = int(torch.randint(300, 1500, ())) if update != pick([38, 27, 44]) else pick([11873, 12411, 10988])
    ids = torch.randint(0, 1000, (16, length), device="cuda")
    q, k, v = qkv(embed(ids)).view(16, length, 8, 192).transpose(1, 2).chunk(3, -1)
    scores = (q @ k.transpose(-1, -2) / 8).softmax(-1)
    hidden = (scores @ v).transpose(1, 2).reshape(16, length, 512)
    loss = torch.nn.functional.cross_entropy(out(hidden).flatten(0, 1), ids.flatten())
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    logger.info(f"update {update} | loss {loss.item():.3f} | src_len {length} | gb_free {(torch.cuda.mem_get_info()[0]) / 2**30:.1f}")
    note("loss", update, float(f"{loss.item():.3f}"))
