r"""The cluster signals pre-emption with SIGUSR1, as the job asked for; the trainer says so, writes a checkpoint and leaves for the queue.

cause: scheduler.preempted
not: [scheduler.time-limit, scheduler.cancelled, healthy.completed, memory.host-oom]
signature: '(?i)preempt'
first_failure: '(?i)preempt\w* (notice|signal|request)'
launch: |
  python train.py &
  child=$!
  until [ -e reached ]; do sleep 0.1; done
  kill -USR1 $child
  wait $child
seconds: 90
"""

import logging
import signal
import sys
import time

import torch
from labkit import pick, seed_everything

logging.basicConfig(format="%(asctime)s %(name)s %(levelname)s %(message)s", level=logging.INFO)
log = logging.getLogger("trainer")
WORDS = pick([
    "received SIGUSR1: preemption notice from the scheduler, checkpointing",
    "SIGUSR1 (preemption signal): saving and requeueing this job",
    "Preemption request (signal 10) received, writing a final checkpoint",
])


class Trainer:
    def __init__(self):
        self.model = torch.nn.Sequential(torch.nn.Linear(20, 100), torch.nn.GELU(), torch.nn.Linear(100, 20))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.step, self.asked = 0, False
        signal.signal(signal.SIGUSR1, self.on_signal)

    def on_signal(self, number, frame):
        self.asked = True
        log.warning(WORDS)

    def save(self):
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "step": self.step}, "checkpoint.pt")
        log.info("saved checkpoint.pt (step %d)", self.step)

    def run(self, steps):
        while self.step < steps and not self.asked:
            self.step += 1
            inputs = torch.randn(32, 20)
            loss = (self.model(inputs) - inputs.roll(1, 1)).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            time.sleep(0.01)
            if self.step % 10 == 0:
                log.info("step %d/%d loss %.4f", self.step, steps, loss.item())
            if self.step == 120:
                open("reached", "w").close()


seed_everything()
trainer = Trainer()
trainer.run(50000)
trainer.save()
sys.exit(pick([99, 85, 3]) if trainer.asked else 0)
