"""Anomaly types of the end of a run and of its machine.

In: nothing. Out: `ANOMALY_TYPES`. Not here: the types of the curves of training
(`rules.curve_anomalies`), of processes that wait or differ (`rules.process_anomalies`).
"""

from typing import Final

from postmortem.core.message import say
from postmortem.rules.anomaly_type import AnomalyType

ANOMALY_TYPES: Final[tuple[AnomalyType, ...]] = (
    AnomalyType(
        "input-bound",
        say(
            "in most of each step the GPU waits for data: the printed data time is more than half"
            " of the step time",
            "每一步的大部分时间 GPU 都在等数据：打印的取数据时间超过单步时间的一半",
        ),
    ),
    AnomalyType(
        "input-starved",
        say(
            "at least four fifths of steps that take 50 ms or more are waiting for data, or two"
            " thirds and five seconds of each",
            "单步时间在 50 毫秒以上，且其中至少五分之四在等数据；或每步都等 5 秒以上，占三分之二",
        ),
    ),
    AnomalyType(
        "memory-rising",
        say("reported memory rises over the run", "打印的显存/内存持续上升"),
        is_turn=True,
    ),
    AnomalyType(
        "memory-flat",
        say(
            "reported memory stays level over many records, to the last one",
            "打印的显存/内存在许多条记录里保持平稳，直到最后一条",
        ),
    ),
    AnomalyType(
        "only-notices",
        say(
            "a short text in which programs warn of something, and nothing tells of a failure",
            "简短的文本，其中只有程序的警告，没有任何故障迹象",
        ),
    ),
    AnomalyType(
        "last-step",
        say(
            "the last training record is of the last step that the run was to make",
            "最后一条训练记录就是计划的最后一步",
        ),
    ),
    AnomalyType(
        "slow-down",
        say(
            "the printed speed falls to less than half of what it was and stays there, or becomes"
            " ever lower",
            "打印的速度降到原来的一半以下并保持，或不断下降",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "slow-fivefold",
        say("the same, to a fifth of the speed or less", "同上，且速度降到五分之一以下"),
    ),
    AnomalyType(
        "uneven-pace",
        say(
            "few records show steps that stall again and again, or a speed of a third and less at"
            " the end",
            "少数几条记录显示单步反复停顿，或最后的速度不到原来的三分之一",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "oom-fragmented",
        say(
            "CUDA OOM with more memory reserved but unallocated than was asked for",
            "CUDA 显存不足，但已预留而未分配的显存多于申请量",
        ),
    ),
    AnomalyType(
        "oom-little-spare",
        say(
            "CUDA OOM whose figures show less memory reserved but unallocated than was asked for",
            "CUDA 显存不足，且已预留而未分配的显存少于申请量",
        ),
    ),
    AnomalyType(
        "oom-other-process",
        say(
            "CUDA OOM with much memory held outside this process",
            "CUDA 显存不足，且大量显存被其他进程占用",
        ),
    ),
    AnomalyType(
        "oom-all-own",
        say(
            "CUDA OOM whose figures add up to this process and contexts",
            "CUDA 显存不足，显存全部由本进程和 CUDA 上下文占用",
        ),
    ),
    AnomalyType(
        "oom-stray-contexts",
        say(
            "CUDA OOM that names two or more other processes with hardly more than a CUDA context"
            " each",
            "CUDA 显存不足，且另有两个以上的进程各只占约一个 CUDA 上下文",
        ),
    ),
    AnomalyType(
        "oom-larger-than-card",
        say(
            "CUDA OOM that asked for more at once than the whole card has",
            "CUDA 显存不足，一次申请量超过整张卡的显存",
        ),
    ),
    AnomalyType(
        "oom-capped",
        say(
            "CUDA OOM of a process that was given a share of the card only",
            "CUDA 显存不足，而该进程只被允许使用部分显存",
        ),
    ),
    AnomalyType(
        "oom-after-steps",
        say(
            "CUDA OOM after training records were printed",
            "打印过训练记录之后才出现 CUDA 显存不足",
        ),
    ),
    AnomalyType(
        "oom-before-steps",
        say(
            "CUDA OOM before any training record was printed",
            "没有打印任何训练记录就出现 CUDA 显存不足",
        ),
    ),
    AnomalyType(
        "finished",
        say(
            "a success marker ends the log, or the record of its last step",
            "日志以成功标志或最后一步的记录结束",
        ),
    ),
    AnomalyType(
        "lines-count",
        say(
            "lines of one kind count up, though no metric record is read",
            "同一种日志行的计数不断增加，但没有读出指标记录",
        ),
    ),
    AnomalyType(
        "no-failure-shown",
        say(
            "metric records run to the end of the log and no failure is shown",
            "指标记录一直到日志末尾，未见故障",
        ),
    ),
    AnomalyType(
        "steady-records",
        say(
            "the same, with five records or more",
            "同上，且至少有五条记录",
        ),
    ),
    AnomalyType(
        "last-epoch",
        say(
            "the last record is of the last epoch that is printed, each with one record",
            "最后一条记录属于打印出的最后一个 epoch，每个 epoch 一条记录",
        ),
    ),
    AnomalyType(
        "closing-words",
        say(
            "behind its last record the program says that it is through",
            "程序在最后一条记录之后说明已经结束",
        ),
    ),
    AnomalyType(
        "nan-in-closing",
        say(
            "behind the last record a figure is not finite, or a line tells of such values",
            "最后一条记录之后有指标为 NaN/inf，或有一行提到这样的值",
        ),
        is_bad=True,
    ),
    AnomalyType(
        "told-not-finite",
        say("a line says that the loss is not finite", "有一行指出 loss 为 NaN/inf"),
        is_bad=True,
    ),
    AnomalyType(
        "shell-prompt",
        say(
            "behind the last record a shell waits for a command: the process has ended",
            "最后一条记录之后出现 shell 提示符：进程已经结束",
        ),
        is_bad=True,
    ),
    AnomalyType(
        "traceback-cut",
        say("the log ends in the head of a traceback", "日志在 traceback 的开头处结束"),
        is_bad=True,
    ),
    AnomalyType(
        "trouble-at-end",
        say("the last line of the log is logged as an error", "日志的最后一行是错误级别"),
        is_bad=True,
    ),
)
