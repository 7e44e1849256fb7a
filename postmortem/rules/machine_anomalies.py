"""Anomaly types of the machine: GPUs, torch, limits, disks, packages.

In: nothing. Out: `ANOMALY_TYPES`. Not here: the types that tell of the run
(`rules.curve_anomalies`, `rules.job_anomalies`).
"""

from typing import Final

from postmortem.core.message import say
from postmortem.rules.anomaly_type import AnomalyType

ANOMALY_TYPES: Final[tuple[AnomalyType, ...]] = (
    AnomalyType(
        "gpu-held",
        say(
            "a listing of the GPUs shows much memory of one in use, outside the run",
            "GPU 列表显示某张 GPU 的大量显存在训练之外被占用",
        ),
    ),
    AnomalyType(
        "gpu-empty",
        say(
            "a listing of the GPUs shows their memory free, outside the run",
            "GPU 列表显示在训练之外显存基本空闲",
        ),
    ),
    AnomalyType(
        "oom-in-evaluation",
        say(
            "CUDA OOM right after the log tells of evaluation or generation",
            "日志刚提到评估或生成，随后 CUDA 显存不足",
        ),
    ),
    AnomalyType(
        "oom-in-loading",
        say(
            "CUDA OOM right after the log tells of the loading of weights or state",
            "日志刚提到加载权重或状态，随后 CUDA 显存不足",
        ),
    ),
    AnomalyType(
        "oom-in-saving",
        say(
            "CUDA OOM right after the log tells of saving or merging",
            "日志刚提到保存或合并，随后 CUDA 显存不足",
        ),
    ),
    AnomalyType(
        "torch-built-for-cpu",
        say(
            "the environment shows a torch that was built without CUDA",
            "环境信息显示 torch 构建时没有 CUDA",
        ),
    ),
    AnomalyType(
        "torch-finds-no-gpu",
        say(
            "the environment says that torch finds no GPU that it can use",
            "环境信息显示 torch 找不到可用的 GPU",
        ),
    ),
    AnomalyType(
        "few-open-files",
        say(
            "the limit on open files is a few thousand or less",
            "打开文件数上限只有几千或更低",
        ),
    ),
    AnomalyType(
        "many-open-files",
        say(
            "the limit on open files is 65535 or more, or there is none",
            "打开文件数上限不低于 65535，或没有上限",
        ),
    ),
    AnomalyType(
        "few-processes",
        say("the limit on processes is low", "进程数上限很低"),
    ),
    AnomalyType(
        "shm-small",
        say("/dev/shm is small, or full", "/dev/shm 很小或已满"),  # noqa: S108 -- a text
    ),
    AnomalyType(
        "shm-roomy",
        say("/dev/shm is large and mostly free", "/dev/shm 很大且大部分空闲"),  # noqa: S108 -- a text
    ),
    AnomalyType(
        "disk-at-its-end",
        say("a listing of the disks shows one that is full", "磁盘列表显示有一个已满"),
    ),
    AnomalyType(
        "disk-with-room",
        say(
            "a listing of the disks shows room on all of them",
            "磁盘列表显示各磁盘都有剩余空间",
        ),
    ),
    AnomalyType(
        "oom-kill-counted",
        say(
            "the container or its cgroup counts processes that the kernel killed for want of"
            " memory",
            "容器或其 cgroup 记录了因内存不足被内核杀死的进程",
        ),
    ),
    AnomalyType(
        "host-memory-spent",
        say(
            "the printed memory of the host is all but spent at the end",
            "打印的主机内存到最后几乎耗尽",
        ),
    ),
    AnomalyType(
        "host-memory-rising",
        say(
            "the printed memory of the process or of the host rises over the run",
            "打印的进程或主机内存占用持续上升",
        ),
        is_turn=True,
    ),
    AnomalyType(
        "no-oom-kill-counted",
        say(
            "the container or its cgroup counts no process that the kernel killed for want of"
            " memory",
            "容器或其 cgroup 没有因内存不足被内核杀死的记录",
        ),
    ),
    AnomalyType(
        "wheel-of-other-torch",
        say(
            "a compiled package was built for another version of torch than the installed one",
            "某个编译的包是为另一个 torch 版本构建的",
        ),
    ),
    AnomalyType(
        "named-package-listed",
        say(
            "the package that the error asks for stands in a list of what is installed",
            "报错所要求的包在已安装列表中",
        ),
    ),
    AnomalyType(
        "named-package-unlisted",
        say(
            "a whole list of what is installed lacks the package that the error asks for",
            "完整的已安装列表中没有报错所要求的包",
        ),
    ),
    AnomalyType(
        "versions-unfit",
        say(
            "of the installed packages one asks for a version of another that is not there",
            "已安装的包中，有一个要求另一个包的版本，而安装的并非该版本",
        ),
    ),
    AnomalyType(
        "versions-unfit-at-failure",
        say(
            "the same, and the error stands between these two packages",
            "同上，且报错发生在这两个包之间",
        ),
    ),
)
