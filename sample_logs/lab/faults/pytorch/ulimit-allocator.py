"""A shell limit on address space (`ulimit -v`) stops the allocation of a replay buffer that grows by doubling: torch's CPU allocator gets no memory.

cause: memory.host-oom
also: [io.file-limit]
not: [memory.cuda-oom, memory.shm-exhausted, memory.cuda-fragmentation]
signature: "DefaultCPUAllocator: can't allocate memory"
launch: |
  ulimit -v 6000000
  echo "limits: $(ulimit -v) kB virtual memory, $(ulimit -n) files"
  python train.py
"""

import torch
from labkit import note, pick, seed_everything

STATE = pick([96, 128, 160])
seed_everything()


class Replay:
    def __init__(self, room):
        self.states, self.used = torch.zeros(room, STATE), 0

    def push(self, states):
        while self.used + len(states) > len(self.states):
            room = len(self.states) * 4
            print(f"replay buffer: {len(self.states)} -> {room} transitions")
            states_now, self.states = self.states, torch.zeros(room, STATE)
            self.states[: self.used] = states_now[: self.used]
        self.states[self.used:self.used + len(states)] = states
        self.used += len(states)

    def sample(self, count):
        return self.states[torch.randint(0, self.used, (count,))]


policy = torch.nn.Sequential(torch.nn.Linear(STATE, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
replay = Replay(4096)
for episode in range(1, 2001):
    replay.push(torch.randn(20000, STATE))
    loss = -torch.distributions.Categorical(logits=policy(replay.sample(256))).entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"episode {episode:4d} | transitions {replay.used:8d} | loss {loss.item():.5f}")
    note("loss", episode, float(f"{loss.item():.5f}"))
