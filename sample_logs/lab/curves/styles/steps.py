"""Styles that print steps: Trainer, mmengine, nanoGPT, tqdm, Megatron, torchvision, fairseq, and others."""

from collections.abc import Iterator

from curves.styles.writing import Writer, bar, short_span, span


def trainer(w: Writer) -> Iterator[str]:
    """Dicts of the Hugging Face Trainer."""
    w.dialect = "hf"
    quoted = w.rng.random() < 0.25
    for record in w.sheet.records:
        mark = "'" if quoted else ""
        shown = [
            f"'{name}': {mark}{short_rate(name, text)}{mark}"
            for name, text in w.pairs(record.values or record.valid)
        ]
        if record.valid:
            shown.append(
                f"'eval_runtime': {max(record.valid.get('eval_time', 0.001) * w.plan.time_scale, 0.001):.4f}"
            )
        epoch = record.step / w.sheet.per_epoch
        yield "{" + ", ".join([*shown, f"'epoch': {mark}{round(epoch, 2)}{mark}"]) + "}"


def short_rate(name: str, text: str) -> str:
    """A rate as Python prints a float."""
    return repr(float(f"{float(text):.5g}")) if name == "learning_rate" else text


def mmengine(w: Writer) -> Iterator[str]:
    """Lines of mmengine's LoggerHook."""
    w.dialect = "mm"
    for record in w.sheet.records:
        head = f"{w.clock(record, '%Y/%m/%d %H:%M:%S')} - mmengine - INFO - "
        if record.values:
            place = f"Epoch(train) {record.epoch:>3d}"
            place = f"Epoch(train)  [{record.epoch}][{w.in_epoch(record):>3d}/{w.sheet.per_epoch}]"
            order = [name for name in ("lr", "step_time", "data_time") if name in record.values]
            rest = {key: value for key, value in record.values.items() if key not in order}
            parts = [f"lr: {record.values['lr']:.4e}"] if "lr" in order else []
            parts.append(f"eta: {span(w.remaining(record))}")
            if "step_time" in order:
                parts.append(f"time: {w.text('step_time', record.values['step_time'])}")
                w.names["step_time"] = "time"
            if "data_time" in order:
                parts.append(
                    f"{w.name('data_time')}: {w.text('data_time', record.values['data_time'])}"
                )
            yield head + place + "  " + "  ".join([*parts, w.joined(rest, separator="  ")])
        else:
            shown = {
                key.removeprefix("val_") if key != "val_loss" else key: value
                for key, value in record.valid.items()
            }
            for key in record.valid:
                w.names[key] = key.removeprefix("val_") if key != "val_loss" else key
            text = "  ".join(
                f"{w.sheet.task.name.split('-')[0]}/{key}: {w.text(key, value)}"
                for key, value in shown.items()
                if key != "eval_time"
            )
            yield f"{head}Epoch(val) [{record.epoch}][{4 + w.choice % 9}/{4 + w.choice % 9}]    {text}"


def nanogpt(w: Writer) -> Iterator[str]:
    """`iter 100: loss 2.3102, time 12.31ms`, and `step 250: train loss …, val loss …`."""
    w.dialect = "keras"
    for record in w.sheet.records:
        if record.values:
            rest = dict(record.values)
            time = rest.pop("step_time", None)
            text = w.joined(rest, link=" ")
            if time is not None:
                w.names["step_time"] = "time"
                text += f", time {time * 1000:.2f}ms"
            yield f"iter {record.step}: {text}"
        else:
            yield f"step {record.step}: " + ", ".join(
                f"{name.replace('_', ' ')} {text}" for name, text in w.pairs(record.valid)
            )


def tqdm_bar(w: Writer) -> Iterator[str]:
    """A bar over the steps, one line for each refresh that was kept."""
    w.dialect = "short"
    total = w.sheet.total_steps
    named = (
        f"Epoch {w.sheet.records[0].epoch}: "
        if w.rng.random() < 0.2
        else w.rng.choice(("", "", "Training: "))
    )
    for record in w.sheet.records:
        share = record.step / total
        speed = (record.step - w.sheet.offset) / record.clock if record.clock else 0.0
        rate = f"{speed:.2f}it/s" if speed >= 1 else f"{1 / max(speed, 1e-9):.2f}s/it"
        times = f"[{short_span(record.clock)}<{short_span(w.remaining(record))}, {rate}"
        if record.values:
            yield f"{named}{share * 100:3.0f}%|{bar(share, 10)}| {record.step}/{total} {times}, {w.joined(record.values, link='=')}]"
        else:
            yield w.rng.choice(("[eval] ", "Evaluation: ")) + w.joined(record.valid, link="=")


def prefixed(w: Writer) -> Iterator[str]:
    """A logger's prefix with the clock time."""
    w.dialect = w.rng.choice(("plain", "slash", "hf", "keras"))
    name = w.rng.choice(("train", "__main__", "trainer", "root", "engine"))
    form = w.rng.choice(
        (
            "{t},{ms} - {n} - INFO - ",
            "[{t}][{n}][INFO] ",
            "{t} INFO {n}: ",
            "INFO:{n}:",
            "{t} | INFO | {n}:train:128 - ",
        )
    )
    word = w.rng.choice(("step", "iter", "global_step", "update"))
    link = w.rng.choice(("=", ": ", " "))
    for record in w.sheet.records:
        head = form.format(t=w.clock(record), ms=f"{int(record.clock * 1000) % 1000:03d}", n=name)
        place = (
            f"epoch{link}{record.epoch} {word}{link}{record.step}"
            if w.choice % 2
            else f"{word}{link}{record.step}/{w.sheet.total_steps}"
        )
        if record.values:
            yield f"{head}{place} {w.joined(record.values, link=link, separator=' ')}"
        else:
            yield f"{head}{'Evaluation' if w.choice % 3 else 'validation'} at {word} {record.step}: {w.joined(record.valid, link=link)}"


def megatron(w: Writer) -> Iterator[str]:
    """Megatron's long lines between bars."""
    w.dialect = "mega"
    for record in w.sheet.records:
        if not record.values:
            shown = " | ".join(
                f"{name.removeprefix('val_')} value: {text}" for name, text in w.pairs(record.valid)
            )
            yield "-" * 88
            yield f" validation loss at iteration {record.step} | {shown} |"
            yield "-" * 88
            continue
        rest = dict(record.values)
        parts = [
            f" iteration {record.step:8d}/{w.sheet.total_steps:8d}",
            f"consumed samples: {record.step * w.sheet.config.batch:12d}",
        ]
        if "step_time" in rest:
            w.names["step_time"] = "elapsed time per iteration (ms)"
            parts.append(f"elapsed time per iteration (ms): {rest.pop('step_time') * 1000:.1f}")
        if "lr" in rest:
            w.names["lr"] = "learning rate"
            parts.append(f"learning rate: {rest.pop('lr'):.3E}")
        parts.append(f"global batch size: {w.sheet.config.batch:5d}")
        for key, value in rest.items():
            shown = "lm loss" if key == "loss" else key.replace("_", " ")
            w.names["loss" if key == w.sheet.task.primary else key] = shown
            parts.append(f"{shown}: {w.text(key, value)}")
        yield (
            " | ".join(parts)
            + " | number of skipped iterations:   0 | number of nan iterations:   0 |"
        )


def torchvision(w: Writer) -> Iterator[str]:
    """MetricLogger of the torchvision references: value and running mean."""
    w.dialect = "vision"
    sums: dict[str, list[float]] = {}
    epoch = 0
    for record in w.sheet.records:
        if record.epoch != epoch:
            sums, epoch = {}, record.epoch
        if not record.values:
            yield f"Test:  {w.joined(record.valid, link=' ', separator=' ')}"
            continue
        parts = []
        for key, value in record.values.items():
            kept = sums.setdefault(key, [])
            kept.append(value)
            shown = {"step_time": "time", "data_time": "data", "throughput": "img/s"}.get(
                key
            ) or w.name(key)
            w.names["loss" if key == w.sheet.task.primary else key] = shown
            text = w.text(key, value)
            parts.append(
                f"{shown}: {text}"
                + ("" if key == "lr" else f" ({w.text(key, sum(kept) / len(kept))})")
            )
        yield (
            f"Epoch: [{epoch - 1 + w.plan.count_from}]  [{w.in_epoch(record):>4d}/{w.sheet.per_epoch}]  eta: {span(w.remaining(record))}  "
            + "  ".join(parts)
        )


def estimator(w: Writer) -> Iterator[str]:
    """TensorFlow's estimator."""
    w.dialect = "keras"
    before = None
    for record in w.sheet.records:
        if record.values:
            gone = "" if before is None else f" ({record.clock - before:.3f} sec)"
            before = record.clock
            yield f"INFO:tensorflow:{w.joined(record.values, link=' = ')}, step = {record.step}{gone}"
        else:
            yield f"INFO:tensorflow:Saving dict for global step {record.step}: global_step = {record.step}, {w.joined(record.valid, link=' = ')}"


def detectron(w: Writer) -> Iterator[str]:
    """detectron2's CommonMetricPrinter."""
    w.dialect = "det"
    for record in w.sheet.records:
        head = f"[{w.clock(record, '%m/%d %H:%M:%S')} d2."
        if record.values:
            rest = dict(record.values)
            times = ""
            if "step_time" in rest:
                w.names["step_time"] = "time"
                times = f"time: {w.text('step_time', rest.pop('step_time'))}  "
            if "data_time" in rest:
                times += f"{w.name('data_time')}: {w.text('data_time', rest.pop('data_time'))}  "
            w.names["loss"] = "total_loss"
            rate = rest.pop("lr", None)
            text = "  ".join(
                f"{'total_loss' if key == w.sheet.task.primary else w.name(key)}: {w.text(key, value)}"
                for key, value in rest.items()
            )
            w.names["loss"] = "total_loss"
            tail = "" if rate is None else f"{w.name('lr')}: {w.text('lr', rate)}  "
            yield f"{head}utils.events]:  eta: {span(w.remaining(record))}  iter: {record.step - 1}  {text}  {times}{tail}".rstrip()
        else:
            yield f"{head}evaluation.testing]: copypaste: {w.joined(record.valid, link='=', separator=',')}"


def fairseq(w: Writer) -> Iterator[str]:
    """JSON in the log, as fairseq prints it."""
    w.dialect = "plain"
    w.choice = w.choice // 4 * 4
    for record in w.sheet.records:
        kind = "train_inner" if record.values else "valid"
        shown = "".join(
            f', "{name}": "{text}"' for name, text in w.pairs(record.values or record.valid)
        )
        yield f'{w.clock(record)} | INFO | {kind} | {{"epoch": {record.epoch}, "update": {record.step / w.sheet.per_epoch:.3f}{shown}, "num_updates": "{record.step}"}}'


def bracket(w: Writer) -> Iterator[str]:
    """`Epoch [3/20], Step [100/938], Loss: 0.1234`."""
    w.dialect = "title"
    for record in w.sheet.records:
        if record.values:
            parts = ", ".join(
                f"{name.removeprefix('Train ')}: {text}" for name, text in w.pairs(record.values)
            )
            w.names = {key: value.removeprefix("Train ") for key, value in w.names.items()}
            yield f"Epoch [{record.epoch}/{w.sheet.total_epochs}], Step [{w.in_epoch(record)}/{w.sheet.per_epoch}], {parts}"
        else:
            yield f"Epoch [{record.epoch}/{w.sheet.total_epochs}] {w.joined(record.valid)}"


def blocks(w: Writer) -> Iterator[str]:
    """Tables of Stable-Baselines3: one block for each record."""
    w.dialect = "sb"
    for record in w.sheet.records:
        group = "train/" if record.values else "eval/"
        rows = [(f"{group}", "")]
        rows += [(f"   {name}", text) for name, text in w.pairs(record.values or record.valid)]
        rows += [
            ("time/", ""),
            ("   iterations", str(record.step)),
            ("   time_elapsed", str(int(record.clock))),
            ("   total_timesteps", str(record.step * w.sheet.config.batch)),
        ]
        left, right = max(len(one) for one, _ in rows) + 2, max(len(one) for _, one in rows) + 2
        edge = "-" * (left + right + 5)
        yield edge
        for name, text in rows:
            yield f"| {name:<{left}}| {text:<{right}}|"
        yield edge
