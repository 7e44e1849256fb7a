"""Phrases of two runs side by side, in English and Chinese.

In: nothing. Out: phrases by language and key. Not here: filling them in (`report.side_by_side`).
"""

from collections.abc import Mapping
from typing import Final

COMPARISON: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "title": "Two runs compared",
        "good": "good",
        "bad": "bad",
        "settings": "Settings that differ",
        "environment": "Environment that differs",
        "curves": "Curves",
        "part": "{name}: part at step {step}: {good} (good) against {bad} (bad)",
        "together": "{name}: no parting over {count} common steps; at the last {good} and {bad}",
        "only_bad": "Lines that only the bad run prints",
        "only_good": "Lines that only the good run prints",
        "none": "nothing",
        "more": "{count} more",
        "unsaid": "not said",
        "lines": "without bars, banners, launchers and imports; numbers and paths do not count",
    },
    "zh": {
        "title": "两次训练的对比",
        "good": "正常",
        "bad": "异常",
        "settings": "不同的设置",
        "environment": "不同的环境",
        "curves": "曲线",
        "part": "{name}：从第 {step} 步开始分离：{good}（正常）对 {bad}（异常）",
        "together": "{name}：在 {count} 个共同的步上没有分离；最后为 {good} 与 {bad}",
        "only_bad": "只有异常的训练才打印的行",
        "only_good": "只有正常的训练才打印的行",
        "none": "无",
        "more": "另有 {count} 项",
        "unsaid": "未说明",
        "lines": "不含进度条、横幅、启动器和导入时的输出；不比较数字和路径",
    },
}
