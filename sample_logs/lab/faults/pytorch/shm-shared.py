r"""Actors of a reinforcement-learning run share tensors through /dev/shm, which holds 2 MiB only: sharing a longer rollout fails.

cause: memory.shm-exhausted
also: [io.disk-full]
not: [memory.host-oom, memory.cuda-oom, data.worker-crash]
signature: 'RuntimeError: unable to allocate shared memory\(shm\) for file'
needs: [tmpfs]
runs_as: actor_learner.py
launch: unshare -m bash -c "mount -t tmpfs -o size=2m shm /dev/shm && df -h /dev/shm && exec python actor_learner.py"
"""

import torch
from labkit import note, pick, seed_everything

LENGTH = pick([64, 48, 80])


class Learner:
    def __init__(self):
        self.value = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
        self.optimizer = torch.optim.RMSprop(self.value.parameters(), lr=7e-4)

    def update(self, rollout):
        returns = rollout[..., :4].mean(-1).flip(0).cumsum(0).flip(0) / 10
        loss = (self.value(rollout).squeeze(-1) - returns).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    seed_everything()
    learner, frames = Learner(), 0
    for update in range(1, 101):
        # The curriculum lengthens the rollouts; actors write into them from other processes.
        length = LENGTH * (1 + update // 8)
        rollout = torch.randn(length, 16, 32).share_memory_()
        frames += length * 16
        loss = learner.update(rollout)
        print(f"Update {update}, frames {frames}, rollout length {length}: value loss {loss:.4f}")
        note("loss", update, float(f"{loss:.4f}"))


if __name__ == "__main__":
    main()
