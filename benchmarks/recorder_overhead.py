"""What the recorder costs a training: time for a step with it against without, in turn.

    python benchmarks/recorder_overhead.py [--device cuda] [--rounds 5] [--every 32] [--batch N]

Two equal trainings of a language model of 52 million parameters in one process, one of them
recorded, in turn. A round is as many steps of each as two snapshots are apart, so that it holds
exactly one. On a CUDA device: all steps of the one, then of the other (the order changes), seconds
by the clock, the device waited for at the end only. On a CPU: step by step in turn, in seconds of
CPU time with one thread, as others may be at work on the machine. Printed: one line of JSON with
seconds a step of both, the overhead in per cent (of the medians, and of each round), the bound, and
whether it is kept. Exit status 1 if it is not.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from typing import Any, Final

import torch
from torch import nn
from torch.nn import functional

from postmortem.recorder import Recorder

BOUND: Final = 3.0
"""Per cent of the time of a step."""
WIDTH, DEPTH, HEADS, VOCABULARY = 640, 8, 10, 10_000


class Block(nn.Module):
    """One layer of a decoder."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.projected, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, hidden: Any) -> Any:
        """Attend, then transform."""
        rows, length, _ = hidden.shape
        parts = self.projected(self.before(hidden)).view(rows, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        hidden = hidden + self.out(attended.transpose(1, 2).reshape(rows, length, WIDTH))
        return hidden + self.down(functional.gelu(self.up(self.between(hidden))))


class Decoder(nn.Module):
    """A small language model that gives its loss."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.Sequential(*(Block() for _ in range(DEPTH)))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens: Any) -> dict[str, Any]:
        """Predict each next token."""
        logits = self.head(self.layers(self.embedding(tokens)))
        targets = tokens[:, 1:].flatten()
        return {"loss": functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), targets)}


class Training:
    """A training on random tokens, recorded or not."""

    def __init__(
        self, device: str, shape: tuple[int, int], recorder: dict[str, Any] | None
    ) -> None:
        torch.manual_seed(0)
        self.device, self.shape = device, shape
        self.model = Decoder().to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)
        self.recorder = None
        if recorder is not None:
            self.recorder = Recorder(self.model, self.optimizer, **recorder)
            self.recorder.start()

    def run(self, steps: int) -> float:
        """Give the seconds of so many steps."""
        clock = time.perf_counter if self.device == "cuda" else time.process_time
        begin = clock()
        for _ in range(steps):
            tokens = torch.randint(0, VOCABULARY, self.shape, device=self.device)
            with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
                loss = self.model(tokens)["loss"]
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
        if self.device == "cuda":
            torch.cuda.synchronize()
        return clock() - begin


def measured(
    plain: Training, recorded: Training, steps: int, number: int, *, at_once: bool
) -> tuple[float, float]:
    """Give seconds a step of both, over a round."""
    took = {id(plain): 0.0, id(recorded): 0.0}
    for turn in range(1 if at_once else steps):
        order = (plain, recorded) if (number + turn) % 2 == 0 else (recorded, plain)
        for kind in order:
            took[id(kind)] += kind.run(steps if at_once else 1)
    return took[id(plain)] / steps, took[id(recorded)] / steps


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--every", type=int, default=32)
    parser.add_argument("--batch", type=int, default=0, help="sequences of a step")
    parser.add_argument("--length", type=int, default=0, help="tokens of a sequence")
    options = parser.parse_args()
    is_cuda = options.device == "cuda"
    if not is_cuda:
        torch.set_num_threads(1)
    shape = (options.batch or (16 if is_cuda else 4), options.length or (1024 if is_cuda else 128))
    with tempfile.TemporaryDirectory() as folder:
        plain = Training(options.device, shape, None)
        recorded = Training(options.device, shape, {"folder": folder, "every": options.every})
        assert recorded.recorder is not None
        plain.run(3)
        recorded.run(options.every + 1 if is_cuda else 3)  # both snapshots have their memory then
        pairs = [
            measured(plain, recorded, options.every, number, at_once=is_cuda)
            for number in range(options.rounds)
        ]
        recorded.recorder.stop()
    without, with_one = (statistics.median(side) for side in zip(*pairs, strict=True))
    overhead = 100 * (with_one / without - 1)
    values = {
        "device": torch.cuda.get_device_name() if is_cuda else "cpu",
        "torch": torch.__version__,
        "parameters": sum(parameter.numel() for parameter in plain.model.parameters()),
        "tokens_a_step": shape[0] * shape[1],
        "every": options.every,
        "seconds_a_step": round(without, 5),
        "seconds_a_step_recorded": round(with_one, 5),
        "overhead_percent": round(overhead, 2),
        "overhead_of_each_round": [round(100 * (b / a - 1), 2) for a, b in pairs],
        "bound_percent": BOUND,
        "is_kept": overhead <= BOUND,
        "capsules": len(recorded.recorder.written),
    }
    print(json.dumps(values))
    return 0 if overhead <= BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
