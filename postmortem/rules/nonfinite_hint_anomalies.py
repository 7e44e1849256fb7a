"""Anomaly types that a log states in words where values are not finite.

In: nothing. Out: `ANOMALY_TYPES`. Not here: the types of curves (`rules.curve_anomalies`), finding
them (`detectors.nonfinite_hints`, `detectors.contrasts`).
"""

from typing import Final

from postmortem.core.message import say
from postmortem.rules.anomaly_type import AnomalyType

ANOMALY_TYPES: Final[tuple[AnomalyType, ...]] = (
    AnomalyType(
        "told-labels",
        say(
            "a line says that no label is left beside a loss that is 0 or not finite",
            "loss 为 0 或 NaN/inf 时，日志指出没有有效标签",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "told-mask",
        say(
            "a line says that masked or padded positions go with values that are not finite",
            "日志指出 NaN/inf 与掩码或填充有关",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "told-embeddings",
        say(
            "a line says that embedding rows are new, zero or untrained",
            "日志指出 embedding 中有新增、为零或未训练的行",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "told-weights",
        say(
            "a line says that weights, or the optimiser's state, are not finite before the"
            " training spoils them",
            "日志指出权重或优化器状态在训练之前就含 NaN/inf",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "told-operation",
        say(
            "a line names an operation on a value for which it is not defined",
            "日志指出某个运算用在了无定义的值上",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "data-warned",
        say(
            "right before the first bad value, NumPy warns of a division by zero or an invalid"
            " value in code that prepares data",
            "在第一个异常值之前，NumPy 在数据处理代码中警告除零或非法值",
        ),
        can_be_first=True,
        is_turn=True,
    ),
    AnomalyType(
        "told-device",
        say(
            "a line says that one device or process computes other values than the rest",
            "日志指出某个设备或进程的计算结果与其余不同",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "told-inputs",
        say(
            "a line says that inputs are not finite or broken where the loss is not finite",
            "日志指出输入含 NaN/inf 或已损坏，同时 loss 为 NaN/inf",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "told-before",
        say(
            "before the failure a line tells of values that are not finite, or of what spoils them",
            "故障之前已有一行日志指出 NaN/inf，或指出其来由",
        ),
        can_be_first=True,
    ),
    AnomalyType(
        "told-version",
        say(
            "the same thing is finite with one version and not with another",
            "换一个版本数值就正常，另一个版本则为 NaN/inf",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "told-batch-size",
        say(
            "it is finite with one sample in a batch and not with several",
            "batch 只有一个样本时数值正常，有多个样本时则为 NaN/inf",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "told-precision",
        say(
            "it is finite in a wider precision and not in float16",
            "换用更大范围的精度数值正常，float16 则为 NaN/inf",
        ),
        is_turn=True,
    ),
)
