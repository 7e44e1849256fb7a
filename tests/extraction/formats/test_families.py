"""A known curve is written as each program prints it, and read back.

Every record one point, its step, its line.
"""

import io
import math
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import postmortem
from postmortem.extraction.facts.series import Series
from postmortem.extraction.source_extractor import SourceExtractor
from postmortem.pipeline import get_matcher
from postmortem.reading.sources import iter_blocks

Expected = dict[str, list[tuple[float, float, int]]]
"""By name: (step, value, raw line) of every point."""


class Log:
    """A log under construction, and the curves that are in it."""

    def __init__(self, seed: int) -> None:
        """Begin empty."""
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.curves: Expected = {}
        self.length = self.random.randint(6, 24)

    def add(self, text: str, step: float = math.nan, **values: str) -> None:
        """Add a line, and the points that it prints."""
        self.lines.append(text)
        for name, value in values.items():
            self.curves.setdefault(name, []).append((step, float(value), len(self.lines)))

    def loss(self, digits: str = ".4f") -> str:
        """A loss as printed, now and then not finite."""
        return self.random.choice(
            [*[format(self.random.uniform(0.5, 9), digits)] * 9, "nan", "inf"]
        )

    def rate(self, digits: str = ".4e") -> str:
        """A learning rate as printed."""
        return format(self.random.uniform(1e-6, 1e-3), digits)


def trainer_4(log: Log) -> None:
    """Trainer of transformers 4: floats, an evaluation now and then, a closing summary."""
    for index in range(log.length):
        loss, norm, rate = log.loss(), log.loss(".16f"), log.rate(".17g")
        log.add(
            f"{{'loss': {loss}, 'grad_norm': {norm}, 'learning_rate': {rate}, 'epoch': {index / 100}}}",
            loss=loss,
            grad_norm=norm,
            learning_rate=rate,
        )
        if index % 5 == 4:
            log.add(
                f"{{'eval_loss': {loss}, 'eval_runtime': 3.3, 'eval_samples_per_second': 30.1, 'eval_steps_per_second': 3.8, 'epoch': 1.0}}",
                eval_loss=loss,
            )
    log.add(
        "{'train_runtime': 812.4, 'train_samples_per_second': 3.7, 'train_steps_per_second': 0.46, 'train_loss': 1.234, 'epoch': 3.0}"
    )


def trainer_5(log: Log) -> None:
    """Trainer of transformers 5: every float a string."""
    for index in range(log.length):
        loss, norm, rate = log.loss(".4g"), log.loss(".4g"), log.rate(".4g")
        log.add(
            f"{{'loss': '{loss}', 'grad_norm': '{norm}', 'learning_rate': '{rate}', 'epoch': '{index / 100:.4g}'}}",
            loss=loss,
            grad_norm=norm,
            learning_rate=rate,
        )
    log.add(
        "{'train_runtime': '812.4', 'train_samples_per_second': '3.7', 'train_loss': '1.234', 'epoch': '3'}"
    )


def trainer_bar(log: Log) -> None:
    """Records between the draws of the bar that tells their step."""
    total = 10 * log.length
    for step in range(10, total + 1, 10):
        loss = log.loss()
        bars = "".join(
            f"\r {100 * now // total:3d}%|#    | {now}/{total} [00:09<15:12,  1.84s/it]"
            for now in range(step - 3, step)
        )
        log.add(
            f"{bars}\r                    \r{{'loss': {loss}, 'learning_rate': 1e-05, 'epoch': {step / 100}}}",
            step,
            loss=loss,
        )
        log.lines.append("")
        log.lines.append(
            f" {100 * step // total:3d}%|#    | {step}/{total} [00:09<15:12,  1.84s/it]"
        )


def trainer_rewards(log: Log) -> None:
    """GRPO."""
    for index in range(log.length):
        loss, reward, kl = log.loss(".4f"), log.loss(".4f"), log.loss(".6g")
        log.add(
            f"{{'loss': {loss}, 'grad_norm': 0.5, 'learning_rate': 1e-06, 'num_tokens': {512.0 * index}, 'completions/mean_length': 128.5, 'rewards/format/mean': 0.25, 'reward': {reward}, "
            f"'reward_std': 0.125, 'kl': {kl}, 'clip_ratio/low_mean': 0.0, 'epoch': 0.01}}",
            loss=loss,
            reward=reward,
            kl=kl,
        )


def trainer_ppo(log: Log) -> None:
    """PPO: a record without a loss of its own name."""
    for index in range(log.length):
        kl, policy, rate = log.loss(".6g"), log.loss(".6g"), log.rate()
        log.add(
            f"{{'eps': 0, 'objective/kl': {kl}, 'objective/entropy': 40.5, 'loss/policy_avg': {policy}, 'loss/value_avg': 0.125, 'val/ratio': 1.0, 'lr': {rate}, 'episode': {index * 64}, 'epoch': 0.1}}",
            **{"objective/kl": kl, "loss/policy_avg": policy, "learning_rate": rate},
        )


def llamafactory(log: Log) -> None:
    """trainer_log.jsonl, with the nulls of old versions."""
    key = log.random.choice(["lr", "learning_rate"])
    for step in range(10, 10 * log.length, 10):
        loss, rate = log.loss().replace("nan", "NaN").replace("inf", "Infinity"), log.rate()
        log.add(
            f'{{"current_steps": {step}, "total_steps": 375, "loss": {loss}, "eval_loss": null, "{key}": {rate}, "epoch": 0.08, "percentage": 2.67, "elapsed_time": "0:00:12", "remaining_time": "0:07:18", '
            '"throughput": 1234.5, "total_tokens": 15000}',
            step,
            loss=loss,
            learning_rate=rate,
        )
    log.add(
        '{"current_steps": 370, "total_steps": 375, "eval_loss": 1.5, "epoch": 1.0, "percentage": 98.67, "elapsed_time": "0:10:12", "remaining_time": "0:00:18"}',
        370,
        eval_loss="1.5",
    )


def mmengine_iter(log: Log) -> None:
    """By iteration, in colours."""
    for step in range(10, 10 * log.length, 10):
        loss, rate, norm = log.loss(), log.rate(), log.loss()
        log.add(
            f"08/02 10:00:00 - mmengine - \x1b[4m\x1b[97mINFO\x1b[0m - Iter(train) [{step:5d}/12000]  base_lr: 1.0000e-03 lr: {rate}  eta: 1 day, 5:01:02  time: 1.5060  data_time: 0.0085  memory: 15423  grad_norm: {norm}  loss: {loss}",
            step,
            loss=loss,
            learning_rate=rate,
            grad_norm=norm,
        )


def mmengine_epoch(log: Log) -> None:
    """By epoch, with validation between."""
    for epoch in (1, 2, 3):
        for now in range(50, 271, 50):
            loss = log.loss()
            log.add(
                f"2024/08/02 10:00:00 - mmengine - INFO - Epoch(train)  [{epoch}][{now:3d}/270]  lr: 2.0000e-05  eta: 1:02:03  time: 0.5123  data_time: 0.0101  memory: 12345  loss: {loss}",
                (epoch - 1) * 270 + now,
                loss=loss,
            )
        log.add(
            f"2024/08/02 10:00:00 - mmengine - INFO - Epoch(val) [{epoch}][20/40]    eta: 0:00:10  time: 0.5  data_time: 0.0101  memory: 12345"
        )
        log.add(
            f"2024/08/02 10:00:00 - mmengine - INFO - Epoch(val) [{epoch}][40/40]    accuracy/top1: 71.25  data_time: 0.0101  time: 0.1125"
        )


def mmengine_json(log: Log) -> None:
    """scalars.json."""
    for step in range(10, 10 * log.length, 10):
        loss = log.loss().replace("nan", "NaN").replace("inf", "Infinity")
        log.add(
            f'{{"lr": 2e-05, "data_time": 0.008, "grad_norm": 1.5, "loss": {loss}, "time": 0.5, "iter": {step}, "memory": 15423, "step": {step}}}',
            step,
            loss=loss,
        )
    log.add('{"accuracy/top1": 71.25, "data_time": 0.01, "time": 0.1, "step": 3}')


def mmcv_text(log: Log) -> None:
    """Mmcv 1.x on screen."""
    for epoch in (1, 2):
        for now in range(50, 7330, 700):
            loss, rate = log.loss(), log.rate(".3e")
            log.add(
                f"2021-05-01 12:00:00,123 - mmdet - INFO - Epoch [{epoch}][{now}/7330]\tlr: {rate}, eta: 1 day, 2:03:04, time: 0.512, data_time: 0.052, memory: 4321, loss_cls: 0.5123, loss: {loss}, grad_norm: 12.3456",
                (epoch - 1) * 7330 + now,
                loss=loss,
                learning_rate=rate,
            )
        log.add(
            f"2021-05-01 12:00:00,123 - mmdet - INFO - Epoch(val) [{epoch}][1000]\tbbox_mAP: 0.3710, bbox_mAP_50: 0.5810"
        )


def mmcv_json(log: Log) -> None:
    """Mmcv 1.x in .log.json."""
    log.add(
        '{"env_info": "sys.platform: linux\\nPython: 3.8", "seed": 0, "exp_name": "x.py", "epoch": 1}'
    )
    for now in range(50, 50 * log.length, 50):
        loss = log.loss().replace("nan", "NaN").replace("inf", "Infinity")
        log.add(
            f'{{"mode": "train", "epoch": 1, "iter": {now}, "lr": 0.00198, "memory": 4321, "data_time": 0.05, "loss_cls": 0.5, "loss": {loss}, "grad_norm": 2.5, "time": 0.4}}',
            loss=loss,
        )
    log.add('{"mode": "val", "epoch": 1, "iter": 500, "lr": 0.002, "bbox_mAP": 0.37}')


def _megatron(log: Log, before: str, middle: str, rate_digits: str, behind: str = "") -> None:
    for step in range(100, 100 * log.length, 100):
        loss, rate, norm = log.loss(".6E"), log.rate(rate_digits), log.loss(".3f")
        log.add(
            f"{before} iteration {step:8d}/  500000 |{middle} elapsed time per iteration (ms): 512.3 | learning rate: {rate} | global batch size:   256 | lm loss: {loss.upper() if loss == 'nan' else loss} | "
            f"loss scale: 65536.0 | grad norm: {norm} | num zeros: 0.0 |{behind} number of skipped iterations:   0 | number of nan iterations:   0 |",
            step,
            loss=loss,
            learning_rate=rate,
            grad_norm=norm,
            loss_scale="65536",
        )
    log.add(
        " validation loss at iteration 1000 | lm loss value: 2.345678E+00 | lm loss PPL: 1.044E+01 | ",
        1000,
        eval_loss="2.345678",
    )


def megatron_old(log: Log) -> None:
    """Megatron-LM 2.5 to core 0.5."""
    _megatron(log, "", " consumed samples:        25600 |", ".3E", " params norm: 123.4 |")


def megatron_core(log: Log) -> None:
    """Megatron core 0.7."""
    _megatron(
        log,
        " [2024-09-01 12:00:00]",
        " consumed samples:        25600 |",
        ".6E",
        " skipped samples: 0 |",
    )


def megatron_head(log: Log) -> None:
    """Megatron core, microseconds and throughput."""
    _megatron(
        log,
        " [2025-09-01 12:00:00.123456]",
        " consumed samples:        25600 | throughput per GPU (TFLOP/s/GPU): 412.3 |",
        ".6E",
    )


def megatron_deepspeed(log: Log) -> None:
    """Megatron-DeepSpeed."""
    for step in range(10, 10 * log.length, 10):
        loss, rate = log.loss(".6E"), log.rate(".3E")
        log.add(
            f"[default7]: iteration {step:8d}/  500000 | consumed samples:        25600 | consumed tokens:     52428800 | elapsed time per iteration (s): 10.12 | learning rate: {rate} | global batch size:   256 | lm loss: {loss} | "
            "grad norm: 1.234 | num zeros: 0.0 | number of skipped iterations:   0 | number of nan iterations:   0 | samples per second: 25.3 | TFLOPs: 120.5 |",
            step,
            loss=loss,
            learning_rate=rate,
        )


def neox(log: Log) -> None:
    """gpt-neox."""
    for step in range(10, 10 * log.length, 10):
        loss, rate = log.loss(".6E"), log.rate(".3E")
        log.add(
            f" samples/sec: 12.345 | iteration {step:8d}/  320000 | elapsed time per iteration (ms): 512.3 | learning rate: {rate} | approx flops per GPU: 45.1TFLOPS | lm_loss: {loss} | loss scale: 65536.0 | "
            "number of skipped iterations:   0 | number of nan iterations:   0 |",
            step,
            loss=loss,
            learning_rate=rate,
        )


def _lightning(log: Log, tail: str) -> None:
    """Bars of an interval of 5 in epochs of 20, with the redraws at the end of each."""
    old = ""
    for epoch in range(3):
        frames = [f"Epoch {epoch}:   0%|          | 0/20 [00:00<?, ?it/s{old}]"]
        begin = len(log.lines) + 1
        for now in range(5, 21, 5):
            loss = log.loss(".3f")
            shown = f", {tail}train_loss={loss if loss not in {'nan', 'inf'} else loss + '.0'}"
            frames += [
                f"Epoch {epoch}:  50%|#####     | {now}/20 [00:00<00:00, 36.08it/s{old}]",
                f"Epoch {epoch}:  50%|#####     | {now}/20 [00:00<00:00, 36.02it/s{shown}]",
            ]
            log.curves.setdefault("loss", []).append((epoch * 20 + now, float(loss), begin))
            old = shown
        log.lines.append("\r" + "\r".join(frames))
        log.lines.append("\rValidation: |          | 0/? [00:00<?, ?it/s]\x1b[A")
        log.lines.append(
            "\rValidation DataLoader 0: 100%|##########| 4/4 [00:00<00:00, 13.37it/s]\x1b[A"
        )
        old += ", val_loss=1.900"
        log.lines.append(
            "\r"
            + "\r".join(
                [f"Epoch {epoch}: 100%|##########| 20/20 [00:00<00:00, 25.49it/s{old}]"] * 2
                + [f"Epoch {epoch}:   0%|          | 0/20 [00:00<?, ?it/s{old}]"]
            )
        )
        last = log.curves["loss"][-1]
        # of the draws at one position the last is the record
        log.curves["loss"][-1] = (*last[:2], len(log.lines))
    log.add("`Trainer.fit` stopped: `max_epochs=3` reached.")


def lightning_bar(log: Log) -> None:
    """A bar with a logger."""
    _lightning(log, "v_num=3, ")


def lightning_without_logger(log: Log) -> None:
    """A bar without one."""
    _lightning(log, "")


def tqdm_in_the_loop(log: Log) -> None:
    """`for batch in bar: ...; bar.set_postfix(loss=...)`.

    The metrics of a step are drawn before the bar moves on.
    """
    frames, total = [], log.length
    for step in range(1, total + 1):
        loss = log.loss(".3f")
        frames += [
            f"Epoch 0:   1%|          | {step - 1}/{total} [00:00<00:00, 36.08it/s, loss={loss}]",
            f"Epoch 0:   1%|          | {step}/{total} [00:00<00:00, 36.08it/s, loss={loss}]",
        ]
        log.curves.setdefault("loss", []).append((step, float(loss), 1))
    log.lines.append("\r" + "\r".join(frames))


def nanogpt(log: Log) -> None:
    """NanoGPT."""
    log.add("step 0: train loss 10.9876, val loss 10.9801", 0, eval_loss="10.9801")
    for step in range(0, 10 * log.length, 10):
        loss = log.loss()
        log.add(f"iter {step}: loss {loss}, time 245.67ms, mfu 31.23%", step, loss=loss)


def nanogpt_kin(log: Log) -> None:
    """llm.c, build-nanogpt and the like."""
    for step in range(log.length):
        loss, norm, rate = log.loss(".6f"), log.loss(), log.rate()
        log.add(
            f"step {step:4d} | loss: {loss} | lr {rate} | norm: {norm} | dt: 512.25ms | tok/sec: 1023456.78",
            step,
            loss=loss,
            grad_norm=norm,
            learning_rate=rate,
        )


def torchtitan(log: Log) -> None:
    """Torchtitan in colours."""
    for step in range(10, 10 * log.length, 10):
        loss, norm = log.loss("8.5f"), log.loss("7.4f")
        log.add(
            f"[rank0]:[titan] 2025-03-01 12:00:00,123 - root - INFO - \x1b[31mstep: {step:2}  \x1b[32mloss: {loss}  \x1b[38;2;180;60;0mgrad_norm: {norm}  \x1b[38;2;54;234;195mmemory: 45.67GiB(57.12%)  "
            "\x1b[34mtps: 7,123  \x1b[36mtflops: 412.34  \x1b[35mmfu: 41.69%\x1b[39m",
            step,
            loss=loss.strip(),
            grad_norm=norm.strip(),
            throughput="7123",
            memory="45.67",
        )


def torchtune_disk(log: Log) -> None:
    """DiskLogger."""
    for step in range(1, log.length):
        loss, rate = log.loss(".16f"), log.rate()
        log.add(
            f"Step {step} | loss:{loss} lr:{rate} tokens_per_second_per_gpu:1234.5 peak_memory_active:12.3 grad_norm:0.8 ",
            step,
            loss=loss,
            learning_rate=rate,
        )


def torchtune_bar(log: Log) -> None:
    """A bar whose label is the record, drawn twice a step."""
    frames = []
    for step in range(1, log.length):
        loss = log.loss(".16f")
        frames += [
            f"1|{step}|Loss: {loss}:  12%|#   | {step - 1}/1000 [02:03<15:04,  1.03s/it]",
            f"1|{step}|Loss: {loss}:  12%|#   | {step}/1000 [02:03<15:04,  1.03s/it]",
        ]
        log.curves.setdefault("loss", []).append((step, float(loss), 1))
    log.lines.append("\r" + "\r".join(frames))


def fairseq(log: Log) -> None:
    """The simple format."""
    for step in range(100, 100 * log.length, 100):
        loss, norm, rate = log.loss(".3f"), log.loss(".3f"), log.rate(".5g")
        log.add(
            f"2024-05-01 12:00:00 | INFO | train_inner | epoch 001:    {step} / 5000 loss={loss}, nll_loss=8.5, ppl=362.1, wps=12345, ups=2.1, wpb=5890, bsz=256, num_updates={step - 2}, lr={rate}, gnorm={norm}, loss_scale=64, train_wall=45, gb_free=20.1, wall=60",
            step - 2,
            loss=loss,
            grad_norm=norm,
            learning_rate=rate,
            loss_scale="64",
        )
    log.add(
        "2024-05-01 12:00:00 | INFO | valid | epoch 001 | valid on 'valid' subset | loss 5.4 | nll_loss 3.9 | ppl 14.9 | wps 40000 | wpb 5000 | bsz 200 | num_updates 1200",
        1200,
        eval_loss="5.4",
    )
    log.add(
        "2024-05-01 12:00:00 | INFO | train | epoch 001 | loss 8.1 | nll_loss 7.2 | ppl 147 | wps 40000 | num_updates 1200 | lr 0.0001 | gnorm 1.5 | loss_scale 128 | train_wall 300",
        1200,
        epoch_loss="8.1",
    )


def fairseq_json(log: Log) -> None:
    """--log-format json."""
    for step in range(100, 100 * log.length, 100):
        loss, rate = log.loss(".3f"), log.rate(".5g")
        log.add(
            f'2024-05-01 12:00:00 | INFO | train_inner | {{"epoch": 1, "update": 0.02, "loss": "{loss}", "ppl": "362.1", "wps": "12345", "num_updates": "{step}", "lr": "{rate}", "gnorm": "1.5", "loss_scale": "64", "train_wall": "45", "wall": "60"}}',
            step,
            loss=loss,
            learning_rate=rate,
        )


def metaseq(log: Log) -> None:
    """Metaseq."""
    for step in range(10, 10 * log.length, 10):
        loss, rate = log.loss(".3f"), log.rate(".5g")
        log.add(
            f'2022-05-01 12:00:00 | INFO | train_inner | {{"epoch": 1, "actv_norm": "0.512", "pos_norm": "0.25", "tok_norm": "0.75", "emb_norm": "0.0", "docsperex": "2.5", "loss": "{loss}", "ppl": "362.1", "wps": "12345", "ups": "0.1", "wpb": "5890", '
            f'"bsz": "256", "num_updates": "{step}", "lr": "{rate}", "gnorm": "1.5", "clip": "100", "loss_scale": "64", "scale_window": "256", "train_wall": "45", "cuda_gb_allocated": "12.5", "cuda_gb_reserved": "14.5", "ewps": "0", "wall": "60"}}',
            step,
            loss=loss,
            learning_rate=rate,
        )


def timm(log: Log) -> None:
    """Timm."""
    for epoch in (0, 1):
        for now in range(0, 1251, 250):
            loss, rate = log.loss(".3f"), log.rate(".3e")
            log.add(
                f"Train: {epoch} [{now:4d}/1251 ({100 * now // 1250:3d}%)]  Loss: {loss} (6.31)  Time: 0.512s,  500.00/s  (0.520s,  492.31/s)  LR: {rate}  Data: 0.010 (0.012)",
                epoch * 1251 + now,
                loss=loss,
                learning_rate=rate,
            )
        log.add(
            "Test: [  10/48]  Time: 0.312 (0.512)  Loss:   0.9 ( 0.912)  Acc@1: 80.078 ( 80.188)  Acc@5: 95.312 ( 95.562)"
        )


def meters(log: Log) -> None:
    """DETR, DeiT, DINO, MAE."""
    for epoch in (0, 1):
        for now in range(0, 1251, 250):
            loss = log.loss()
            log.add(
                f"Epoch: [{epoch}]  [{now:4d}/1251]  eta: 0:20:10  lr: 0.000150  loss: {loss} (0.9377)  time: 0.9210  data: 0.0002  max mem: 10412",
                epoch * 1251 + now,
                loss=loss,
            )
        log.add(f"Epoch: [{epoch}] Total time: 0:20:10 (0.5 s / it)")
        log.add("Averaged stats: lr: 0.000150  loss: 0.9125 (0.9377)")
        log.add(
            "Test:  [ 0/50]  eta: 0:00:45  loss: 0.9 (0.9)  acc1: 80.0 (80.0)  time: 0.9  data: 0.7  max mem: 5000"
        )


def imagenet(log: Log) -> None:
    """PyTorch's ImageNet example."""
    for epoch in (0, 1):
        for now in range(0, 5005, 1000):
            loss = log.loss(".4e")
            log.add(
                f"Epoch: [{epoch}][{now:4d}/5005]\tTime  0.512 ( 0.734)\tData  0.001 ( 0.110)\tLoss {loss} (6.8123e+00)\tAcc@1   0.39 (  0.30)\tAcc@5   1.56 (  1.20)",
                epoch * 5005 + now,
                loss=loss,
            )


def detectron2(log: Log) -> None:
    """detectron2."""
    for step in range(19, 20 * log.length, 20):
        loss, rate = log.loss(".4g"), log.rate(".5g")
        log.add(
            f"[05/01 12:00:00 d2.utils.events]:  eta: 0:30:00  iter: {step}  total_loss: {loss}  loss_cls: 1.5  loss_box_reg: 0.25    time: 0.5125  last_time: 0.5  data_time: 0.0101  last_data_time: 0.01   lr: {rate}  max_mem: 4123M",
            step,
            loss=loss,
            learning_rate=rate,
        )


def olmo(log: Log) -> None:
    """Records of several lines."""
    for step in range(1, log.length):
        loss, norm = log.loss(".4g"), log.loss(".4g")
        log.add(
            f"2024-05-01 12:00:00.123\thost:0\tolmo.train:990\tINFO\t[step={step}/5000,epoch=0]",
            step,
            loss=loss,
            grad_norm=norm,
        )
        log.lines += [
            f"    optim/total_grad_norm={norm}",
            f"    train/CrossEntropyLoss={loss}",
            "    train/Perplexity=36,681",
            "    throughput/device/tokens_per_second=7,123",
        ]


def verl(log: Log) -> None:
    """verl, with values of NumPy 2."""
    for step in range(1, log.length):
        loss, norm, reward = log.loss(".16f"), log.loss(".16f"), log.loss(".4f")
        number = f"np.float64({reward})"
        log.add(
            f"(TaskRunner pid=4242) step:{step} - global_seqlen/min:2578 - actor/entropy:0.5 - actor/pg_loss:{loss} - actor/grad_norm:{norm} - actor/lr:1e-06 - training/global_step:{step} - training/epoch:0 - critic/rewards/mean:{number} - perf/throughput:512.5",
            step,
            pg_loss=loss,
            grad_norm=norm,
            reward=reward,
        )


def keras(log: Log) -> None:
    """Bars on their way, and the last one."""
    for epoch in range(1, log.length):
        loss = log.loss()
        log.lines.append(f"Epoch {epoch}/{log.length}")
        begin = [
            f"{now:4d}/1875 [====>.........................] - ETA: 5s - loss: 2.3026 - accuracy: 0.1000"
            for now in (1, 600, 1200)
        ]
        log.lines.append("\r".join(begin))
        log.lines[-1] += (
            f"\r1875/1875 [==============================] - 5s 3ms/step - loss: {loss} - accuracy: 0.9125 - val_loss: 0.1400"
        )
        log.curves.setdefault("loss", []).append((math.nan, float(loss), len(log.lines)))


def jax(log: Log) -> None:
    """A prefix of absl, then names and figures."""
    for step in range(0, 100 * log.length, 100):
        loss, norm = log.loss(), log.loss()
        log.add(
            f"I0501 12:00:00.123456 139 train.py:120] Step {step}: grad_norm={norm}, loss={loss}, param_norm=1802.3",
            step,
            loss=loss,
            grad_norm=norm,
        )


def deepspeed(log: Log) -> None:
    """Overflows, steps and rates of DeepSpeed."""
    scale = 65536
    for step in range(10, 10 * log.length, 10):
        rate = log.rate(".5g")
        log.add(
            f"[2024-05-01 12:00:00,123] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: {scale}, reducing to {scale // 2}",
            loss_scale=str(scale // 2),
        )
        scale //= 2
        log.add(
            f"[2024-05-01 12:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] step={step}, skipped={step // 10}, lr=[{rate}, {rate}], mom=[(0.9, 0.999), (0.9, 0.999)]",
            step,
            learning_rate=rate,
            skipped_steps=str(step // 10),
        )
        log.add(
            f"[2024-05-01 12:00:00,123] [INFO] [timer.py:260:stop] epoch=0/micro_step={step * 8}/global_step={step}, RunningAvgSamplesPerSec=12.3, CurrSamplesPerSec=12.5, MemAllocated=12.34GB, MaxMemAllocated=30.1GB",
            step,
            throughput="12.3",
            memory="12.34",
        )


def deepspeed_old_rate(log: Log) -> None:
    """Rates before 0.8.0."""
    for step in range(10, 10 * log.length, 10):
        rate = log.loss(".4f")
        log.add(
            f"[2021-05-01 12:00:00,123] [INFO] [timer.py:154:stop] 0/{step}, SamplesPerSec={rate}",
            step,
            throughput=rate,
        )


def deepspeed_times(log: Log) -> None:
    """wall_clock_breakdown."""
    for _ in range(log.length):
        forward, backward = (
            format(log.random.uniform(1, 99), ".2f"),
            format(log.random.uniform(1, 99), ".2f"),
        )
        log.add(
            f"[2021-05-01 12:00:00,123] [INFO] [logging.py:68:log_dist] [Rank 0] rank=0 time (ms) | forward: {forward} | backward: {backward} | step: 5.01",
            forward=forward,
            backward=backward,
            step_ms="5.01",
        )


def deepspeed_pipeline(log: Log) -> None:
    """The pipeline engine."""
    for step in range(10, 10 * log.length, 10):
        loss = log.loss()
        log.add(
            f"steps: {step} loss: {loss} iter time (s): 0.512 samples/sec: 62.5",
            step,
            loss=loss,
            throughput="62.5",
        )


def deepspeed_chat(log: Log) -> None:
    """DeepSpeed-Chat, reward model."""
    for step in range(log.length):
        loss = log.loss(".16g")
        log.add(f"Epoch: 0, Step: {step}, Rank: 0, loss = {loss}", step, loss=loss)


def deepspeed_chat_ppo(log: Log) -> None:
    """DeepSpeed-Chat, third step."""
    for step in range(log.length):
        actor, critic = log.loss(".16g"), log.loss(".16g")
        log.add(
            f"Epoch: 0 | Step: {step} | PPO Epoch: 1 | Actor Loss: {actor} | Critic Loss: {critic} | Unsupervised Loss: 0.0",
            step,
            actor_loss=actor,
            critic_loss=critic,
        )


def tutorial(log: Log) -> None:
    """Steps that begin anew in each epoch, as the tutorials of PyTorch print them."""
    for epoch in (1, 2, 3):
        for now in range(100, 501, 100):
            loss = log.loss()
            log.add(
                f"Epoch [{epoch}/3], Step [{now}/500], Loss: {loss}",
                (epoch - 1) * 500 + now,
                loss=loss,
            )


FAMILIES: list[Callable[[Log], None]] = [
    trainer_4,
    trainer_5,
    trainer_bar,
    trainer_rewards,
    trainer_ppo,
    llamafactory,
    mmengine_iter,
    mmengine_epoch,
    mmengine_json,
    mmcv_text,
    mmcv_json,
    megatron_old,
    megatron_core,
    megatron_head,
    megatron_deepspeed,
    neox,
    lightning_bar,
    lightning_without_logger,
    tqdm_in_the_loop,
    nanogpt,
    nanogpt_kin,
    torchtitan,
    torchtune_disk,
    torchtune_bar,
    fairseq,
    fairseq_json,
    metaseq,
    timm,
    meters,
    imagenet,
    detectron2,
    olmo,
    verl,
    keras,
    jax,
    deepspeed,
    deepspeed_old_rate,
    deepspeed_times,
    deepspeed_pipeline,
    deepspeed_chat,
    deepspeed_chat_ppo,
    tutorial,
]


def read(raw: bytes) -> dict[str, list[tuple[float, float, int]]]:
    """Read a log as the program does; gives the points of each name."""
    gathering = SourceExtractor(get_matcher(()), 0)
    for block in iter_blocks(io.BytesIO(raw)):
        gathering.feed(block)
    found: dict[str, list[Series]] = {}
    for series in gathering.snapshot().series.values():
        if series.producer != "metriclogger-epoch":  # means of whole epochs
            found.setdefault(series.name, []).append(series)
    assert [
        name
        for name, several in found.items()
        if len(several) > 1 and name in {"loss", "grad_norm"}
    ] == []
    return {
        name: [tuple(point) for one in several for point in one.kept()]
        for name, several in found.items()
    }


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_a_curve_is_read_as_it_was_written(family: Callable[[Log], None], seed: int) -> None:
    """Points, steps and lines agree with what was written."""
    log = Log(seed)
    family(log)
    found = read("\n".join([*log.lines, ""]).encode())
    for name, points in log.curves.items():
        assert [repr(one) for one in _floats(found.get(name, []))] == [
            repr(one) for one in _floats(points)
        ], name
    if "loss" not in log.curves:
        assert "loss" not in found


def _floats(points: list[tuple[float, float, int]]) -> list[tuple[float, float, int]]:
    return [(float(step), float(value), line) for step, value, line in points]


def _fenced(log: Log) -> tuple[bytes, int]:
    text = [
        "### Describe the bug",
        "Training breaks, see the log (loss goes to nan).",
        "",
        "```text",
        *log.lines,
        "```",
        "What can I do?",
        "",
    ]
    return "\n".join(text).encode(), 4


def _quoted(log: Log) -> tuple[bytes, int]:
    return "\n".join(
        ["It prints", *(f"> {line}" for line in log.lines), "", "and stops.", ""]
    ).encode(), 1


def _powershell(log: Log) -> tuple[bytes, int]:
    return b"\xff\xfe" + "\r\n".join([*log.lines, ""]).encode("utf-16-le"), 0


def _utf16_without_mark(log: Log) -> tuple[bytes, int]:
    return "\r\n".join([*log.lines, ""]).encode("utf-16-be"), 0


def _chinese_windows(log: Log) -> tuple[bytes, int]:
    return "\r\n".join(
        [
            "开始训练,请稍候。正在加载数据集和模型,这可能需要几分钟的时间。",
            *log.lines,
            "训练结束",
            "",
        ]
    ).encode("gbk"), 1


@pytest.mark.parametrize(
    "wrap", [_fenced, _quoted, _powershell, _utf16_without_mark, _chinese_windows]
)
@pytest.mark.parametrize(
    "family",
    [
        trainer_4,
        trainer_5,
        mmengine_iter,
        mmcv_text,
        megatron_core,
        nanogpt,
        torchtune_disk,
        timm,
        meters,
        tutorial,
        deepspeed_pipeline,
    ],
    ids=lambda family: family.__name__,
)
def test_a_curve_is_read_whatever_it_is_wrapped_in(
    family: Callable[[Log], None], wrap: Callable[[Log], tuple[bytes, int]], tmp_path: Path
) -> None:
    """An issue's text with fences or quotes, UTF-16 and GBK.

    The points are the same, on the lines of the file.
    """
    log = Log(5)
    family(log)
    raw, above = wrap(log)
    path = tmp_path / "issue.md"
    path.write_bytes(raw)
    found = {(one.name, one.points): one for one in postmortem.analyze(path).diagnosis.series}
    for name in {"loss", "learning_rate"} & log.curves.keys():
        points = [(step, value, line + above) for step, value, line in log.curves[name]]
        assert (name, len(points)) in found
        got = [
            (math.nan if step is None else step, value, line)
            for step, value, line in found[name, len(points)].samples
        ]
        assert repr(_floats(got)) == repr(_floats(points))
