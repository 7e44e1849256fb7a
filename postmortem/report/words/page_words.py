"""Phrases that only the page uses, in English and Chinese.

In: nothing. Out: phrases by language and key, which `Words` joins with those of all forms.
Not here: anything that fills them in.
"""

from collections.abc import Mapping
from typing import Final

PAGE: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "language": "English",
        "contents": "Contents",
        "theme.auto": "theme of the system",
        "theme.light": "light theme",
        "theme.dark": "dark theme",
        "checkpoint": "Checkpoint",
        "explained": "What this verdict means",
        "weighed": "How it was weighed",
        "side.for": "for it",
        "side.against": "against it",
        "curve.constant": "Never changes: {what}",
        "curve.constant.one": "{name} {value} ({count} points)",
        "evidence.sum": (
            "Together {total} log-odds, prior included; of one kind of evidence the strongest"
            " counts in full, agreement a quarter. Against the other causes: {share}."
        ),
        "excerpt.short": "Log",
        "harmless.short": "Not the cause",
        "others.short": "Other causes",
        "others.note": "each is weighed by itself: the shares do not add up to 100%",
        "excerpt.plain": "The log at the places named here",
        "change-mind.short": "What would change it",
        "skip": "To the verdict",
        "advisories": "Known defects of these versions",
        "lanes": "Processes",
        "lanes.rest": "{count} others",
        "separated": "What tells them apart",
        "ask": "Ask somebody",
        "ask.how": (
            "This writes the smallest redacted part of the log that leads to the same verdict, as"
            " the text of an issue:"
        ),
    },
    "zh": {
        "language": "中文",
        "contents": "目录",
        "theme.auto": "跟随系统",
        "theme.light": "浅色",
        "theme.dark": "深色",
        "checkpoint": "检查点",
        "explained": "这一结论的含义",
        "weighed": "权重如何得出",
        "side.for": "支持",
        "side.against": "反对",
        "curve.constant": "始终不变：{what}",
        "curve.constant.one": "{name} {value}（{count} 个点）",
        "evidence.sum": (
            "合计 {total} 对数几率（含先验）；同一类证据只有最强的一条全额计入，"
            "其余相互印证的计四分之一。与其他原因相比：{share}。"
        ),
        "excerpt.short": "日志",
        "harmless.short": "不是原因",
        "others.short": "其他原因",
        "others.note": "各自独立评估，概率之和不是 100%",
        "excerpt.plain": "上文提到的日志位置",
        "change-mind.short": "什么会改变结论",
        "skip": "跳到结论",
        "advisories": "这些版本的已知缺陷",
        "lanes": "进程",
        "lanes.rest": "其余 {count} 个",
        "separated": "如何区分",
        "ask": "向他人求助",
        "ask.how": (
            "下面的命令会输出能得到同一结论的最小日志片段（已脱敏），可直接作为 issue 正文："
        ),
    },
}
