"""Logs that no program has printed.

Samples of every kind, cut, spliced, shuffled, and stuffed with what breaks readers.

In: a seed, the samples and the rules of the checkout. Out: `Input`s; the same seed and number give
the same bytes. Not here: what is done with them (`fuzz`).

An input begins as something whole (a sample, a job of many files, a notebook, a table, a state
file, an error file, an environment dump, the examples of rules, text built from a rule's own
pattern), is changed a few times, and may be packed at the end.
"""

import bz2
import gzip
import json
import lzma
import random
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import zstandard

from postmortem.knowledge.base import load

try:
    from re import _constants as codes  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:  # Python 3.10
    import sre_constants as codes
    import sre_parse as parser

ROOT: Final = Path(__file__).resolve().parents[1]
LARGEST: Final = 1_500_000
"""Bytes of an input at most; a few are that large, most are as large as a sample."""
_MIDDLE: Final = 120_000
_SMALL: Final = 60_000
_ESC: Final = "\x1b"
_ALPHABET: Final = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"

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


class Input(NamedTuple):
    """What is analysed as one job."""

    files: Mapping[str, bytes]
    """By their paths below the job's folder."""
    dump: bytes
    """An environment dump, or nothing."""
    size: int
    """Bytes before packing."""
    secrets: Mapping[str, str]
    """Values that no redacted form may show, each with the line it was put into."""
    made: tuple[str, ...]
    """How it was made, a word each."""


@cache
def samples() -> tuple[tuple[Path, ...], ...]:
    """The samples of the checkout: the files of each case, a dump last."""
    cases = []
    for label in sorted((ROOT / "sample_logs").rglob("*.yaml")):
        if "lab" in label.relative_to(ROOT / "sample_logs").parts:
            continue
        folder, dump = label.with_suffix(""), label.with_suffix(".env")
        files = (
            sorted(path for path in folder.rglob("*") if path.is_file())
            if folder.is_dir()
            else [label.with_suffix(".log")]
        )
        cases.append(
            (*(path for path in files if path.is_file()), *([dump] if dump.is_file() else []))
        )
    return tuple(case for case in cases if case)


@cache
def dumps() -> tuple[bytes, ...]:
    """Environment dumps as many programs print them."""
    return tuple(
        path.read_bytes() for path in sorted((ROOT / "tests" / "formats" / "dumps").glob("*.txt"))
    )


@cache
def examples() -> tuple[str, ...]:
    """What the rules' examples say, those that fire and those that do not."""
    found = []
    for rule in (*load().signatures, *load().formats):
        told = rule.raw.get("examples", {})
        found += [entry["text"] for entry in (*told.get("fires", ()), *told.get("silent", ()))]
    return tuple(found)


@cache
def rules() -> tuple[tuple[str, ...], ...]:
    """The pattern of each rule, with its anchors."""
    return tuple(
        (rule.match, *(anchor.decode() for anchor in rule.anchors))
        for rule in (*load().signatures, *load().formats)
    )


def make(seed: int, number: int) -> Input:
    """Make an input."""
    chance = random.Random(f"{seed}/{number}")  # noqa: S311 -- it has to be the same again
    start = chance.choices(
        [
            _sample,
            _notebook,
            _table,
            _state,
            _error_file,
            _dump,
            _examples,
            _attack,
            _tokens,
            _many,
        ],
        [48, 6, 6, 6, 3, 4, 10, 10, 5, 4],
    )[0]
    files, dump = start(chance)
    made = [start.__name__.strip("_")]
    limit = LARGEST if chance.random() < 0.06 else _MIDDLE
    for _ in range(chance.choice([0, 1, 1, 2, 2, 3, 4, 6])):
        change = chance.choice(_CHANGES)
        name = chance.choice(sorted(files))
        files[name] = change(files[name], chance)[: max(limit, 1)]
        made.append(change.__name__.strip("_"))
    if chance.random() < 0.1 and dump:
        dump = chance.choice(_CHANGES)(dump, chance)[:_SMALL]
    secrets = _planted(files, chance) if chance.random() < 0.25 else {}
    encoded = {name: text.encode("utf-8", "surrogatepass") for name, text in files.items()}
    size = sum(map(len, encoded.values())) + len(dump)
    if chance.random() < 0.35 and not secrets:
        name = chance.choice(sorted(encoded))
        change_bytes = chance.choice(_BYTES)
        encoded[name] = change_bytes(encoded[name], chance)
        made.append(change_bytes.__name__.strip("_"))
    return Input(encoded, dump.encode("utf-8", "surrogatepass"), size, secrets, tuple(made))


# -- what an input begins as
# ------------------------------------------------------------------------------------------


def _text(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")


def _sample(chance: random.Random) -> tuple[dict[str, str], str]:
    case = chance.choice(samples())
    dump = _text(case[-1]) if case[-1].suffix == ".env" else ""
    logs = [path for path in case if path.suffix != ".env"]
    folder = (
        logs[0].parent
        if len(logs) == 1
        else next(
            parent for parent in logs[0].parents if all(parent in path.parents for path in logs)
        )
    )
    return {str(path.relative_to(folder)).removesuffix(".gz"): _text(path) for path in logs}, dump


def _log(chance: random.Random) -> str:
    return next(iter(_sample(chance)[0].values()))


def _notebook(chance: random.Random) -> tuple[dict[str, str], str]:
    lines = _log(chance).splitlines(keepends=True)[:400]
    outputs: list[dict[str, Any]] = [
        {
            "output_type": "stream",
            "name": chance.choice(["stdout", "stderr"]),
            "text": lines if chance.random() < 0.7 else "".join(lines),
        }
    ]
    if chance.random() < 0.5:
        outputs.append(
            {
                "output_type": "error",
                "ename": _figure(chance),
                "evalue": chance.choice(TOKENS),
                "traceback": [chance.choice(TOKENS), *lines[-5:]],
            }
        )
    if chance.random() < 0.4:
        rows = "".join(
            f"<tr><td>{step}</td><td>{_figure(chance)}</td><td>{_figure(chance)}</td></tr>\n"
            for step in range(chance.randint(0, 40))
        )
        outputs.append(
            {
                "output_type": "display_data",
                "data": {
                    "text/html": [
                        "<table>\n<tr><th>Step</th><th>Training Loss</th><th>Validation"
                        f" Loss</th></tr>\n{rows}</table>"
                    ],
                    "image/png": "aGVsbG8=" * chance.randint(0, 500),
                },
                "metadata": {},
            }
        )
    cells: list[Any] = [
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "source": ["trainer.train()"],
            "outputs": [one],
        }
        for one in outputs
    ]
    if chance.random() < 0.2:
        cells.append(_value(chance, 5))
    return {
        "run.ipynb": json.dumps(
            {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5},
            indent=chance.choice([None, 1]),
            ensure_ascii=chance.random() < 0.5,
        )
    }, ""


def _table(chance: random.Random) -> tuple[dict[str, str], str]:
    names = chance.choice(
        [
            ["epoch", "step", "train_loss", "val_loss", "lr"],
            ["epoch", "train/box_loss", "lr/pg0"],
            ["step", "loss", "grad_norm", *(f"m{n}" for n in range(chance.randint(0, 60)))],
            ["Step", "Loss"],
        ]
    )
    rows = [
        ",".join(
            [
                str(row),
                *(
                    _figure(chance)
                    for _ in names[
                        1 : chance.choice([len(names), len(names), chance.randint(1, len(names))])
                    ]
                ),
            ]
        )
        for row in range(chance.randint(0, 120))
    ]
    return {
        "metrics.csv": chance.choice(["\n", "\n", "\r\n", "\r"]).join([",".join(names), *rows, ""])
    }, ""


def _state(chance: random.Random) -> tuple[dict[str, str], str]:
    entries: list[Any] = [
        {
            "epoch": step / 10,
            "step": _number(chance, step),
            "loss": _number(chance, 3 / (step + 1)),
            "learning_rate": _number(chance, 1e-5),
            "grad_norm": _number(chance, 1.0),
        }
        for step in range(chance.randint(0, 80))
    ]
    if entries and chance.random() < 0.3:
        entries.insert(chance.randrange(len(entries)), _value(chance, 6))
    state = {
        "best_metric": _number(chance, 1.0),
        "epoch": 1.0,
        "global_step": _number(chance, len(entries)),
        "log_history": entries,
        "max_steps": _number(chance, 100),
        "num_train_epochs": 1,
        "train_batch_size": 1,
    }
    files = {"trainer_state.json": json.dumps(state, indent=chance.choice([None, 2]))}
    if chance.random() < 0.5:
        files["run.log"] = _log(chance)
    return files, ""


def _error_file(chance: random.Random) -> tuple[dict[str, str], str]:
    stack = "".join(_log(chance).splitlines(keepends=True)[-30:]) + chance.choice(
        ["", chance.choice(TOKENS)]
    )
    record = {
        "message": {
            "message": stack[-80:],
            "extraInfo": {
                "py_callstack": stack,
                "timestamp": chance.choice(["1714564801", _figure(chance), _value(chance, 2)]),
            },
        }
    }
    return {
        f"rank{chance.randint(0, 9)}/error.json": json.dumps(record),
        "run.log": _log(chance),
    }, ""


def _dump(chance: random.Random) -> tuple[dict[str, str], str]:
    dump = chance.choice(dumps()).decode("utf-8", "replace")
    return ({"run.log": _log(chance)}, dump) if chance.random() < 0.6 else ({"run.log": dump}, "")


def _examples(chance: random.Random) -> tuple[dict[str, str], str]:
    return {
        "run.log": "\n".join(chance.choice(examples()) for _ in range(chance.randint(1, 60))) + "\n"
    }, ""


def _attack(chance: random.Random) -> tuple[dict[str, str], str]:
    return {
        "run.log": (
            chance.choice(["\n", " ", ""]).join(
                built(chance) for _ in range(chance.randint(1, 12))
            )[: chance.choice([3_000, 9_000, 40_000])]
            + "\n"
        )
    }, ""


def _tokens(chance: random.Random) -> tuple[dict[str, str], str]:
    return {
        "run.log": (
            chance.choice(["\n", " ", "", ": "]).join(
                chance.choice(TOKENS) for _ in range(chance.randint(0, 120))
            )
        )
    }, ""


def _many(chance: random.Random) -> tuple[dict[str, str], str]:
    """Lines of one or two kinds, each with its number."""
    kinds = chance.sample(LINES, chance.randint(1, 2))
    most = chance.choice([300, 2_000, 10_000])
    return {
        "run.log": "".join(
            chance.choice(kinds).format(n=number, d=number % 60, x=chance.random())
            for number in range(most)
        )
    }, ""


def _figure(chance: random.Random) -> str:
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


def _number(chance: random.Random, usual: float) -> Any:
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
                _value(chance, 3),
            ]
        )
    )


def _value(chance: random.Random, depth: int) -> Any:
    """A nested value as JSON has them."""
    if depth == 0 or chance.random() < 0.3:
        return chance.choice(
            [None, True, 0, -1, 1.5, 10**30, float("nan"), "", "loss", "损", chance.choice(TOKENS)]
        )
    if chance.random() < 0.5:
        return [_value(chance, depth - 1) for _ in range(chance.randint(0, 4))]
    return {
        chance.choice(
            ["cells", "outputs", "text", "loss", "step", "data", "", "message", "log_history"]
        ): _value(chance, depth - 1)
        for _ in range(chance.randint(0, 4))
    }


# -- text out of a rule's own pattern
# ---------------------------------------------------------------------------------


def built(chance: random.Random) -> str:
    """A text that a rule matches, or nearly.

    With one part of its pattern repeated many times, an anchor alone, or cut off before its end.
    """
    match, *anchors = chance.choice(rules())
    if chance.random() < 0.2:
        return (chance.choice(anchors) if anchors else "") + chance.choice(TOKENS)
    try:
        tree = parser.parse(match)
    except (re.error, OverflowError, RecursionError):  # what only the package `regex` understands
        return chance.choice(anchors) if anchors else match
    text = "".join(_of(tree, chance, [chance.choice([1, 3, 300, 2_000])]))
    return text[: chance.randint(0, len(text))] if chance.random() < 0.5 else text


def _of(tree: Any, chance: random.Random, many: list[int]) -> list[str]:  # noqa: C901 -- a pattern has as many kinds of nodes
    """Pieces that the nodes of a pattern match.

    `many` holds how often one of its parts may be repeated yet.
    """
    found: list[str] = []
    for code, value in tree:
        if code is codes.LITERAL:
            found.append(chr(value))
        elif code is codes.NOT_LITERAL:
            found.append(chance.choice("ab1 "))
        elif code is codes.ANY:
            found.append(chance.choice("ab1 .:'\""))
        elif code is codes.IN:
            found.append(_one_of(value, chance))
        elif code is codes.BRANCH:
            found += _of(chance.choice(value[1]), chance, many)
        elif code is codes.SUBPATTERN:
            found += _of(value[3], chance, many)
        elif code in _REPEATS:
            low, high, inner = value
            most = min(int(high), max(low, 3))
            times = chance.randint(low, most)
            if int(high) > 8 and many and chance.random() < 0.4:
                times = min(int(high), many.pop())
            for _ in range(times):
                found += _of(inner, chance, [])
    return found


_REPEATS: Final = {
    codes.MAX_REPEAT,
    codes.MIN_REPEAT,
    getattr(codes, "POSSESSIVE_REPEAT", codes.MAX_REPEAT),
}
_CLASSES: Final = {"DIGIT": "0123456789", "SPACE": " \t", "WORD": "ab1_"}


def _one_of(members: Any, chance: random.Random) -> str:
    code, value = chance.choice(members)
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.RANGE:
        return chr(chance.randint(value[0], value[1]))
    if code is codes.CATEGORY:
        name = str(value).removeprefix("CATEGORY_")
        return chance.choice(_CLASSES.get(name, "x."))
    return chance.choice("xyz.")


# -- changes
# ----------------------------------------------------------------------------------------------------------


def _cut_end(text: str, chance: random.Random) -> str:
    return text[: chance.randint(0, len(text))]


def _cut_begin(text: str, chance: random.Random) -> str:
    return text[chance.randint(0, len(text)) :]


def _cut_middle(text: str, chance: random.Random) -> str:
    first, last = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
    return text[:first] + text[last:]


def _lines_again(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    first = chance.randrange(len(lines))
    return "\n".join(
        [
            *lines[:first],
            *(lines[first : first + chance.randint(1, 12)] * chance.choice([2, 5, 40, 400])),
            *lines[first:],
        ]
    )


def _lines_shuffled(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    chance.shuffle(lines)
    return "\n".join(lines)


def _lines_dropped(text: str, chance: random.Random) -> str:
    return "\n".join(line for line in text.split("\n") if chance.random() < 0.7)


def _spliced(text: str, chance: random.Random) -> str:
    other = _log(chance)
    return text[: chance.randint(0, len(text))] + other[chance.randint(0, len(other)) :]


def _interleaved(text: str, chance: random.Random) -> str:
    mixed, other = [], _log(chance).split("\n")
    for number, line in enumerate(text.split("\n")):
        mixed += [f"[rank0]: {line}", f"[rank1]: {other[number % len(other)]}"]
    return "\n".join(mixed)


def _token_put_in(text: str, chance: random.Random) -> str:
    for _ in range(chance.choice([1, 1, 3, 20])):
        place = chance.randint(0, len(text))
        text = text[:place] + chance.choice(TOKENS) + text[place:]
    return text


def _figure_replaced(text: str, chance: random.Random) -> str:
    share = chance.choice([0.01, 0.1, 1.0])
    return re.sub(
        r"\d+(?:\.\d+)?(?:e[-+]?\d+)?",
        lambda match: _figure(chance) if chance.random() < share else match[0],
        text[:_SMALL],
    )


def _token_many_times(text: str, chance: random.Random) -> str:
    place = chance.randint(0, len(text))
    words = re.findall(r"\S+\s?", text[place : place + 400]) or ["x"]
    token: str = chance.choice(
        [
            chance.choice(TOKENS),
            chance.choice(words),
            chance.choice(words),
            built(chance)[:200] or "x",
        ]
    )
    return (
        text[:place]
        + token * (chance.choice([100, 2_000, 40_000, 1_000_000]) // max(len(token), 1) + 1)
        + text[place:]
    )


def _without_breaks(text: str, chance: random.Random) -> str:
    return text.replace("\n", chance.choice(["", " ", "\r", "\\n"]))


def _returns(text: str, chance: random.Random) -> str:
    return re.sub("\n", lambda match: "\r" if chance.random() < 0.5 else match[0], text)


def _prefixed(text: str, chance: random.Random) -> str:
    prefix, most = chance.choice(PREFIXES), chance.choice([1, 4, 64, 4_000])
    return "\n".join(
        prefix.format(n=number % most, d=number % 10) + line
        for number, line in enumerate(text.split("\n"))
    )


def _words_swapped(text: str, chance: random.Random) -> str:
    words = text.split(" ")
    for _ in range(min(len(words), 30)):
        one, other = chance.randrange(len(words)), chance.randrange(len(words))
        words[one], words[other] = words[other], words[one]
    return " ".join(words)


def _characters_flipped(text: str, chance: random.Random) -> str:
    characters = list(text)
    for _ in range(min(len(characters), chance.choice([1, 10, 300]))):
        characters[chance.randrange(len(characters))] = chr(
            chance.choice([chance.randrange(128), chance.randrange(0x10FFFF)])
        )
    return "".join(characters)


def _rule_put_in(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    for _ in range(chance.randint(1, 6)):
        lines.insert(
            chance.randint(0, len(lines)),
            built(chance) if chance.random() < 0.5 else chance.choice(examples()),
        )
    return "\n".join(lines)


def _deep(text: str, chance: random.Random) -> str:
    opening, closing = chance.choice([("[", "]"), ('{"a":', "}"), ("(", ")"), ("{'loss': ", "}")])
    depth = chance.choice([10, 500, 3_000, 100_000])
    place = chance.randint(0, len(text))
    return (
        text[:place]
        + opening * depth
        + "1"
        + closing * (depth if chance.random() < 0.6 else 0)
        + text[place:]
    )


_CHANGES: Final[tuple[Callable[[str, random.Random], str], ...]] = (
    _cut_end,
    _cut_begin,
    _cut_middle,
    _lines_again,
    _lines_shuffled,
    _lines_dropped,
    _spliced,
    _interleaved,
    _token_put_in,
    _token_put_in,
    _figure_replaced,
    _token_many_times,
    _token_many_times,
    _without_breaks,
    _returns,
    _prefixed,
    _prefixed,
    _words_swapped,
    _characters_flipped,
    _rule_put_in,
    _rule_put_in,
    _deep,
)


def _planted(files: dict[str, str], chance: random.Random) -> dict[str, str]:
    """Put secrets into a log, each on a line of its own."""
    name, found = chance.choice(sorted(files)), {}
    if not name.endswith((".log", ".txt", ".out")):
        return {}
    lines = files[name].split("\n")
    for _ in range(chance.randint(1, 3)):
        value, line = "".join(chance.choice(_ALPHABET) for _ in range(34)), chance.choice(SECRETS)
        lines.insert(
            chance.choice([0, len(lines), chance.randint(0, len(lines))]),
            chance.choice(["", "", "[rank1]: ", "2024-05-01 12:00:00,123 - INFO - "])
            + line.format(value),
        )
        found[value] = line
    files[name] = "\n".join(lines)
    return found


# -- changes of bytes
# -------------------------------------------------------------------------------------------------


def _bytes_flipped(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(min(len(changed), chance.choice([1, 10, 300]))):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _utf_16(data: bytes, chance: random.Random) -> bytes:
    return data.decode("utf-8", "replace").encode(
        chance.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"]), "replace"
    )


def _crlf(data: bytes, chance: random.Random) -> bytes:
    return data.replace(b"\n", chance.choice([b"\r\n", b"\r\r\n"]))


def _noise(data: bytes, chance: random.Random) -> bytes:
    place = chance.randint(0, len(data))
    return data[:place] + chance.randbytes(chance.choice([1, 40, 3_000])) + data[place:]


def _packed(data: bytes, chance: random.Random) -> bytes:
    packers: tuple[Callable[[bytes], bytes], ...] = (
        gzip.compress,
        bz2.compress,
        lzma.compress,
        zstandard.ZstdCompressor().compress,
    )
    packed = chance.choice(packers)(data)
    return (
        packed
        if chance.random() < 0.5
        else (
            _bytes_flipped(packed, chance)
            if chance.random() < 0.5
            else packed[: chance.randint(0, len(packed))]
        )
    )


_BYTES: Final = (_bytes_flipped, _utf_16, _crlf, _noise, _packed, _packed)
