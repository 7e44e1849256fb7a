"""Anomaly types of curves where nothing is learnt though every figure is finite.

In: nothing. Out: `ANOMALY_TYPES`. Not here: losses that stand still or freeze
(`rules.curve_anomalies`).
"""

from typing import Final

from postmortem.core.message import say
from postmortem.rules.anomaly_type import AnomalyType

ANOMALY_TYPES: Final[tuple[AnomalyType, ...]] = (
    AnomalyType(
        "tiny-rate",
        say(
            "the largest learning rate printed is above 0 and below 1e-8",
            "打印的最大学习率大于 0 而小于 1e-8",
        ),
    ),
    AnomalyType(
        "rate-zero-throughout",
        say(
            "the learning rate is 0 in all of many records, and the loss does not fall",
            "许多条记录的学习率全是 0，loss 没有下降",
        ),
        is_bad=True,
    ),
    AnomalyType(
        "stuck-score",
        say(
            "a low score is one and the same value over many records while the loss does not fall",
            "较低的得分在许多条记录里始终是同一个值，loss 也没有下降",
        ),
        can_be_first=True,
        is_bad=True,
        is_turn=True,
    ),
    AnomalyType(
        "nothing-moves",
        say(
            "every figure is the same in all records, or a score is 0 throughout beside a loss that"
            " does not fall",
            "所有记录的各项指标完全相同，或得分始终为 0 而 loss 没有下降",
        ),
        is_bad=True,
        is_turn=True,
    ),
    AnomalyType(
        "no-progress",
        say(
            "a few late figures stand where those of a guess do: the accuracy of a coin, the loss"
            " of one class among many, one figure that nothing moves",
            "训练已久，少数几条记录仍停在猜测的水平：抛硬币的准确率、在许多类中猜一类的 loss，"
            "或始终不变的指标",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "reward-sinks",
        say(
            "a reward of few records ends, sinking still, many times further down than it began",
            "少数几条记录里，奖励一路下降，最后远低于开始时的水平",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "at-chance",
        say(
            "the loss is the logarithm of the classes, the accuracy one in so many",
            "loss 等于类别数的对数，准确率等于类别数分之一",
        ),
        is_bad=True,
        is_turn=True,
    ),
    AnomalyType(
        "few-losses",
        say(
            "a run that is through shows one to four records of its loss, which hardly falls",
            "训练已结束，但只打印了一至四条 loss 记录，且几乎没有下降",
        ),
    ),
    AnomalyType(
        "loss-no-better",
        say(
            "a run that is through ends with a loss no lower than its first, or that of a language"
            " model that knows but how frequent words are",
            "训练已结束，但最后的 loss 不低于开始时，或与只知道词频的语言模型相当",
        ),
    ),
)
