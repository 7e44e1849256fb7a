"""Styles that print epochs, and files with one row for each record."""

import json
import math
from collections.abc import Iterator

from curves.styles.writing import Writer, bar, short_span


def keras(w: Writer) -> Iterator[str]:
    """Keras: the epoch's heading and its last bar."""
    w.dialect = "keras"
    size, before = w.sheet.per_epoch, 0.0
    new = w.rng.random() < 0.5
    for record in w.sheet.records:
        seconds = max(record.clock - before, 0.0)
        before = record.clock
        each = seconds / size
        pace = f"{each * 1000:.0f}ms/step" if each < 1 else f"{each:.0f}s/step"
        line = "━" * 20 if new else "=" * 30
        values = {
            key: value
            for key, value in record.values.items()
            if key not in {"step_time", "data_time", "throughput"}
        }
        yield f"Epoch {record.epoch}/{w.sheet.total_epochs}"
        text = w.joined({**values, **record.valid}, separator=" - ")
        yield f"{size}/{size} {line if new else '[' + line + ']'} {'' if new else '- '}{seconds:.0f}s {pace} - {text}"


def lightning(w: Writer) -> Iterator[str]:
    """Lightning's bar at each epoch's end."""
    w.dialect = "plain"
    size = w.sheet.per_epoch
    before = 0.0
    version = w.rng.randrange(4)
    for record in w.sheet.records:
        seconds = max(record.clock - before, 1e-6)
        before = record.clock
        text = w.joined({**record.values, **record.valid}, link="=")
        yield f"Epoch {record.epoch - 1}: 100%|{bar(1, 10)}| {size}/{size} [{short_span(seconds)}<00:00, {size / seconds:.2f}it/s, v_num={version}, {text}]"


def csv(w: Writer) -> Iterator[str]:
    """Comma-separated, a heading first; a missing value is empty."""
    w.dialect = w.rng.choice(("plain", "keras", "slash"))
    keys: list[str] = []
    for record in w.sheet.records:
        keys += [
            key for key in (*record.values, *record.valid) if key not in keys and key != "eval_time"
        ]
    mark = w.rng.choice((",", ",", "\t", ";"))
    yield mark.join(["epoch", "step", *(w.name(key) for key in keys)])
    for record in w.sheet.records:
        both = {**record.values, **record.valid}
        yield mark.join(
            [
                str(record.epoch),
                str(record.step),
                *(w.text(key, both[key]) if key in both else "" for key in keys),
            ]
        )


def jsonl(w: Writer) -> Iterator[str]:
    """One JSON object for each record."""
    w.dialect = w.rng.choice(("plain", "keras", "slash", "hf"))
    stamped = w.rng.random() < 0.4
    for record in w.sheet.records:
        row: dict[str, object] = {"time": w.clock(record, "%Y-%m-%dT%H:%M:%S")} if stamped else {}
        row |= {"epoch": record.epoch, "step": record.step}
        for key, value in {**record.values, **record.valid}.items():
            if key != "eval_time":
                number = float(w.text(key, value))
                row[w.name(key)] = (
                    int(number) if math.isfinite(number) and key == "val_modes" else number
                )
        yield json.dumps(row)


def table(w: Writer) -> Iterator[str]:
    """Columns under a heading, as fastai prints."""
    w.dialect = "plain"
    keys: list[str] = []
    for record in w.sheet.records:
        keys += [
            key for key in (*record.values, *record.valid) if key not in keys and key != "eval_time"
        ]
    names = [w.name(key) for key in keys]
    wide = [max(len(name), 10) + 2 for name in names]
    ruled = w.rng.random() < 0.4
    heading = (
        f"{'epoch':<8}"
        + "".join(f"{name:<{size}}" for name, size in zip(names, wide, strict=True))
        + "time"
    )
    yield heading.rstrip()
    if ruled:
        yield "-" * len(heading)
    before = 0.0
    for record in w.sheet.records:
        both = {**record.values, **record.valid}
        cells = "".join(
            f"{w.text(key, both[key]) if key in both else '':<{size}}"
            for key, size in zip(keys, wide, strict=True)
        )
        yield f"{record.epoch - 1 + w.plan.count_from:<8}{cells}{short_span(record.clock - before)}"
        before = record.clock


def pipes(w: Writer) -> Iterator[str]:
    """`epoch 3 | train loss 0.51 | val loss 0.60`."""
    w.dialect = "plain"
    word = w.rng.choice(("epoch", "Epoch", "| epoch", "ep"))
    link = w.rng.choice((" ", ": ", "="))
    timed = w.rng.random() < 0.4
    before = 0.0
    for record in w.sheet.records:
        parts = [
            f"{name.replace('_', ' ')}{link}{text}"
            for name, text in w.pairs({**record.values, **record.valid})
        ]
        if timed:
            parts.append(f"time{link}{record.clock - before:.2f}s")
        before = record.clock
        yield " | ".join([f"{word} {record.epoch - 1 + w.plan.count_from:>3d}", *parts])


def bracket_epoch(w: Writer) -> Iterator[str]:
    """`Epoch [3/20] Train Loss: 0.51, Val Loss: 0.60`."""
    w.dialect = w.rng.choice(("title", "title", "plain"))
    form = w.rng.choice(
        (
            "Epoch [{e}/{n}] ",
            "Epoch {e}/{n} - ",
            "Epoch: {e}/{n}, ",
            "[Epoch {e}] ",
            "Epoch {e:03d}: ",
        )
    )
    for record in w.sheet.records:
        yield form.format(e=record.epoch, n=w.sheet.total_epochs) + w.joined(
            {**record.values, **record.valid}
        )


def two_lines(w: Writer) -> Iterator[str]:
    """Training and validation on a line each under the epoch's heading."""
    w.dialect = "title"
    heading = w.rng.choice(("Epoch {e}/{n}", "===== Epoch {e} =====", "Epoch {e}/{n}\n----------"))
    for record in w.sheet.records:
        yield from heading.format(e=record.epoch, n=w.sheet.total_epochs).split("\n")
        yield "  " + w.joined(record.values, separator=" | ")
        if any(key != "eval_time" for key in record.valid):
            yield "  " + w.joined(record.valid, separator=" | ")


def chinese(w: Writer) -> Iterator[str]:
    """Chinese words."""
    w.dialect = "chinese"
    form = w.rng.choice(("第{e}轮 ", "第 {e}/{n} 轮: ", "轮次 [{e}/{n}] ", "[训练] 轮次 {e} "))
    link, separator = w.rng.choice(((":", " "), (": ", ", "), ("=", " "), (":", ",")))
    for record in w.sheet.records:
        place = form.format(e=record.epoch, n=w.sheet.total_epochs)
        if w.plan.layout == "step":
            place += f"步数 {record.step}/{w.sheet.total_steps} "
        yield place + w.joined({**record.values, **record.valid}, link=link, separator=separator)


def printed_dict(w: Writer) -> Iterator[str]:
    """`Epoch 3 {'train_loss': 0.51, …}`: a dict printed as it is."""
    w.dialect = w.rng.choice(("plain", "slash", "keras"))
    for record in w.sheet.records:
        shown = ", ".join(
            f"'{name}': {text}" for name, text in w.pairs({**record.values, **record.valid})
        )
        place = f"Step {record.step}" if w.plan.layout == "step" else f"Epoch {record.epoch}"
        yield f"{place}: {{{shown}}}"
