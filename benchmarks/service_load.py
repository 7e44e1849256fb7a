"""How a service stands a load: requests a second and latencies, at its limit and beyond it.

In: how many clients, for how long. Out: figures on standard output. Not here: a remote service; all
runs on this machine, so the figures say what is left beside the clients themselves.

Every request has a log of its own, which names a number; its report must quote that number and no
other. What is refused with 429 is counted and sent again later, until all are answered or the time
is over.

    python benchmarks/service_load.py --seconds 20
"""

import argparse
import asyncio
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx
import yaml

ROOT: Final = Path(__file__).resolve().parents[1]
PATIENCE: Final = 120.0
LOG: Final = (
    "{{'loss': 2.31, 'learning_rate': 2e-05, 'epoch': 0.1}}\n"
    "Traceback (most recent call last):\n"
    '  File "train.py", line 90, in <module>\n    loss.backward()\n'
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {number}.00 MiB. GPU 0 has a"
    " total capacity of 23.69 GiB of which 1.20 GiB is free.\n"
)
QUOTED: Final = re.compile(r"Tried to allocate (\d+)\.00 MiB")


@dataclass
class Measured:
    """What became of the requests of one load."""

    seconds: list[float] = field(default_factory=list)
    """Of those that were answered."""
    statuses: Counter[int] = field(default_factory=Counter)
    answered: Counter[int] = field(default_factory=Counter)
    """How often each number was answered."""
    wrong: int = 0
    """Answers that speak of another log."""
    lost: int = 0
    """Requests without any answer."""
    took: float = 0.0


@contextmanager
def served(workers: int, waiting: int) -> Iterator[str]:
    """Start a service with so many processes and places."""
    with tempfile.TemporaryDirectory() as folder:
        config, log = Path(folder, "service.yaml"), Path(folder, "log")
        config.write_text(
            yaml.safe_dump(
                {
                    "port": 0,
                    "limits": {"workers": workers, "waiting": waiting, "connections": 2000},
                    "rate": {"per_minute": 10_000_000, "burst": 1_000_000},
                }
            )
        )
        call = [sys.executable, "-m", "postmortem", "serve", "--config", str(config)]
        with log.open("wb") as target:
            process = subprocess.Popen(call, stderr=target, cwd=ROOT)
        try:
            while not (found := re.search(r"serving on (http://\S+)", log.read_text())):
                if process.poll() is not None:
                    raise SystemExit(log.read_text())
                time.sleep(0.05)
            yield found[1]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)


async def one(client: httpx.AsyncClient, number: int, measured: Measured) -> bool:
    """Send the log of a number; gives whether it was answered."""
    began = time.perf_counter()
    try:
        answer = await client.post("/api/analyze", content=LOG.format(number=number))
    except httpx.HTTPError:
        measured.lost += 1
        return True
    measured.statuses[answer.status_code] += 1
    if answer.status_code != 200:
        return answer.status_code != 429
    measured.seconds.append(time.perf_counter() - began)
    measured.answered[number] += 1
    measured.wrong += {*QUOTED.findall(answer.text)} != {str(number)}
    return True


async def load(url: str, clients: int, seconds: float) -> Measured:
    """Have so many clients send one request after the other."""
    measured, until = Measured(), time.perf_counter() + seconds
    numbers = iter(range(100_000, 900_000))
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)

    async def client_at_work(client: httpx.AsyncClient) -> None:
        async for number in _until(numbers, until):
            is_done = await one(client, number, measured)
            while not is_done:
                await asyncio.sleep(0.05)  # a patient client would wait as Retry-After says
                is_done = await one(client, number, measured)

    began = time.perf_counter()
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=PATIENCE) as client:
        await asyncio.gather(*(client_at_work(client) for _ in range(clients)))
    measured.took = time.perf_counter() - began
    return measured


async def _until(numbers: Iterator[int], until: float) -> AsyncIterator[int]:
    while time.perf_counter() < until:
        yield next(numbers)


def format_result(name: str, clients: int, measured: Measured) -> str:
    """Give the figures in a line."""
    cuts = (
        statistics.quantiles(measured.seconds, n=100) if len(measured.seconds) > 1 else [0.0] * 99
    )
    p50, p95, p99 = (1000 * cuts[place - 1] for place in (50, 95, 99))
    twice = sum(count > 1 for count in measured.answered.values())
    others = {code: n for code, n in measured.statuses.items() if code not in {200, 429}}
    return (
        f"{name:<18} {clients:>7} {len(measured.seconds):>8} {measured.statuses[429]:>6}"
        f" {len(measured.seconds) / measured.took:>8.1f} {p50:>7.0f} {p95:>7.0f} {p99:>7.0f}"
        f" {measured.lost:>5} {twice:>6} {measured.wrong:>6} {others or ''}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure at the limit and beyond it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--waiting", type=int, default=16)
    args = parser.parse_args(arguments)
    places = args.workers + args.waiting
    loads = (("a client", 1), ("at the limit", places), ("beyond it", 4 * places))
    print(f"{args.workers} processes, {places} places, {args.seconds:.0f} s each")
    print(
        f"{'load':<18} {'clients':>7} {'answered':>8} {'429':>6} {'per s':>8} {'p50 ms':>7}"
        f" {'p95 ms':>7} {'p99 ms':>7} {'lost':>5} {'twice':>6} {'wrong':>6}"
    )
    is_right = True
    with served(args.workers, args.waiting) as url:
        asyncio.run(load(url, args.workers, 3.0))  # rules are loaded
        for name, clients in loads:
            measured = asyncio.run(load(url, clients, args.seconds))
            print(format_result(name, clients, measured), flush=True)
            is_right &= not measured.lost and not measured.wrong
            is_right &= {*measured.answered.values()} == {1}
    return 0 if is_right else 1


if __name__ == "__main__":
    raise SystemExit(main())
