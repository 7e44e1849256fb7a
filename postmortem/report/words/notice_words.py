"""Phrases of the short messages that are sent to a chat, in English and Chinese.

In: nothing. Out: phrases by language and key. Not here: filling them in (`report.notice`), phrases
that the reports share (`words.verdict_words`).
"""

from collections.abc import Mapping
from typing import Final

NOTICE: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "do": "To do",
        "need": "What would decide",
        "link": "Report",
        "triage": "triage of {jobs:,} jobs",
        "groups": "{groups:,} groups of failures",
        "groups.new": "{groups:,} groups of failures, {new:,} of them new",
        "healthy": "{count:,} show no failure",
        "unclassified": "{count:,} without a cause",
        "not_judged": "{count:,} could not be judged",
        "lost": "{hours:,.0f} GPU-hours lost",
        "group": "{jobs:,} × {title}",
        "new": "new",
        "unnamed": "No cause named",
        "more": "and {count:,} more groups",
        "between": "; ",
    },
    "zh": {
        "do": "处理办法",
        "need": "还需要什么才能判定",
        "link": "报告",
        "triage": "{jobs:,} 个作业的归类",
        "groups": "共 {groups:,} 组故障",
        "groups.new": "共 {groups:,} 组故障，其中 {new:,} 组是新出现的",
        "healthy": "{count:,} 个没有失败迹象",
        "unclassified": "{count:,} 个未得出原因",
        "not_judged": "{count:,} 个未能判断",
        "lost": "损失 {hours:,.0f} GPU 小时",
        "group": "{jobs:,} × {title}",
        "new": "新出现",
        "unnamed": "未得出原因",
        "more": "另有 {count:,} 组",
        "between": "；",
    },
}
