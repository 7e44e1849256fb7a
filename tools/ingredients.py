"""What breaks readers: figures, tokens, prefixes, lines, and secrets that must stay hidden.

In: a source of chance. Out: texts and values. Not here: where they are put (`changes`).
"""

import random
from typing import Any, Final

SMALL: Final = 60_000
"""Characters of a text that is only a part of an input."""
_ESC: Final = "\x1b"
TOKENS: Final = (
    # figures
    "NaN",
    "nan",
    "-nan",
    "inf",
    "-inf",
    "Infinity",
    "1e308",
    "-1e308",
    "1e309",
    "1e-400",
    "1" * 400,
    "-" + "9" * 5_000,
    "0." + "0" * 400 + "1",
    "0x" + "f" * 600,
    "١٢٣",
    "½",
    "1_000",
    "1,234,567.8",
    "1e",
    "+-1",
    "00000",
    "²",
    "１２３",
    # texts
    "\x00",
    "\x00" * 50,
    f"{_ESC}[31mred{_ESC}[0m",
    f"{_ESC}]8;;https://x.example/{'a' * 300}",
    f"{_ESC}[",
    _ESC,
    "\r",
    "\r\r\n",
    "\n\n\n",
    "\u2028",
    "\u0085",
    "\x0c",
    "\x0b",
    "\x1c",
    "\ufeff",
    "\u202e",
    "\u0301" * 60,
    "损失" * 40,
    "\U0001f4a5",
    "\ud800",
    "\udcff",
    '"',
    "'",
    "`" * 40,
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\\",
    "|",
    "%",
    "%|",
    "<b>",
    "</script>",
    "-->",
    "{{ 7*7 }}",
    "::error::x",
    "=cmd()",
    "@x",
    "%s",
    "{0}",
    "\t",
    " " * 12_000,
    "\t" * 8_000,
    # figures with a name
    "loss: ",
    "'loss': nan",
    "loss=inf",
    "{'loss': 1.0, 'm0': tensor(0.5), ",
    "loss: 1e309 ",
    "step 99999999999999999999",
    "epoch: -1",
    "lr: 1e-400",
    "100%|",
    "  0%|          | 0/0 [00:00<?, ?it/s]",
    "it/s]",
    "s/it, loss=",
    "step=" + "7" * 400,
    "rank 4294967296",
    "[rank",
    "[rank99999999999]: ",
    "[rank" + "9" * 5_000 + "]: ",
    "line " + "9" * 5_000,
    'File "x.py", line ' + "9" * 400 + ", in f",
    # records
    "Traceback (most recent call last):",
    "Traceback (most recent call last):\n" * 40,
    '  File "a.py", line 1, in f\n    g()\n' * 30,
    "RuntimeError: CUDA out of memory.",
    "StopIteration",
    "KeyError: ",
    "Exception",
    "AssertionError",
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
    "Segmentation fault (core dumped)",
    "Killed",
    "exitcode: -9",
    "exit code 137",
    "slurmstepd: error: *** STEP 1.0 ON n1 CANCELLED AT 2024-13-45T99:99:99 ***",
    "2024-02-30 25:61:61,999 - ",
    "9999-12-31T23:59:59.999999999+99:99 ",
    "0000-00-00 00:00:00 ",
    "Jan 32 00:00:00 h kernel: [  1.0] ",
    "[999999999.999999] Out of memory: Killed process 1 (x)",
    "OVERFLOW! Rank 0 Skipping step. Attempted loss scale: inf, reducing to nan",
    "Namespace(",
    "TrainingArguments(\n",
    '{"log_history": [',
    '{"cells": [',
    '{"message": {"message": ',
    "PyTorch version: " + "2" * 300,
    "torch==" + "1." * 200,
)
PREFIXES: Final = (
    "[rank0]: ",
    "[rank{n}]: ",
    "{n}: ",
    "  {n}: ",
    "2024-05-01T12:00:0{d}.123456789Z ",
    "2024-05-01 12:00:0{d},123 - root - INFO - ",
    "INFO:train.loop:",
    "worker-{n}: ",
    "(pid={n}) ",
    "[1,{n}]<stdout>: ",
    "12:00:0{d} ",
    "node{n}: ",
    "> ",
    "May  1 12:00:0{d} host kernel: ",
    "\x1b[36m",
    "[2024-05-01 12:00:0{d},1] [INFO] [a.py:1:f] ",
    "gpu{n} | ",
)
LINES: Final = (
    "[rank{n}]: RuntimeError: failed\n",
    "[rank{n}]: Traceback (most recent call last):\n",
    "step {n} loss {x:.4f}\n",
    "step {n} m{n}={x:.4f}\n",
    "{{'loss': {x:.4f}, 'm{n}': 1.0, 'learning_rate': 1e-05, 'epoch': {x:.2f}}}\n",
    "{n}: KeyError: 'k{n}'\n",
    "Traceback (most recent call last):\n",
    '  File "a{n}.py", line {n}, in f\n',
    "\rEpoch 1:  {d}%|##  | {n}/9999 [00:{d:02d}<00:10, {x:.2f}it/s, loss={x:.3f}]",
    "2024-05-01 12:00:{d:02d},123 - train - ERROR - worker {n} failed: exit code {d}\n",
    (
        "CUDA out of memory. Tried to allocate {n}.00 GiB. GPU {d} has a total capacity of 79.15 "
        "GiB of which 1.20 GiB is free.\n"
    ),
    (
        "[rank{d}]:[E1111 17:01:37.06 ProcessGroupNCCL.cpp:{n}] Watchdog caught collective "
        "operation timeout: ran for {n} milliseconds\n"
    ),
    "OVERFLOW! Rank 0 Skipping step. Attempted loss scale: {n}, reducing to {n}\n",
    "iteration {n}/ 9999 | lm loss: {x:.4E} | loss scale: {n}.0 | grad norm: nan |\n",
    "Saving model checkpoint to out/checkpoint-{n}\n",
    "nan\n",
    "x",
    " ",
    "\r",
    "9",
    '"',
    "[",
    "loss: ",
    "node{n}: step {n} loss nan\n",
    "pkg{n}==1.{d}\n",
    "setting_{n} = {d}\n",
    "--flag{n} {d} ",
    "Jan  1 00:00:{d:02d} h kernel: [{n}.000000] NVRM: Xid (PCI:0000:{d:02d}:00): 79\n",
)
SECRETS: Final = (
    "HF_TOKEN=hf_{}",
    "wandb: api key {}",
    "export WANDB_API_KEY={}",
    "Authorization: Bearer {}",
    "git clone https://me:{}@git.example/x/y",
    "train.py --hub_token hf_{}",
    "args: Namespace(lr=1e-4, hub_token='hf_{}')",
    "GITHUB_TOKEN=ghp_{}",
    "MY_SERVICE_PASSWORD={}",
    "{{'token': '{}', 'lr': 1e-4}}",
    "api_key: {}",
    "AWS_SECRET_ACCESS_KEY={}",
    "    client_secret = '{}'",
    "PRIVATE-TOKEN: {}",
    "curl -u me:{} https://x.example",
    "DB_KEY={}",
)


def figure(chance: random.Random) -> str:
    """Write a figure as some program would, or as none should."""
    return chance.choice(
        [
            f"{chance.random() * 3:.4f}",
            f"{chance.random() * 3:.4f}",
            f"{chance.random():.3e}",
            "",
            "nan",
            "inf",
            "1e309",
            "1" * 400,
            "x",
            '"',
            chance.choice(TOKENS),
        ]
    )


def number(chance: random.Random, usual: float) -> Any:
    """Give a usual figure, or what stands in the place of one."""
    return (
        usual
        if chance.random() < 0.9
        else chance.choice(
            [
                float("nan"),
                float("inf"),
                -1,
                10**30,
                10**400,
                None,
                "x",
                True,
                [],
                {},
                -1e308,
                1e308,
                0.5,
                value(chance, 3),
            ]
        )
    )


def value(chance: random.Random, depth: int) -> Any:
    """A nested value as JSON has them."""
    if depth == 0 or chance.random() < 0.3:
        return chance.choice(
            [None, True, 0, -1, 1.5, 10**30, float("nan"), "", "loss", "损", chance.choice(TOKENS)]
        )
    if chance.random() < 0.5:
        return [value(chance, depth - 1) for _ in range(chance.randint(0, 4))]
    return {
        chance.choice(
            ["cells", "outputs", "text", "loss", "step", "data", "", "message", "log_history"]
        ): value(chance, depth - 1)
        for _ in range(chance.randint(0, 4))
    }
