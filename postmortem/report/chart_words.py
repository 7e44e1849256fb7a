"""Fixed phrases of the page's curves, in English and Chinese; the page's script says some of them.

In: nothing. Out: phrases by key. Not here: looking them up (`report.words`).
"""

from collections.abc import Mapping
from typing import Final

CHART: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "chart.log": "Log axis",
        "chart.in": "Zoom in",
        "chart.out": "Zoom out",
        "chart.reset": "Whole run",
        "chart.near": "Around the failure",
        "chart.hint": (
            "Arrow keys go from sample to sample, + and − zoom, 0 or Escape shows the whole run, L"
            " switches the logarithmic axis."
        ),
        "chart.live": "interactive chart",
        "chart.bar": "Zoom and axis",
        "chart.left-out": "not on a logarithmic axis: {count} values of 0 or below",
        "chart.scale": "powers of two",
        "chart.right": "right axis, log₂",
        "chart.line": "line",
        "chart.processes": "{count} processes compared",
        "chart.thin": "thin grey: {count:,} more processes",
        "chart.table": "Values as a table ({shown:,} of {count:,})",
        "chart.caption": "{name}: {shown:,} of {count:,} values",
        "mark.failure": "first failure",
        "mark.crash": "crash",
        "mark.bad": "first non-finite value",
        "mark.gap": "NaN or infinite",
        "mark.overflow": "step skipped (overflow)",
        "mark.checkpoint": "checkpoint saved",
        "mark.evaluation": "evaluation",
        "mark.resumed": "resumed from a checkpoint",
        "mark.restarted": "new attempt",
        "mark.count": "{name}, {count:,} times",
        "mark.some": "{name}, {count:,} times, at most {shown:,} of them drawn",
        "at-record": "record {value}",
    },
    "zh": {
        "chart.log": "对数轴",
        "chart.in": "放大",
        "chart.out": "缩小",
        "chart.reset": "全程",
        "chart.near": "故障附近",
        "chart.hint": "方向键逐点移动，+ 与 − 缩放，0 或 Esc 显示全程，L 切换对数轴。",
        "chart.live": "可交互的图",
        "chart.bar": "缩放与坐标轴",
        "chart.left-out": "对数轴上未画出：{count} 个不大于 0 的值",
        "chart.scale": "2 的幂",
        "chart.right": "右轴，log₂",
        "chart.line": "行",
        "chart.processes": "{count} 个进程对比",
        "chart.thin": "灰色细线：另外 {count:,} 个进程",
        "chart.table": "数值表（{count:,} 个值中的 {shown:,} 个）",
        "chart.caption": "{name}：{count:,} 个值中的 {shown:,} 个",
        "mark.failure": "首个故障",
        "mark.crash": "崩溃",
        "mark.bad": "首个 NaN/inf",
        "mark.gap": "NaN 或无穷大",
        "mark.overflow": "跳过的步（溢出）",
        "mark.checkpoint": "保存检查点",
        "mark.evaluation": "评估",
        "mark.resumed": "从检查点恢复",
        "mark.restarted": "重新开始",
        "mark.count": "{name}，{count:,} 次",
        "mark.some": "{name}，{count:,} 次，最多画出其中 {shown:,} 次",
        "at-record": "第 {value} 条记录",
    },
}
