"""Labels, joints and counts that every form uses, in English and Chinese.

In: nothing. Out: phrases by language and key, which `Words` joins with the others. Not here:
anything that fills them in.
"""

from collections.abc import Mapping
from typing import Final

SMALL: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "copy": "Copy",
        "copied": "Copied",
        "place": "Place",
        "what": "What",
        "name": "Name",
        "value": "Value",
        "step": "step",
        "record": "record",
        "at-step": "step {value}",
        "at-epoch": "epoch {value}",
        "at-line": "line {value}",
        "time": "Time",
        "times": "{count} times",
        "more": "{count} more",
        "yes": "yes",
        "no": "no",
        "joint": ", ",
        "colon": ": ",
        "stop": ". ",
        "semicolon": "; ",
        "bracketed": " ({text})",
        "marked": "  [{text}]",
        "listed": ", ",
        "quoted": "“{text}”",
        "carried": "words that carry it: {what}",
    },
    "zh": {
        "copy": "复制",
        "copied": "已复制",
        "place": "位置",
        "what": "内容",
        "name": "名称",
        "value": "值",
        "step": "步数",
        "record": "记录",
        "at-step": "第 {value} 步",
        "at-epoch": "第 {value} 轮",
        "at-line": "第 {value} 行",
        "time": "时间",
        "times": "{count} 次",
        "more": "还有 {count} 项",
        "yes": "是",
        "no": "否",
        "joint": "，",
        "colon": "：",
        "stop": "。",
        "semicolon": "；",
        "bracketed": "（{text}）",
        "marked": "（{text}）",
        "listed": "、",
        "quoted": "“{text}”",
        "carried": "起作用的词：{what}",
    },
}
