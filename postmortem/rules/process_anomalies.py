"""Anomaly types of several processes, of waiting and of standing still.

In: nothing. Out: `ANOMALY_TYPES`. Not here: the types of the curves of training
(`rules.curve_anomalies`).
"""

from typing import Final

from postmortem.core.message import say
from postmortem.rules.anomaly_type import AnomalyType

ANOMALY_TYPES: Final[tuple[AnomalyType, ...]] = (
    AnomalyType(
        "ranks-differ",
        say(
            "the watchdogs of two ranks name different collectives under one sequence number",
            "两个 rank 的 watchdog 在同一序号下给出了不同的集合通信",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "rank-slower",
        say(
            "one rank takes much longer over its own work than all others, record after record",
            "某个 rank 自身的计算耗时在每条记录中都远长于其他所有 rank",
        ),
    ),
    AnomalyType(
        "rank-behind",
        say(
            "by the watchdogs' counts one rank has enqueued fewer collectives than the others: it"
            " did not come to the one that timed out",
            "按 watchdog 的计数，某个 rank 入队的集合通信比其他 rank 少：它没有到达超时的那一个",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "nccl-rank-absent",
        say(
            "some ranks began to join an NCCL communicator, none has joined it, and at least one"
            " rank did not begin",
            "部分 rank 开始加入 NCCL 通信器，但没有一个完成，且至少一个 rank 没有开始",
        ),
    ),
    AnomalyType(
        "odd-line",
        say(
            "just before its first bad value, the process that went wrong first prints a line about"
            " its data that no other process prints",
            "最先出错的进程在第一个异常值之前打印了一行关于数据的信息，其他进程都没有",
        ),
        can_be_first=True,
        is_turn=True,
    ),
    AnomalyType(
        "peer-named",
        say(
            "one process or machine is named by others as gone, or as the one they wait for",
            "某个进程或机器被其他进程指为已失联，或被等待的那一个",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "silent-rank",
        say(
            "one rank keeps silent where the watchdogs of all the others report, or records fewer"
            " steps than all the others, which agree",
            "其他 rank 的 watchdog 都有报告而唯独某个 rank 没有，或它记录的步数少于其他一致的 rank",
        ),
    ),
    AnomalyType(
        "uneven-work",
        say(
            "the ranks count to different numbers of steps or batches",
            "各 rank 的总步数或总批数不同",
        ),
    ),
    AnomalyType(
        "one-rank-first",
        say(
            "the training loss of one rank stops being finite at an earlier step than that of all"
            " the others",
            "某个 rank 的训练 loss 比其他所有 rank 更早变为 NaN 或无穷大",
        ),
        can_be_first=True,
        spoils=True,
        is_turn=True,
    ),
    AnomalyType(
        "silence",
        say(
            "by the printed clock, the log is still for many times the usual distance of its lines"
            " after the last metric record, and then goes on",
            "按日志时间，最后一条指标记录之后很久没有输出，远超平常的行间隔，随后又有输出",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "same-step",
        say(
            "behind the last metric record, lines go on for many times the usual distance of the"
            " records, by the printed clock, and all name the same step",
            "最后一条指标记录之后，日志仍在输出，持续时间远超平常的记录间隔，但步数始终不变",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "stood-still",
        say(
            "nothing of the run itself comes any more, for many times the usual distance of its"
            " lines, while a watcher, a scheduler or a dump of the job shows that time went by",
            "训练本身不再有任何输出，时间远超平常的行间隔，而监视程序、调度器或转储表明时间仍在流逝",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "stood-still-at-start",
        say(
            "the same before any training record was printed",
            "同上，且没有打印过任何训练记录",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "log-goes-on",
        say(
            "the log was written to moments before somebody looked at the time of its last change",
            "有人查看日志的修改时间时，日志不久前仍在写入",
        ),
    ),
    AnomalyType(
        "waits-at-start",
        say(
            "before any training record, the last line of a process names something that it waits"
            " for, or a phase in which processes wait for one another",
            "在任何训练记录之前，某个进程的最后一行是它所等待的事物，或各进程互相等待的阶段",
        ),
    ),
    AnomalyType(
        "stacks-dumped",
        say(
            "somebody has had the processes print their stacks",
            "有人让各进程打印了调用栈",
        ),
    ),
    AnomalyType(
        "stack-apart",
        say(
            "by the stacks one process stands elsewhere, while the others wait in a collective",
            "从调用栈看，一个进程停在别处，而其余进程在集合通信中等待",
        ),
    ),
    AnomalyType(
        "no-record",
        say(
            "the run stands still, and no training record was printed",
            "训练停住不动，且没有打印任何训练记录",
        ),
    ),
)
