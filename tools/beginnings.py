"""What an input of a fuzz begins as: something whole.

In: a source of chance. Out: files by name, and an environment dump or nothing. Not here: what is
changed in them (`changes`).
"""

import json
import random
from collections.abc import Callable, Mapping
from typing import Any, Final

from built_texts import built
from corpus import dumps, examples, samples, text_of
from ingredients import LINES, TOKENS, figure, number, value


def _sample(chance: random.Random) -> tuple[dict[str, str], str]:
    case = chance.choice(samples())
    dump = text_of(case[-1]) if case[-1].suffix == ".env" else ""
    logs = [path for path in case if path.suffix != ".env"]
    folder = (
        logs[0].parent
        if len(logs) == 1
        else next(
            parent for parent in logs[0].parents if all(parent in path.parents for path in logs)
        )
    )
    return {str(path.relative_to(folder)).removesuffix(".gz"): text_of(path) for path in logs}, dump


def a_log(chance: random.Random) -> str:
    """Take the first log of a sample."""
    return next(iter(_sample(chance)[0].values()))


def _notebook(chance: random.Random) -> tuple[dict[str, str], str]:
    lines = a_log(chance).splitlines(keepends=True)[:400]
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
                "ename": figure(chance),
                "evalue": chance.choice(TOKENS),
                "traceback": [chance.choice(TOKENS), *lines[-5:]],
            }
        )
    if chance.random() < 0.4:
        outputs.append(_shown_table(chance))
    code = {"cell_type": "code", "execution_count": 1, "metadata": {}}
    cells: list[Any] = [
        {**code, "source": ["trainer.train()"], "outputs": [output]} for output in outputs
    ]
    if chance.random() < 0.2:
        cells.append(value(chance, 5))
    whole = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    indent = chance.choice([None, 1])
    return {"run.ipynb": json.dumps(whole, indent=indent, ensure_ascii=chance.random() < 0.5)}, ""


def _shown_table(chance: random.Random) -> dict[str, Any]:
    """Give an output of a notebook that shows the trainer's table, and a picture."""
    rows = "".join(
        f"<tr><td>{step}</td><td>{figure(chance)}</td><td>{figure(chance)}</td></tr>\n"
        for step in range(chance.randint(0, 40))
    )
    head = "<tr><th>Step</th><th>Training Loss</th><th>Validation Loss</th></tr>"
    return {
        "output_type": "display_data",
        "data": {
            "text/html": [f"<table>\n{head}\n{rows}</table>"],
            "image/png": "aGVsbG8=" * chance.randint(0, 500),
        },
        "metadata": {},
    }


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
                    figure(chance)
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
            "step": number(chance, step),
            "loss": number(chance, 3 / (step + 1)),
            "learning_rate": number(chance, 1e-5),
            "grad_norm": number(chance, 1.0),
        }
        for step in range(chance.randint(0, 80))
    ]
    if entries and chance.random() < 0.3:
        entries.insert(chance.randrange(len(entries)), value(chance, 6))
    state = {
        "best_metric": number(chance, 1.0),
        "epoch": 1.0,
        "global_step": number(chance, len(entries)),
        "log_history": entries,
        "max_steps": number(chance, 100),
        "num_train_epochs": 1,
        "train_batch_size": 1,
    }
    files = {"trainer_state.json": json.dumps(state, indent=chance.choice([None, 2]))}
    if chance.random() < 0.5:
        files["run.log"] = a_log(chance)
    return files, ""


def _error_file(chance: random.Random) -> tuple[dict[str, str], str]:
    stack = "".join(a_log(chance).splitlines(keepends=True)[-30:]) + chance.choice(
        ["", chance.choice(TOKENS)]
    )
    record = {
        "message": {
            "message": stack[-80:],
            "extraInfo": {
                "py_callstack": stack,
                "timestamp": chance.choice(["1714564801", figure(chance), value(chance, 2)]),
            },
        }
    }
    return {
        f"rank{chance.randint(0, 9)}/error.json": json.dumps(record),
        "run.log": a_log(chance),
    }, ""


def _dump(chance: random.Random) -> tuple[dict[str, str], str]:
    dump = chance.choice(dumps()).decode("utf-8", "replace")
    return ({"run.log": a_log(chance)}, dump) if chance.random() < 0.6 else ({"run.log": dump}, "")


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


BEGINNINGS: Final[Mapping[Callable[[random.Random], tuple[dict[str, str], str]], int]] = {
    _sample: 48,
    _notebook: 6,
    _table: 6,
    _state: 6,
    _error_file: 3,
    _dump: 4,
    _examples: 10,
    _attack: 10,
    _tokens: 5,
    _many: 4,
}
"""How often an input begins so, in parts of all."""
