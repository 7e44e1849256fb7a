"""A CUDA graph is captured over a training step that reads the loss with item(): not permitted while a stream is capturing.

cause: code.user-exception
also: [cuda.launch-failure, code.torch-compile]
not: [memory.cuda-oom, cuda.illegal-memory-access, cuda.driver-too-old]
signature: 'stream is capturing'
runs_as: graphed.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything

seed_everything()
model = torch.nn.Sequential(torch.nn.Linear(512, pick([1024, 2048, 768])), torch.nn.GELU(), torch.nn.LazyLinear(512)).cuda()
static_x, static_y = torch.randn(64, 512, device="cuda"), torch.randn(64, 512, device="cuda")
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, capturable=True)
s = torch.cuda.Stream()
s.wait_stream(torch.cuda.current_stream())
history = []


def train_step():
    optimizer.zero_grad(set_to_none=True)
    loss = torch.nn.functional.mse_loss(model(static_x), static_y)
    loss.backward()
    optimizer.step()
    history.append(loss.item())
    return loss


with torch.cuda.stream(s):
    for i in range(3):
        print(f"warmup {i}: loss {train_step().item():.6f}")
torch.cuda.current_stream().wait_stream(s)
g = torch.cuda.CUDAGraph()
print("capturing the whole training step")
with torch.cuda.graph(g):
    static_loss = train_step()
for step in range(100):
    g.replay()
