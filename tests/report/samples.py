"""Diagnoses to render: a rich one in both languages, an abstaining one, a hostile one.

In: nothing. Out: `Diagnosis` values. Not here: assertions.
"""

from dataclasses import fields, replace
from math import inf, nan
from typing import Any

from postmortem.core.answer import (
    Cause,
    DecisiveWords,
    Event,
    Evidence,
    Excerpt,
    FirstFailure,
    Fix,
    Need,
    Progress,
    SeriesView,
    SignatureHit,
    Verdict,
)
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.findings import (
    NOWHERE,
    Attempt,
    Environment,
    Framework,
    Gpu,
    ProcessId,
    Setting,
    Source,
)
from postmortem.core.message import quote
from postmortem.core.wording import Text

RANK_3 = ProcessId(rank=3, node="gpu-a17.hpc.uni-example.org")
TOKEN = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz012345"
HOSTILE = "<script>alert(1)</script> [red]x[/red] \x1b[31mred\x1b[0m \x1b]0;title\x07 ]]> ```\n```` `tick` \u202egnp.exe\u202c @alice &amp; \x00 {{ 7*7 }} | a | <!-- -->"

_TEXTS = {
    "en": {
        "title": "Values left the range of float16 (above 65504)",
        "summary": "At step 412 the gradients on rank 3 overflowed float16; the loss scaler halved its scale 14 times to 1 and training stopped.",
        "explanation": "The model was trained in bfloat16, whose range is that of float32. Loaded in float16, its activations pass 65504 and become infinite.\n\n"
        "The V100 has no bfloat16, so the way out is float32 for the parts that overflow, or another GPU.",
        "evidence": "the loss scale fell from 65536 to 1 within 16 steps without a clean stretch",
        "check": "See which module overflows first",
        "check_why": "One forward pass with hooks names it in a minute, and costs nothing.",
        "change": "Train in float32 with a smaller batch, batch size 8 → 4, accumulation 2 → 4",
        "change_why": "The effective batch stays 64; memory grows by about a third.",
        "prevent": "Stop at the first non-finite gradient",
        "prevent_why": "A run that goes on after it only burns hours and overwrites good checkpoints.",
        "harmless": "Newly initialised classification head",
        "harmless_why": "the head is new by design and is trained from here on",
        "need": "the log of rank 0",
        "need_why": "only the launcher's summary is here; the rank that failed first printed the reason",
        "not_checked": "the data: no batch was recorded",
        "would_change": "a finite loss in float32 at the same step would make the learning rate the better answer",
        "why": "the first non-finite value of any rank",
    },
    "zh": {
        "title": "数值超出 float16 的范围（大于 65504）",
        "summary": "第 412 步时 rank 3 的梯度在 float16 下溢出；loss scaler 连续减半 14 次降到 1，训练随即停止。",
        "explanation": "该模型以 bfloat16 训练，其数值范围与 float32 相同。以 float16 载入后，激活值超过 65504 变成无穷大。\n\nV100 不支持 bfloat16，因此只能让溢出的部分使用 float32，或更换 GPU。",
        "evidence": "loss scale 在 16 步之内从 65536 降到 1，中间没有任何一段正常的步",
        "check": "先找出最早溢出的模块",
        "check_why": "挂上 hook 做一次前向即可定位，一分钟之内完成，没有代价。",
        "change": "改用 float32，并减小批大小：8 → 4，梯度累积 2 → 4",
        "change_why": "有效批大小仍为 64；显存约增加三分之一。",
        "prevent": "遇到第一个非有限梯度就停止",
        "prevent_why": "继续训练只会浪费机时，并覆盖好的检查点。",
        "harmless": "分类头是新初始化的",
        "harmless_why": "分类头本来就是新的，从现在开始训练",
        "need": "rank 0 的日志",
        "need_why": "这里只有启动器的总结；最先失败的进程才打印了原因",
        "not_checked": "数据：没有记录任何批次",
        "would_change": "若同一步在 float32 下损失有限，则学习率更可能是原因",
        "why": "所有进程中最早出现的非有限值",
    },
}
_SNIPPET = """python - <<'EOF'
import torch
from my_model import build

model = build().half().cuda()
for name, module in model.named_modules():
    module.register_forward_hook(lambda m, i, o, name=name: print(name, torch.isfinite(o).all().item()))
EOF"""


def rich(language: str = "en") -> Diagnosis:
    """Make a diagnosis that has something in every field."""
    texts = _TEXTS[language]
    return Diagnosis(
        knowledge_base="2026-11-20+3f9c2a1b",
        classifier="9d1e77aa",
        language=language,
        outcome="failed",
        sources=(
            Source("/home/alice/runs/glm4/train-3.log", 1_482_113, 18_344, "utf-8", "gzip", RANK_3, "log"),
            Source("/home/alice/runs/glm4/env.txt", 2_113, 61, "utf-8", None, NOWHERE, "environment"),
            Source("/home/alice/runs/glm4/plot.png", 90_112, 0, "binary", None, NOWHERE, "ignored", "not text"),
        ),
        attempts=(Attempt(0, 1, 240, "failed"), Attempt(0, 241, 18_344, "failed")),
        frameworks=(Framework("transformers-trainer", "4.46.3", 1_210), Framework("deepspeed", None, 402)),
        verdict=Verdict(
            "numerics.fp16-overflow", 0.93, "supported", texts["summary"], "user", "after-fix",
            not_checked=(texts["not_checked"],), would_change=(texts["would_change"],),
        ),
        causes=_causes(texts),
        signatures=_signatures(texts),
        first_failure=FirstFailure(0, RANK_3, 1832, "2026-11-19T22:04:11", texts["why"]),
        timeline=_timeline(texts),
        series=series(),
        environment=_environment(),
        settings={
            "learning_rate": Setting(5e-05, 0, 44),
            "fp16": Setting(True, 0, 45),
            "hub_token": Setting(TOKEN, 0, 46),
            "betas": Setting([0.9, 0.999], 0, 47),
        },
        progress=Progress(411.0, "/home/alice/runs/glm4/checkpoint-400", "yes", 95.5, "/home/alice/runs/glm4/checkpoint-400", (412.0, 1832)),
        warnings=("18 lines were longer than 16 KiB and were cut",),
        excerpt=_excerpt(),
        quotes=(_excerpt(),),
    )  # fmt: skip


def lifted(value: Any) -> Any:
    """Give a diagnosis as an analysis: each text is what it is, in every language."""
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(lifted(part) for part in value)
    if not getattr(value.__class__, "__parameters__", ()):
        return value
    return replace(value, **{field.name: _lifted(value, field) for field in fields(value)})


def _lifted(owner: Any, field: Any) -> Any:
    value = getattr(owner, field.name)
    if field.type is Text:
        return quote(value)
    return tuple(map(quote, value)) if field.type == tuple[Text, ...] else lifted(value)


def abstaining(language: str = "en") -> Diagnosis:
    """Make the smallest diagnosis that abstains."""
    texts = _TEXTS[language]
    return Diagnosis(
        knowledge_base="2026-11-20+3f9c2a1b",
        sources=(Source("-", 312, 4, "utf-8", None, NOWHERE, "log"),),
        attempts=(),
        outcome="failed",
        frameworks=(),
        verdict=Verdict(
            None, 0.31, "unknown", texts["need_why"], "unknown", "unknown",
            need=(Need(texts["need"], texts["need_why"], "scp login:/runs/42/rank-0.log ."),),
        ),
        causes=(
            Cause("unknown.no-cause-shown", "unknown", texts["need"], 0.81, "", (Evidence("signature", "launcher.child-failed", "launcher", "ChildFailedError", 1.5, 0, NOWHERE, 3),)),
            Cause("memory.host-oom", "memory", "Host OOM", 0.12, "", ()),
        ),
        signatures=(),
        first_failure=None,
        timeline=(),
        series=(),
        environment=Environment(),
        settings={},
        progress=Progress(),
        warnings=(),
        language=language,
    )  # fmt: skip


def hostile(text: str = HOSTILE, language: str = "en") -> Diagnosis:
    """Make a rich diagnosis whose every free text attacks the reader."""
    base = rich(language)
    cause = base.causes[0]
    evidence = tuple(
        replace(
            one,
            text=text,
            group="g",
            carried=tuple(replace(words, text=text, terms=(text,)) for words in one.carried),
        )
        for one in cause.evidence
    )
    fixes = tuple(
        replace(
            one,
            title=text,
            why=text,
            snippet=text,
            language="py\n<b>",
            references=("javascript:alert(1)", text),
        )
        for one in cause.fixes
    )
    attacked = replace(cause, title=text, explanation=text, evidence=evidence, fixes=fixes)
    where = ProcessId(rank=1, node="<b>evil</b>")
    return replace(
        base,
        sources=(
            replace(
                base.sources[0],
                path=f"/data/{text[:200]}.log" if text.isascii() else f"/data/{text[:60]}.log",
                where=where,
            ),
            *base.sources[1:],
        ),
        verdict=replace(
            base.verdict,
            summary=text,
            not_checked=(text,),
            would_change=(text,),
            need=(Need(text, text, text),),
        ),
        causes=(attacked, *base.causes[1:]),
        signatures=tuple(
            replace(one, text=text, title=text, because=text, where=where, captures=(("x", text),))
            for one in base.signatures
        ),
        first_failure=FirstFailure(0, where, 1832, text, text),
        timeline=tuple(replace(one, text=text, where=where, time=text) for one in base.timeline),
        series=tuple(
            replace(one, name=text, producer=text, unit=text, where=where) for one in base.series
        ),
        environment=replace(
            base.environment,
            packages={text: text},
            os=text,
            launcher=text,
            gpus=(Gpu(text, 1, None, None),),
        ),
        settings={text: Setting({text: [text]}, 0, 1)},
        progress=replace(base.progress, last_checkpoint=text),
        frameworks=(Framework(text, text, 1),),
        warnings=(text,),
        excerpt=Excerpt(0, 1830, (text,) * 4, (1832,)),
    )


def series() -> tuple[SeriesView, ...]:
    """Make a loss, a gradient norm and a loss scale that break at step 412.

    The learning rate does not.
    """
    steps = [float(step) for step in range(10, 440, 10)]
    loss = [2.9 * 0.9972**step + 0.35 * ((step * 7) % 11) / 11 for step in steps[:-2]]
    norms = [1.1 + 0.4 * ((step * 5) % 13) / 13 for step in steps[:-4]] + [48.0, 3100.0, nan, inf]
    scales = [65536.0] * (len(steps) - 5) + [4096.0, 256.0, 16.0, 2.0, 1.0]
    rates = [min(5e-5, step / 100 * 5e-5) * (1 - step / 900) for step in steps]
    return (
        a_series("loss", steps, [*loss, nan, nan]),
        a_series("grad_norm", steps, norms),
        a_series("loss_scale", steps, scales),
        a_series("learning_rate", steps, rates),
        a_series("epoch", steps, [step / 100 for step in steps]),
    )


def a_series(name: str, steps: list[float], values: list[float]) -> SeriesView:
    """Make a series of one sample for each step; line 1420 + step."""
    samples = tuple(
        (step, value, 1420 + int(step)) for step, value in zip(steps, values, strict=True)
    )
    finite = [value for value in values if value - value == 0]
    bad = next(((step, line) for step, value, line in samples if value - value != 0), None)
    return SeriesView(
        name, "trainer", 0, RANK_3, "", len(samples), len(values) - len(finite), samples[0][:2], samples[-1][:2],
        min(finite, default=None), max(finite, default=None), bad, False, samples,
    )  # fmt: skip


def _causes(texts: dict[str, str]) -> tuple[Cause, ...]:
    quote = (
        "{'loss': nan, 'grad_norm': nan, 'learning_rate': 4.5422222222222224e-05, 'epoch': 4.12}"
    )
    evidence = (
        Evidence("shape", "scale-collapse", "scale", texts["evidence"], 4.0, 0, RANK_3, 1790, 1832),
        Evidence("signature", "trainer.nan-loss", "nan", quote, 2.0, 0, RANK_3, 1832, 1832),
        Evidence(
            "environment", "gpu.no-bf16", "gpu", "Tesla V100-SXM2-32GB: compute capability 7.0", 1.0
        ),
        Evidence("setting", "fp16", "precision", "fp16=True", 1.0, 0, RANK_3, 45),
        Evidence(
            "classifier",
            "text",
            "text",
            "0.71",
            0.4,
            carried=(DecisiveWords(quote, ("'loss': nan", "grad_norm"), 0.6, 0, 1832),),
        ),
        Evidence(
            "shape", "nan-at-zero-rate", "rate", "learning_rate 4.5e-05 > 0", -0.5, 0, RANK_3, 1832
        ),
    )
    fixes = (
        Fix("numerics.find-overflow", "check", texts["check"], texts["check_why"], _SNIPPET, "shell", "safe", ("https://docs.pytorch.org/docs/stable/notes/amp_examples.html",)),
        Fix("numerics.use-fp32", "change", texts["change"], texts["change_why"], "--fp16 False --per_device_train_batch_size 4 --gradient_accumulation_steps 4", "shell", "costly"),
        Fix("numerics.stop-early", "prevent", texts["prevent"], texts["prevent_why"], "TrainingArguments(\n    logging_nan_inf_filter=False,\n    max_grad_norm=1.0,\n)", "python", "safe"),
    )  # fmt: skip
    return (
        Cause(
            "numerics.fp16-overflow",
            "numerics",
            texts["title"],
            0.93,
            texts["explanation"],
            evidence,
            fixes,
        ),
        Cause(
            "numerics.lr-divergence",
            "numerics",
            "learning rate",
            0.22,
            "",
            (
                Evidence(
                    "shape",
                    "nan-out-of-flat",
                    "run-up",
                    "no run-up before the NaN",
                    -2.0,
                    0,
                    RANK_3,
                    1812,
                ),
            ),
        ),
        Cause("numerics.bad-batch", "numerics", "bad batch", 0.004, "", ()),
    )


def _signatures(texts: dict[str, str]) -> tuple[SignatureHit, ...]:
    return (
        SignatureHit("transformers.new-head", "harmless", texts["harmless_why"], 0, NOWHERE, 31, 32, None, None, 1,
                     "Some weights of GLM4ForSequenceClassification were not initialized", (), texts["harmless"]),
        SignatureHit("trainer.nan-loss", "consequence", "", 0, RANK_3, 1832, 1832, "2026-11-19T22:04:11", "full", 14, "{'loss': nan}", (("name", "loss"),), "loss is NaN"),
        SignatureHit("deepspeed.minimum-scale", "consequence", "after line 1832", 0, RANK_3, 1851, 1853, "T22:05:46", "no-date", 1,
                     "Exception: Current loss scale already at minimum - cannot decrease scale anymore.", (("version", "2.5.0.1"),), "scale at minimum"),
    )  # fmt: skip


def _timeline(texts: dict[str, str]) -> tuple[Event, ...]:
    return (
        Event(
            0,
            NOWHERE,
            241,
            "2026-11-19T21:10:02",
            None,
            "context",
            "torchrun --nproc_per_node 8 train.py --master_addr 10.0.0.5",
        ),
        Event(
            0,
            RANK_3,
            1790,
            "2026-11-19T22:03:51",
            400.0,
            "warning",
            "OVERFLOW! Rank 3 Skipping step. Attempted loss scale: 65536, reducing to 32768",
        ),
        Event(0, RANK_3, 1832, "2026-11-19T22:04:11", 412.0, "cause", texts["evidence"]),
        Event(
            0,
            RANK_3,
            1851,
            "2026-11-19T22:05:46",
            None,
            "consequence",
            "Exception: Current loss scale already at minimum",
        ),
    )


def _environment() -> Environment:
    packages = {
        "torch": "2.5.1+cu124",
        "transformers": "4.46.3",
        "deepspeed": "0.15.4",
        "accelerate": "1.1.1",
        "opencv-python": "4.8.1.78",
        "numpy": "1.26.4",
    }
    gpus = (Gpu("Tesla V100-SXM2-32GB", 8, 32.0, 7.0),)
    return Environment(
        packages,
        "3.11.7",
        "Linux-5.15.0-91-generic-x86_64",
        "12.4",
        "550.54.15",
        gpus,
        "fp16",
        8,
        "torchrun",
        1,
        "SIGABRT",
    )


def _excerpt() -> Excerpt:
    lines = (
        f"export HF_TOKEN={TOKEN}",
        "  5%|▌         | 410/8000 [54:02<16:31:11,  7.84s/it]",
        "{'loss': 1.2113, 'grad_norm': 3100.0, 'learning_rate': 4.55e-05, 'epoch': 4.11}",
        "[rank3]: OVERFLOW! Rank 3 Skipping step. Attempted loss scale: 2, reducing to 1",
        "{'loss': nan, 'grad_norm': nan, 'learning_rate': 4.5422222222222224e-05, 'epoch': 4.12}",
        "Traceback (most recent call last):",
        '  File "/home/alice/src/train.py", line 212, in <module>',
        "    trainer.train()",
        "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run."
        + " padding" * 400,
    )
    return Excerpt(0, 1828, lines, (1832,))
