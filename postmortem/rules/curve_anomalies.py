"""Anomaly types of training curves: loss, gradients, scale, rates, rewards.

In: nothing. Out: `ANOMALY_TYPES`. Not here: the types that tell of the machine, the processes and
the end (`rules.job_anomalies`), those of a run that does not learn (`rules.no_learning_anomalies`).
"""

from typing import Final

from postmortem.core.message import say
from postmortem.rules.anomaly_type import AnomalyType

ANOMALY_TYPES: Final[tuple[AnomalyType, ...]] = (
    AnomalyType(
        "hidden-nan",
        say(
            "loss printed as 0.0 (or missing) while grad_norm is not finite: a NaN that the trainer"
            " filters out of its mean",
            "loss 显示为 0.0（或缺失）而 grad_norm 不是有限值：训练器在求平均时滤掉了 NaN",
        ),
        is_bad=True,
        is_grave=True,
        can_be_first=True,
        spoils=True,
        is_turn=True,
    ),
    AnomalyType(
        "zero-loss",
        say(
            "the training loss is exactly 0 at several records, with finite or no grad norm",
            "多条记录的训练 loss 恰好为 0，grad_norm 有限或没有打印",
        ),
        is_bad=True,
        is_grave=True,
        can_be_first=True,
        is_turn=True,
    ),
    AnomalyType(
        "nan-first-record",
        say(
            "the very first recorded training loss is not finite",
            "第一条训练 loss 记录就不是有限值",
        ),
        spreads=True,
    ),
    AnomalyType(
        "nan-at-zero-rate",
        say(
            "a non-finite loss or gradient while the learning rate is still 0",
            "学习率仍为 0 时 loss 或梯度就不是有限值",
        ),
        spoils=True,
        spreads=True,
    ),
    AnomalyType(
        "nan-before-update",
        say(
            "the loss of the first step (0 or 1) is not finite: it is computed before any update",
            "第一步（第 0 或第 1 步）的 loss 不是有限值：它在任何更新之前就已算出",
        ),
        spreads=True,
    ),
    AnomalyType(
        "nan-in-interval",
        say(
            "the first bad record comes five steps or more after the one before: a run-up may lie"
            " unseen between them",
            "首条异常记录与前一条相隔五步或更多：其间可能有未打印的上升过程",
        ),
        spreads=True,
    ),
    AnomalyType(
        "nan-zero-gradient",
        say(
            "a NaN loss beside a gradient norm of exactly 0: a mean over nothing",
            "loss 为 NaN 而梯度范数恰好为 0：对空集求了平均",
        ),
        spreads=True,
    ),
    AnomalyType(
        "nan-after-runup",
        say(
            "the loss rises over several finite records, well above its best level, before it stops"
            " being finite",
            "loss 在变为 NaN 或无穷大之前，已连续多条记录明显高于最好水平",
        ),
        spoils=True,
        spreads=True,
    ),
    AnomalyType(
        "inf-at-half-range",
        say(
            "the loss becomes infinite out of figures just below the largest of float16",
            "loss 在接近 float16 最大值处变为无穷大",
        ),
        spreads=True,
    ),
    AnomalyType(
        "nan-out-of-flat",
        say(
            "a flat or falling finite loss turns non-finite from one record to the next",
            "平稳或下降的 loss 在相邻两条记录之间突然变为 NaN 或无穷大",
        ),
        spreads=True,
    ),
    AnomalyType(
        "nan-recovers",
        say(
            "non-finite loss records with finite ones after them",
            "loss 出现 NaN 或无穷大之后又恢复为有限值",
        ),
        is_turn=True,
        spreads=True,
    ),
    AnomalyType(
        "nan-eval-only",
        say(
            "the evaluation loss is not finite while the training loss is finite throughout",
            "评估 loss 不是有限值，而训练 loss 始终有限",
        ),
        is_bad=True,
        is_grave=True,
        can_be_first=True,
        is_turn=True,
        spreads=True,
    ),
    AnomalyType(
        "nan-inputs",
        say(
            "a figure of the inputs (x_absmax, input_mean ...) is not finite when the loss first is"
            " not, or earlier",
            "输入的统计量（x_absmax、input_mean 等）不晚于 loss 变为 NaN 或无穷大",
        ),
        spreads=True,
    ),
    AnomalyType(
        "nan-part-first",
        say(
            "where the loss first is not finite, one of its parts is not and the others are",
            "loss 首次变为 NaN/inf 时，只有一个分量异常，其余分量仍为有限值",
        ),
        is_turn=True,
        spreads=True,
    ),
    AnomalyType(
        "vanishing-before-nan",
        say(
            "a figure above 0 (a probability, a variance) shrinks to nothing just before the loss"
            " is not finite",
            "某个大于 0 的量（概率、方差等）趋近于 0，紧接着 loss 变为 NaN 或无穷大",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "nan-component",
        say(
            "one loss component is not finite while the total or the others stay finite",
            "某个 loss 分量不是有限值，而总 loss 或其他分量仍然有限",
        ),
        is_turn=True,
        spreads=True,
    ),
    AnomalyType(
        "nan-grad-finite-loss",
        say(
            "grad_norm is not finite in several records while the loss stays finite and non-zero",
            "多条记录的 grad_norm 不是有限值，而 loss 有限且不为 0",
        ),
        is_bad=True,
        is_turn=True,
        spreads=True,
    ),
    AnomalyType(
        "grad-never-finite",
        say(
            "grad_norm is finite in none of several records, the loss in each",
            "多条记录的 loss 均有限，而 grad_norm 没有一次是有限值",
        ),
        is_bad=True,
        is_turn=True,
    ),
    AnomalyType(
        "nan-loss",
        say("any non-finite training loss", "训练 loss 出现 NaN 或无穷大"),
        is_bad=True,
        is_grave=True,
        can_be_first=True,
        spoils=True,
        is_turn=True,
        spreads=True,
    ),
    AnomalyType(
        "loss-falls",
        say(
            "the finite training loss falls clearly over the run", "训练 loss 在整个过程中明显下降"
        ),
    ),
    AnomalyType(
        "grad-explosion",
        say(
            "grad_norm grows by two orders of magnitude or more, or to inf",
            "grad_norm 增大两个数量级以上，或变为 inf",
        ),
        is_bad=True,
        is_grave=True,
        can_be_first=True,
        spoils=True,
        is_turn=True,
        spreads=True,
    ),
    AnomalyType(
        "grad-huge-first",
        say(
            "the first grad norm is above 1e5 while the loss is of usual size",
            "第一个 grad_norm 就超过 1e5，而 loss 大小正常",
        ),
        spoils=True,
        is_turn=True,
        spreads=True,
    ),
    AnomalyType(
        "rate-standstill",
        say(
            "the learning rate does not move between records although a schedule is running: the"
            " scaler skips the optimiser step",
            "学习率调度已启用，但相邻记录之间学习率不变：scaler 跳过了优化器更新",
        ),
    ),
    AnomalyType(
        "scale-collapse",
        say(
            "the loss scale halves step after step to 1 or below, or by at least 2**8 without a"
            " clean stretch",
            "loss scale 逐步减半到 1 或以下，或在没有正常步的情况下至少缩小 2**8 倍",
        ),
        is_bad=True,
        is_grave=True,
        can_be_first=True,
        is_turn=True,
    ),
    AnomalyType(
        "scale-settling",
        say(
            "a few halvings at the start, then quiet: the loss scaler finding its level",
            "开始时减半几次，随后稳定：loss scaler 正在寻找合适的缩放值",
        ),
    ),
    AnomalyType(
        "steps-skipped",
        say(
            "three in ten steps or more of the later half of the run are counted as skipped",
            "训练后半程有三成以上的步被跳过",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "fp16-figures",
        say(
            "all losses (or gradient norms) are printed in full and exact in float16",
            "全部 loss（或梯度范数）完整打印，且都能用 float16 精确表示",
        ),
    ),
    AnomalyType(
        "fp16-limit",
        say(
            "figures of float16 that grow to a quarter of its largest number and more, and are"
            " infinite then",
            "float16 的数值升到其最大值的四分之一以上，随后变为无穷",
        ),
    ),
    AnomalyType(
        "bf16-figures",
        say(
            "all losses (or gradient norms) are printed in full and exact in bfloat16",
            "全部 loss（或梯度范数）完整打印，且都能用 bfloat16 精确表示",
        ),
    ),
    AnomalyType(
        "first-loss-high",
        say(
            "the loss of the first steps is more than 1.5 times the logarithm of the vocabulary:"
            " worse than guessing",
            "最初几步的 loss 超过词表大小对数的 1.5 倍：比随机猜测还差",
        ),
    ),
    AnomalyType(
        "first-loss-low",
        say(
            "the loss of the first steps is nearly 0 although the vocabulary is large",
            "词表很大，最初几步的 loss 却接近 0",
        ),
    ),
    AnomalyType(
        "plateau",
        say(
            "the finite training loss does not move over many records",
            "训练 loss 在许多条记录里没有变化",
        ),
    ),
    AnomalyType(
        "plateau-from-start",
        say(
            "a plateau whose level the loss had in its first record already, over at least twelve"
            " records from the beginning of the run on",
            "从训练开始起至少十二条记录里，loss 一直停在第一条记录的水平",
        ),
        can_be_first=True,
    ),
    AnomalyType(
        "collapse",
        say(
            "the loss freezes at one value or stands still above its start, the reward's spread or"
            " a policy's entropy goes to 0, or preferred answers become unlikely, after having"
            " moved",
            "变化之后 loss 冻结在某个值或停在初始值之上、奖励的离散度或策略的熵降为 0，"
            "或偏好回答变得不太可能",
        ),
        can_be_first=True,
        is_turn=True,
    ),
    AnomalyType(
        "flat-rewards",
        say(
            "the spread of the rewards within a group is 0 at every record",
            "每条记录里组内奖励的离散度都是 0",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "high-rate",
        say(
            "the largest learning rate printed or set is at least 10 times what is usual for the"
            " optimiser in use",
            "打印或设置的最大学习率至少是所用优化器常用值的 10 倍",
        ),
    ),
    AnomalyType(
        "nan-metric",
        say(
            "another printed figure (log-probability, reward, KL, score) is not finite",
            "另一个打印的指标（对数概率、奖励、KL、得分）为 NaN/inf",
        ),
        is_bad=True,
        is_turn=True,
        spreads=True,
    ),
    AnomalyType(
        "metric-absurd",
        say(
            "a figure leaves its level by orders of magnitude, at last or for once",
            "某个指标最终或某一次超出原有水平若干个数量级",
        ),
        is_bad=True,
        is_turn=True,
    ),
    AnomalyType(
        "zero-gradient",
        say("the grad norm is exactly 0 to the end", "梯度范数直到最后都恰好为 0"),
        is_bad=True,
        is_turn=True,
    ),
    AnomalyType(
        "loss-vanishes",
        say(
            "the loss is printed no more while what stood beside it goes on",
            "loss 不再打印，而原先与它同行的指标仍在打印",
        ),
        is_bad=True,
        is_turn=True,
    ),
)
