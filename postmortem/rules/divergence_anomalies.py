"""Anomaly types of a finite training loss that leaves its level: spikes and divergence.

In: nothing. Out: `ANOMALY_TYPES`. Not here: the other types of curves (`rules.curve_anomalies`),
finding them (`detectors.divergence`, `detectors.spikes`).
"""

from typing import Final

from postmortem.core.message import say
from postmortem.rules.anomaly_type import AnomalyType

ANOMALY_TYPES: Final[tuple[AnomalyType, ...]] = (
    AnomalyType(
        "loss-spike",
        say(
            "a sudden rise to several times the recent level, recovered or not, all finite",
            "loss 突然升到近期水平的数倍，无论是否恢复，始终有限",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "huge-spike",
        say(
            "a sudden rise, all finite, to more than ten times the highest of the forty records"
            " before; or to several times the last five and above all that the run has shown",
            "loss 突然升到此前四十条记录最高值的十倍以上；或升到最近五条的数倍，且为全程最高",
        ),
        can_be_first=True,
    ),
    AnomalyType(
        "spike-recovers",
        say(
            "a spike of the finite loss, after which it is back near its level and ends there",
            "loss 突刺之后回到原有水平附近，并一直保持到最后",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "spike-over",
        say(
            "the same, with more than twenty records after it: it belongs to the past",
            "同上，且其后还有二十多条记录：突刺已经过去",
        ),
    ),
    AnomalyType(
        "spike-stays",
        say(
            "a calm loss leaps to another level within one record and does not come back",
            "原本平稳的 loss 在一条记录之内跳到另一水平，且没有回落",
        ),
        is_bad=True,
        can_be_first=True,
    ),
    AnomalyType(
        "loss-divergence",
        say(
            "the finite training loss ends far above its best level after a sustained rise, or"
            " spends most of the run above twice its first value",
            "训练 loss 持续上升，最终远高于最好水平；或大部分时间高于初始值的两倍",
        ),
        is_bad=True,
        is_grave=True,
        can_be_first=True,
        spoils=True,
        is_turn=True,
    ),
)
