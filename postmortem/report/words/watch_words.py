"""Phrases of a watch, in English and Chinese: warnings, what to do about them, how the run ended.

In: nothing. Out: phrases by language and key. Not here: filling them in (`report.watch_events`).
"""

from collections.abc import Mapping
from typing import Final

WATCH: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "warning": "WARNING",
        "step": "step {step}",
        "next": "What is behind it: postmortem analyze {paths}",
        "nan": "The loss is not finite",
        "nan.do": "Stop the run: with weights that are NaN it only burns hours.",
        "hidden-nan": "The loss of 0 is a NaN that the trainer hides",
        "hidden-nan.do": "Stop the run: it learns nothing any more.",
        "eval-nan": "The evaluation loss is not finite",
        "eval-nan.do": (
            "Training itself may be sound. Look at the samples of the evaluation set before you "
            "trust a best checkpoint."
        ),
        "overflow": "The loss scaler skips step after step",
        "overflow.do": (
            "Stop the run: the values overflow at every scale, and most programs give up when the "
            "scale is at its minimum."
        ),
        "divergence": "The loss runs away",
        "divergence.do": (
            "Stop the run, or save what there is: it seldom comes back. A lower rate, a longer "
            "warm-up or clipping, from the last good checkpoint."
        ),
        "gradients": "The gradients run away",
        "gradients.do": (
            "Look at the loss: if it rises too, stop the run and go back to the last good "
            "checkpoint with a lower rate or clipping."
        ),
        "zero-loss": "The loss is exactly 0 from the start",
        "zero-loss.do": "Stop the run: nothing is learned. Most often all labels are masked.",
        "memory": "Memory rises evenly and will run out",
        "memory.do": (
            "Save a checkpoint while it lasts. Look for tensors that are kept from step to step "
            "(loss without .item(), lists of outputs)."
        ),
        "stall": "The run is silent",
        "stall.do": (
            "Look at what it does: py-spy dump --pid PID on each process, nvidia-smi, the "
            "scheduler's own log. If it only evaluates or saves, set a longer --stall."
        ),
        "same-step": "Lines go on, and the step stands still",
        "same-step.do": "Look at what it does: py-spy dump --pid PID on each process.",
        "good.yes": "The last checkpoint from before: {name}.",
        "good.no": "No checkpoint that the log names is from before.",
        "good.unknown": "",
        "waiting": "waiting for {path}",
        "found": "{path} is there",
        "rotated": "{path} was replaced; reading the new one",
        "truncated": "{path} was emptied; reading it from its beginning",
        "goes-on": "the run writes again ({path})",
        "unreadable": "{path} is left out: {text}",
        "end.completed": "The run is over: completed.",
        "end.failed": "The run is over: failed.",
        "end.warned": "Stopped at the first warning.",
        "end.once": "Read to the end of the log; nothing says that the run is over.",
        "end.interrupted": "Stopped watching.",
        "end.warnings": "{count} warnings.",
        "end.one": "1 warning.",
        "end.none": "No warning.",
        "end.cause": "{title} ({cause}, {percent}).",
    },
    "zh": {
        "warning": "警告",
        "step": "第 {step} 步",
        "next": "原因分析：postmortem analyze {paths}",
        "nan": "损失不是有限数",
        "nan.do": "请停止训练：权重变成 NaN 之后只会浪费算力。",
        "hidden-nan": "损失为 0 是训练器掩盖的 NaN",
        "hidden-nan.do": "请停止训练：它已经学不到任何东西。",
        "eval-nan": "验证损失不是有限数",
        "eval-nan.do": "训练本身可能正常。在相信“最佳检查点”之前，请检查验证集的样本。",
        "overflow": "损失缩放器连续跳过步",
        "overflow.do": "请停止训练：无论缩放多小都会溢出，多数程序在缩放降到最小值时退出。",
        "divergence": "损失正在发散",
        "divergence.do": (
            "请停止训练或先保存：发散很少自行恢复。从上一个好的检查点开始，降低学习率、"
            "延长预热或裁剪梯度。"
        ),
        "gradients": "梯度正在失控",
        "gradients.do": (
            "请看损失：如果它也在上升，请停止训练，回到上一个好的检查点，降低学习率或裁剪梯度。"
        ),
        "zero-loss": "损失从一开始就恰好为 0",
        "zero-loss.do": "请停止训练：什么也没学到。最常见的原因是所有标签都被屏蔽。",
        "memory": "内存匀速上升，终将耗尽",
        "memory.do": (
            "趁还能运行先保存检查点。检查是否有张量被逐步保留（没有 .item() 的损失、"
            "累积输出的列表）。"
        ),
        "stall": "训练没有输出",
        "stall.do": (
            "看看它在做什么：对每个进程运行 py-spy dump --pid PID，查看 nvidia-smi 和调度器日志。"
            "若只是在验证或保存，请调大 --stall。"
        ),
        "same-step": "日志仍在输出，但步数不动",
        "same-step.do": "看看它在做什么：对每个进程运行 py-spy dump --pid PID。",
        "good.yes": "此前的最后一个检查点：{name}。",
        "good.no": "日志中提到的检查点都不在此之前。",
        "good.unknown": "",
        "waiting": "等待 {path}",
        "found": "{path} 已出现",
        "rotated": "{path} 被替换，开始读取新文件",
        "truncated": "{path} 被清空，从头读取",
        "goes-on": "训练恢复输出（{path}）",
        "unreadable": "略过 {path}：{text}",
        "end.completed": "训练已结束：完成。",
        "end.failed": "训练已结束：失败。",
        "end.warned": "在第一个警告处停止。",
        "end.once": "已读到日志末尾，没有迹象表明训练已结束。",
        "end.interrupted": "停止监视。",
        "end.warnings": "{count} 个警告。",
        "end.one": "1 个警告。",
        "end.none": "没有警告。",
        "end.cause": "{title}（{cause}，{percent}）。",
    },
}
