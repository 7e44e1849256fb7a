"""Kinds of text whose lines no known format covers, or that are no log at all.

In: a random generator. Out: endless lines, without line breaks, as in `log_kinds.py`. Not here:
measuring (`kinds.py`).
"""

import json
import random
from collections.abc import Callable, Iterator
from itertools import count
from typing import Final

_SUBJECTS: Final = (
    *("The reward model", "A policy", "Our loss", "The gradient", "An error", "The optimizer"),
    *("A learning rate", "The checkpoint", "Every worker", "The evaluation", "A memory limit"),
)
_VERBS: Final = (
    *("reduces", "is larger than", "fails to match", "explains", "was killed by", "raises"),
    *("converges to", "does not depend on", "is trained with", "reports", "exceeds"),
)
_OBJECTS: Final = (
    *(
        "the training error",
        "the loss of the baseline",
        "an accuracy of 91.5 percent",
        "NaN values",
    ),
    *("the reward", "a CUDA out of memory error", "the validation set", "3 epochs of training"),
    *("the failed assertion", "the number of steps", "a timeout of 30 seconds", "the exception"),
)
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def _word(random_: random.Random) -> str:
    return "".join(random_.choices(_LETTERS, k=random_.randint(2, 9)))


def _words(random_: random.Random, least: int, most: int) -> str:
    return " ".join(_word(random_) for _ in range(random_.randint(least, most)))


def _sentence(random_: random.Random) -> str:
    parts = (random_.choice(_SUBJECTS), random_.choice(_VERBS), random_.choice(_OBJECTS))
    return f"{' '.join(parts)} {_words(random_, 2, 6)}."


def only_loss(random_: random.Random) -> Iterator[str]:
    """One figure a line."""
    while True:
        yield f"loss: {random_.random() * 3:.2f}"


def short_loss(random_: random.Random) -> Iterator[str]:
    """One figure of few digits a line."""
    while True:
        yield f"loss: {random_.random() * 3:.1f}"


def clocked_loss(random_: random.Random) -> Iterator[str]:
    """One figure a line behind a logger's prefix."""
    for number in count():
        yield (
            f"2024-05-01 12:{number // 60 % 60:02d}:{number % 60:02d},{number % 1000:03d} INFO"
            f" train: loss = {random_.random() * 3:.4f}"
        )


def loss_with_returns(random_: random.Random) -> Iterator[str]:
    """The same as `only_loss` with the line breaks of Windows."""
    for line in only_loss(random_):
        yield f"{line}\r"


def step_above(random_: random.Random) -> Iterator[str]:
    """The step on the line before."""
    for number in count(1):
        yield f"iter {number}"
        yield f"loss = {random_.random() * 3:.4f}"


def four_lines(random_: random.Random) -> Iterator[str]:
    """Records of four lines."""
    for number in count(1):
        yield f"Epoch {number}"
        yield f"train loss: {random_.random() * 3:.4f}"
        yield f"val loss: {random_.random() * 3:.4f}"
        yield f"val acc: {random_.random():.4f}"


def alternating(random_: random.Random) -> Iterator[str]:
    """Records of training and of validation in turn."""
    for number in count(1):
        yield f"[train] epoch {number} loss {random_.random() * 3:.4f} acc {random_.random():.3f}"
        yield f"[valid] epoch {number} loss {random_.random() * 3:.4f} acc {random_.random():.3f}"


def tabs(random_: random.Random) -> Iterator[str]:
    """Figures between tabs, negative whole numbers among them."""
    for number in count(1):
        yield f"Episode {number}\tReward: {random_.randint(-200, 50)}"


def gan(random_: random.Random) -> Iterator[str]:
    """Names with spaces in brackets."""
    for number in count():
        yield (
            f"[Epoch {number // 900}/200] [Batch {number % 900}/900]"
            f" [D loss: {random_.random():.6f}] [G loss: {random_.random() * 5:.6f}]"
        )


def cycle_gan(random_: random.Random) -> Iterator[str]:
    """The losses of several networks."""
    for number in count(1):
        losses = " ".join(
            f"{name}: {random_.random():.3f}"
            for name in ("D_A", "G_A", "cycle_A", "idt_A", "D_B", "G_B", "cycle_B", "idt_B")
        )
        place = f"epoch: {number // 50}, iters: {number % 50 * 100}"
        yield f"({place}, time: 0.134, data: 0.2) {losses}"


def example_loop(random_: random.Random) -> Iterator[str]:
    """The loop of PyTorch's example, with a tab before the loss."""
    for number in count():
        batch = number % 938
        yield (
            f"Train Epoch: {number // 938 + 1} [{batch * 64}/60000 ({batch * 100 // 938}%)]"
            f"\tLoss: {random_.random() * 2:.6f}"
        )


def nano(random_: random.Random) -> Iterator[str]:
    """The loop of nanoGPT."""
    for number in count(0, 10):
        yield (
            f"iter {number}: loss {random_.random() * 4:.4f}, time {random_.random() * 900:.2f}ms,"
            f" mfu {random_.random() * 50:.2f}%"
        )


def arrows(random_: random.Random) -> Iterator[str]:
    """A layout of its own with arrows, glued units and thousands."""
    for number in count(1):
        yield (
            f"->> step:{number}K ->>lr:{random_.random() / 1e3:.5f} grdn:{random_.random():.3f}"
            f" ->>ce:{random_.random() * 3:.3f} t={random_.randint(10, 99)}ms"
        )


def yolo(random_: random.Random) -> Iterator[str]:
    """Rows of figures below headings, as YOLO prints them."""
    for epoch in count(1):
        yield "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size"
        yield (
            f"  {epoch:9d}/{9000:d}      {random_.random() * 9:.3g}G     {random_.random():.4f}"
            f"     {random_.random():.4f}     {random_.random():.4f}"
            f"        {random_.randint(1, 99)}        640: 100%|##########| 74/74"
            " [00:11<00:00,  6.53it/s]"
        )
        yield "                 Class     Images  Instances      Box(P          R      mAP50"
        yield (
            f"                   all        128        929      {random_.random():.3f}"
            f"      {random_.random():.3f}      {random_.random():.3f}"
        )


def keras(random_: random.Random) -> Iterator[str]:
    """Epochs of Keras."""
    for epoch in count(1):
        yield f"Epoch {epoch}/90000"
        yield (
            f"1875/1875 [==============================] - {random_.randint(2, 9)}s 2ms/step"
            f" - loss: {random_.random():.4f} - accuracy: {random_.random():.4f}"
            f" - val_loss: {random_.random():.4f} - val_accuracy: {random_.random():.4f}"
        )


def rllib(random_: random.Random) -> Iterator[str]:
    """Nested blocks of keys and values."""
    for number in count(1):
        yield "Result for PPO_CartPole-v1_00000:"
        yield f"  episode_reward_mean: {random_.random() * 200}"
        yield f"  episodes_total: {number * 30}"
        yield "  info:"
        yield "    learner:"
        yield "      default_policy:"
        for name in ("cur_lr", "entropy", "kl", "policy_loss", "total_loss", "vf_loss"):
            yield f"          {name}: {random_.random()}"
        yield f"  timesteps_total: {number * 4000}"
        yield f"  training_iteration: {number}"
        yield ""


def boxes(random_: random.Random) -> Iterator[str]:
    """Boxed tables of Stable-Baselines3."""
    for number in count(1):
        yield "-" * 42
        yield "| rollout/               |              |"
        yield f"|    ep_rew_mean         | {random_.random() * 200:<12.3g} |"
        yield "| time/                  |              |"
        yield f"|    total_timesteps     | {number * 2048:<12d} |"
        yield "| train/                 |              |"
        for name in ("approx_kl", "entropy_loss", "loss", "value_loss"):
            yield f"|    {name:<19} | {random_.random():<12.4g} |"
        yield "-" * 42


def tables(random_: random.Random) -> Iterator[str]:
    """A table with bars whose heading comes again."""
    for number in count():
        if number % 50 == 0:
            yield "| epoch | train_loss | valid_loss | accuracy | time |"
            yield "|-------|------------|------------|----------|------|"
        yield (
            f"| {number:5d} | {random_.random() * 3:10.4f} | {random_.random() * 3:10.4f}"
            f" | {random_.random():8.4f} | 00:{number % 60:02d} |"
        )


def columns(random_: random.Random) -> Iterator[str]:
    """A table of columns between blanks."""
    yield "epoch  step     loss      acc       lr"
    for number in count():
        yield (
            f"{number // 100:5d}  {number:6d}  {random_.random() * 3:.4f}  {random_.random():.4f}"
            f"  {random_.random() / 1e4:.2e}"
        )


def comma_lines(random_: random.Random) -> Iterator[str]:
    """A file of comma-separated values that was printed."""
    yield "step,train_loss,val_loss,lr,time"
    for number in count():
        losses = f"{random_.random() * 3},{random_.random() * 3}"
        yield f"{number},{losses},{random_.random() / 1e4},{number * 3}"


def json_lines(random_: random.Random) -> Iterator[str]:
    """Records as JSON, with names of their own."""
    for number in count():
        yield json.dumps(
            {"iteration": number, "nll": random_.random() * 3, "grad": random_.random(), "ok": True}
        )


def nested_records(random_: random.Random) -> Iterator[str]:
    """Records as dictionaries in dictionaries."""
    for number in count():
        losses = {"ce": random_.random() * 3, "kl": random_.random()}
        yield f"{ {'step': number, 'loss': losses, 'speed': {'tokens': random_.randint(1, 9999)}} }"


def indented_json(random_: random.Random) -> Iterator[str]:
    """Indented JSON of settings and answers."""
    while True:
        yield from json.dumps(
            {
                "id": random_.randint(0, 10**9),
                "question": _sentence(random_),
                "answers": [_words(random_, 1, 4) for _ in range(3)],
                "score": {"exact": random_.random(), "reward": random_.random()},
            },
            indent=2,
        ).split("\n")


def answers(random_: random.Random) -> Iterator[str]:
    """A list of generated answers on each line, as JSON."""
    while True:
        yield json.dumps([_sentence(random_) for _ in range(4)])


def rollouts(random_: random.Random) -> Iterator[str]:
    """Prompts and answers with their rewards between records."""
    for number in count():
        yield f"Step {number}: reward {random_.random():.3f} kl {random_.random():.3f}"
        yield f"Prompt: {_sentence(random_)}"
        for _ in range(4):
            yield _sentence(random_)
        yield f"Extracted answer: {random_.randint(0, 999)} Error: {_words(random_, 1, 3)}"


def prose(random_: random.Random) -> Iterator[str]:
    """Sentences about training, none of them twice."""
    while True:
        yield " ".join(_sentence(random_) for _ in range(random_.randint(1, 3)))


def chinese(random_: random.Random) -> Iterator[str]:
    """Sentences in Chinese with figures and terms."""
    signs = "训练模型损失错误梯度奖励学习率步数评估失败内存显卡数据集验证准确率收敛"
    while True:
        text = "".join(random_.choices(signs, k=random_.randint(10, 40)))
        yield f"{text}，loss 为 {random_.random():.3f}，{text[:5]} error {random_.randint(1, 99)}。"


def code(random_: random.Random) -> Iterator[str]:
    """Python source."""
    while True:
        name, other = _word(random_), _word(random_)
        yield f"def {name}({other}, loss=None, lr={random_.random():.3f}):"
        yield f'    """{_sentence(random_)}"""'
        yield f"    {name}_loss = criterion({other}, target) + {random_.randint(1, 9)} * loss"
        yield f"    if torch.isnan({name}_loss).any():"
        yield f"        raise ValueError('{name} loss is nan: %s' % {other})"
        yield f"    return {name}_loss.mean(), {other}  # {_words(random_, 2, 6)}"
        yield ""


def differences(random_: random.Random) -> Iterator[str]:
    """A printed diff of source."""
    for number, line in enumerate(code(random_)):
        if number % 30 == 0:
            yield f"@@ -{number},{random_.randint(3, 30)} +{number},{random_.randint(3, 30)} @@"
        yield f"{random_.choice('+- ')}{line}"


def notebook_cells(random_: random.Random) -> Iterator[str]:
    """The lines of a notebook's file, as a part of another log."""
    while True:
        yield "  {"
        yield '   "cell_type": "code",'
        yield f'   "execution_count": {random_.randint(1, 999)},'
        yield '   "outputs": [{"name": "stdout", "output_type": "stream", "text": ['
        for number in range(8):
            yield f'    "epoch {number} loss {random_.random():.4f} acc {random_.random():.4f}\\n",'
        yield '   ]}], "source": ['
        yield f'    "model.fit({_word(random_)}, lr={random_.random():.4f})\\n",'
        yield f'    "# {_sentence(random_)}"]'
        yield "  },"


def tracebacks(random_: random.Random) -> Iterator[str]:
    """Errors that are caught, each with its traceback."""
    for number in count():
        yield f"2024-05-01 12:00:{number % 60:02d} ERROR worker: request {number} failed"
        yield "Traceback (most recent call last):"
        for depth in range(random_.randint(3, 8)):
            place = f"line {random_.randint(1, 900)}, in call_{depth}"
            yield f'  File "/app/serve/part_{depth}.py", {place}'
            yield f"    return handler_{depth}(request, retries={random_.randint(0, 9)})"
        yield f"ValueError: cannot decode field {random_.randint(0, 9999)}"


def frames(_: random.Random) -> Iterator[str]:
    """Nothing but the first lines of tracebacks."""
    for number in count():
        yield "Traceback (most recent call last):"
        yield f'  File "/app/train.py", line {number % 900 + 1}, in main'


def headless_frames(_: random.Random) -> Iterator[str]:
    """Frames without the first line of a traceback."""
    for number in count():
        yield f'  File "/app/part_{number % 7}.py", line {number % 900 + 1}, in step_{number % 5}'


def warnings(random_: random.Random) -> Iterator[str]:
    """Warnings of Python with their source line."""
    while True:
        yield (
            f"/opt/conda/lib/python3.10/site-packages/torch/{_word(random_)}.py:"
            f"{random_.randint(1, 999)}: UserWarning: {_words(random_, 4, 9)} is deprecated and"
            " will be removed in a future release."
        )
        yield f"  warnings.warn({_word(random_)!r}, UserWarning)"


def nonfinite_notes(random_: random.Random) -> Iterator[str]:
    """Notes of figures that are no numbers, between records."""
    for number in count():
        yield f"NaN detected after softmax in layer {random_.randint(0, 31)}, step {number}"
        yield f"step {number} loss {random_.random() * 3:.4f} skipped {random_.randint(0, 99)}"


def out_of_memory(random_: random.Random) -> Iterator[str]:
    """Caught out-of-memory errors between records."""
    for number in count():
        yield f"step {number}: loss={random_.random() * 3:.4f}"
        yield (
            "CUDA out of memory. Tried to allocate"
            f" {random_.random() * 9:.2f} GiB (GPU 0; 79.15 GiB total capacity;"
            f" {random_.random() * 70:.2f} GiB already allocated); retrying with batch {number % 9}"
        )


def nccl(random_: random.Random) -> Iterator[str]:
    """What NCCL prints when it is asked to."""
    while True:
        rank = random_.randint(0, 63)
        yield (
            f"node-{rank // 8}:{9000 + rank}:{9900 + rank} [{rank % 8}] NCCL INFO Channel"
            f" {random_.randint(0, 31):02d}/0 : {rank}[{rank % 8}] -> {(rank + 1) % 64}"
            f"[{(rank + 1) % 8}] via P2P/CUMEM/read"
        )


def installation(random_: random.Random) -> Iterator[str]:
    """What an installation prints."""
    while True:
        name, version = _word(random_), f"{random_.randint(0, 9)}.{random_.randint(0, 99)}.1"
        yield f"Collecting {name}>={version}"
        yield f"  Downloading {name}-{version}-py3-none-any.whl ({random_.randint(9, 999)} kB)"
        yield f"Requirement already satisfied: {_word(random_)} in ./lib/python3.10 (from {name})"


def small_bars(random_: random.Random) -> Iterator[str]:
    """Bars of an owner's own loop, each draw on a line of its own."""
    for number in count():
        now = number % 400 + 1
        yield (
            f"Epoch {number // 400} {now * 100 // 400:3d}%|{'#' * (now // 40):<10}| {now}/400"
            f" [00:{now % 60:02d}<00:59, {random_.random() * 9:.2f}it/s] ce {random_.random():.3f}"
        )


def digits(random_: random.Random) -> Iterator[str]:
    """Matrices that were printed."""
    while True:
        yield f"tensor([[{', '.join(f'{random_.random() * 2 - 1: .4f}' for _ in range(8))}],"
        for _ in range(6):
            yield f"        [{', '.join(f'{random_.random() * 2 - 1: .4f}' for _ in range(8))}],"


def service(random_: random.Random) -> Iterator[str]:
    """The JSON log of a service."""
    for number in count():
        yield json.dumps(
            {
                "ts": 1714560000 + number / 10,
                "level": random_.choice(("info", "info", "error", "warning")),
                "msg": _sentence(random_),
                "trace": f"{random_.getrandbits(64):016x}",
                "took_ms": random_.randint(1, 900),
            }
        )


def ever_other_names(random_: random.Random) -> Iterator[str]:
    """Records in which a name is another each time."""
    for number in count():
        yield f"step {number} {_word(random_)}_loss: {random_.random():.4f} acc_{number % 997}: 0.5"


RECORDS: Final[dict[str, Callable[[random.Random], Iterator[str]]]] = {
    "only a loss": only_loss,
    "a short loss": short_loss,
    "a loss behind a clock": clocked_loss,
    "a loss, CRLF": loss_with_returns,
    "step on the line before": step_above,
    "records of four lines": four_lines,
    "alternating records": alternating,
    "tabs": tabs,
    "GAN": gan,
    "CycleGAN": cycle_gan,
    "example loop": example_loop,
    "nanoGPT": nano,
    "arrows": arrows,
    "YOLO": yolo,
    "Keras": keras,
    "RLlib": rllib,
    "SB3": boxes,
    "table with bars": tables,
    "columns": columns,
    "CSV": comma_lines,
    "JSON lines": json_lines,
    "nested records": nested_records,
    "small bars": small_bars,
}
"""Records of any form."""
OTHERS: Final[dict[str, Callable[[random.Random], Iterator[str]]]] = {
    "indented JSON": indented_json,
    "answers": answers,
    "rollouts": rollouts,
    "prose": prose,
    "Chinese": chinese,
    "code": code,
    "diff": differences,
    "notebook cells": notebook_cells,
    "tracebacks": tracebacks,
    "heads and frames": frames,
    "frames": headless_frames,
    "warnings": warnings,
    "NaN notes": nonfinite_notes,
    "out of memory": out_of_memory,
    "NCCL": nccl,
    "installation": installation,
    "matrices": digits,
    "service": service,
    "ever other names": ever_other_names,
}
"""Everything else."""
