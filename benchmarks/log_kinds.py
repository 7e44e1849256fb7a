"""Kinds of logs that the speed of reading is measured on.

In: a random generator. Out: endless lines, without line breaks (a bar's draws of one line stand
between carriage returns). Not here: measuring (`reading.py`).
"""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Final

WORDS: Final = (
    *("loading", "shard", "tokens", "worker", "cache", "queue", "epoch", "model"),
    *("layer", "buffer", "ready", "sync", "batch", "device", "stage", "host"),
)
SILENT: Final = (
    *("alpha", "bravo", "charlie", "delta", "foxtrot", "golf", "hotel", "india", "juliet"),
    *("kilo", "lima"),
)
"""Words that hold no literal of any rule."""
SIGNATURES: Final = (
    (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total"
        " capacity of 79.15 GiB of which 1.20 GiB is free."
    ),
    "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
    "RuntimeError: CUDA error: device-side assert triggered",
    "ModuleNotFoundError: No module named 'flash_attn'",
    "RuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed. ",
)
_BAR: Final = "#" * 10
_RANKS: Final = 1024


def noise(random_: random.Random) -> Iterator[str]:
    """Lines that no rule looks at."""
    return _of_words(random_, SILENT)


def talk(random_: random.Random) -> Iterator[str]:
    """Lines with words that rules look for, and that say nothing."""
    return _of_words(random_, WORDS)


def _of_words(random_: random.Random, words: Sequence[str]) -> Iterator[str]:
    pool = [
        " ".join(random_.choice(words) for _ in range(random_.randint(6, 14)))
        + f" {random_.randint(0, 10**6)}"
        for _ in range(5000)
    ]
    while True:
        yield random_.choice(pool)


def dense(random_: random.Random) -> Iterator[str]:
    """Metric lines only: three of the Trainer for one of DeepSpeed."""
    step = 0
    while True:
        step += 1
        if step % 4:
            yield _of_trainer(random_, step)
        else:
            yield (
                f"[2024-05-01 12:00:{step % 60:02d},{step % 1000:03d}] [INFO]"
                f" [logging.py:96:log_dist] [Rank 0] step={step}, skipped=0,"
                f" lr=[{2e-5 * random_.random():.6g}], mom=[(0.9, 0.999)]"
            )


def hits(random_: random.Random) -> Iterator[str]:
    """Noise with a signature on every 20th line."""
    plain = noise(random_)
    while True:
        for _ in range(19):
            yield next(plain)
        yield random_.choice(SIGNATURES)


def hits_among_metrics(random_: random.Random) -> Iterator[str]:
    """Metric lines with a signature on every 20th line, and a loss that is no number on another."""
    plain = generic(random_)
    for number in range(1, 10**9):
        for _ in range(18):
            yield next(plain)
        yield f"step {19 * number} loss nan lr 2.0000e-05 grad_norm inf"
        yield random_.choice(SIGNATURES)


def generic(random_: random.Random) -> Iterator[str]:
    """Lines of a script of its own, of no known layout."""
    for step in range(1, 10**9):
        yield (
            f"step {step:6d} | loss {random_.random() * 3:.4f} | lr {2e-5 * random_.random():.4e}"
            f" | grad norm {random_.random() * 9:.3f} | {random_.random() * 90:.1f} ms"
        )


def mmengine(random_: random.Random) -> Iterator[str]:
    """Lines of mmengine with a clock in front and a time left."""
    for step in range(10, 10**9, 10):
        yield (
            f"08/02 10:{step // 600 % 60:02d}:{step // 10 % 60:02d} - mmengine - INFO -"
            f" Iter(train) [{step:6d}/9000000]  lr: {2e-5 * random_.random():.4e}"
            f"  eta: {step % 24}:{step % 60:02d}:02  time: {random_.random():.4f}"
            f"  data_time: {random_.random() / 99:.4f}  memory: {15000 + step % 900}"
            f"  loss: {random_.random() * 3:.4f}  grad_norm: {random_.random():.4f}"
        )


def megatron(random_: random.Random) -> Iterator[str]:
    """Lines of Megatron-LM, with figures that are padded."""
    for step in range(1, 10**9):
        yield (
            f" iteration {step:8d}/ 5000000 | consumed samples: {step * 256:12d}"
            f" | elapsed time per iteration (ms): {random_.random() * 900:.1f}"
            f" | learning rate: {2e-4 * random_.random():.3E} | global batch size:   256"
            f" | lm loss: {random_.random() * 6:.6E} | loss scale: 65536.0"
            f" | grad norm: {random_.random() * 2:.3f} | number of skipped iterations:   0"
            " | number of nan iterations:   0 |"
        )


def bars(random_: random.Random) -> Iterator[str]:
    """A bar with a loss, drawn three times at each position; an epoch is a line."""
    epoch = 0
    while True:
        draws = []
        for now in range(1, 501):
            loss = random_.random() * 3
            draws += [
                f"\rEpoch {epoch}: {now // 5:3d}%|{_BAR[: now // 50]:<10}| {now}/500"
                f" [00:{now % 60:02d}<08:{now % 60:02d},  {random_.random() * 9:.2f}it/s,"
                f" loss={loss:.3f}, lr=2e-5]"
                for _ in range(3)
            ]
        yield "".join(draws)
        epoch += 1


def lightning(random_: random.Random) -> Iterator[str]:
    """The bar of Lightning, drawn twice at each position; an epoch is a line."""
    epoch = 0
    while True:
        draws = []
        for now in range(1, 501):
            draws += [
                f"\rEpoch {epoch}: {now // 5:3d}%|{_BAR[: now // 50]:<10}| {now}/500"
                f" [00:{now % 60:02d}<08:{now % 60:02d},  {random_.random() * 9:.2f}it/s,"
                f" v_num=3, train_loss={random_.random() * 3:.3f}, lr=2e-5]"
                for _ in range(2)
            ]
        yield "".join(draws)
        epoch += 1


def trainer_and_bar(random_: random.Random) -> Iterator[str]:
    """The Trainer's records beside its own bar, which alone tells the step."""
    step = 0
    while True:
        step += 10
        draws = "".join(
            f"\r {now // 90000:2d}%|{_BAR[: now // 900000]:<10}| {now}/9000000"
            f" [{now // 3600}:{now // 60 % 60:02d}:{now % 60:02d}<99:10:00,"
            f"  {random_.random() * 3:.2f}it/s]"
            for now in range(step - 9, step + 1)
        )
        yield f"{draws}\r{' ' * 40}\n{_of_trainer(random_, step)}"


def events(random_: random.Random) -> Iterator[str]:
    """Loss-scale events of DeepSpeed, among its records."""
    for step in range(1, 10**9):
        scale = 2 ** (step % 20)
        yield (
            f"[2024-05-01 12:00:{step % 60:02d},{step % 1000:03d}] [INFO]"
            " [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step."
            f" Attempted loss scale: {scale}, reducing to {max(1, scale // 2)}"
        )
        yield _of_trainer(random_, step)


def ranks(random_: random.Random) -> Iterator[str]:
    """A thousand ranks that all print their records."""
    for step in range(1, 10**9):
        for rank in range(_RANKS):
            yield (
                f"[rank{rank}]: step {step} loss {random_.random() * 3:.4f}"
                f" lr {2e-5 * random_.random():.4e}"
            )


def _of_trainer(random_: random.Random, step: int) -> str:
    return (
        f"{{'loss': {random_.random() * 3:.4f}, 'grad_norm': {random_.random() * 9:.16f},"
        f" 'learning_rate': {2e-5 * random_.random():.17g}, 'epoch': {step / 5000:.2f}}}"
    )


KINDS: Final[dict[str, Callable[[random.Random], Iterator[str]]]] = {
    "noise": noise,
    "talk": talk,
    "dense": dense,
    "hits": hits,
    "hits among metrics": hits_among_metrics,
    "generic": generic,
    "mmengine": mmengine,
    "Megatron": megatron,
    "bars": bars,
    "Lightning": lightning,
    "Trainer + bar": trainer_and_bar,
    "loss-scale events": events,
    "many ranks": ranks,
}
