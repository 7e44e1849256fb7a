"""Phrases of the table of a triage's jobs, in English and Chinese.

In: nothing. Out: phrases by language and key; the script of the page fills them in. Not here: the
other phrases of a triage (`words.triage_words`).
"""

from collections.abc import Mapping
from typing import Final

JOB_TABLE: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "filters": "Filter the jobs",
        "text": "Search",
        "text.hint": "job, cause, node, user, message",
        "any": "any",
        "sort": "Sort by",
        "sort.given": "as found",
        "sort.up": "{column}, ascending",
        "sort.down": "{column}, descending",
        "reset": "Show all",
        "shown": "{shown} of {jobs} jobs",
        "shown.hours": "{hours} GPU-hours",
        "shown.known": "{hours} GPU-hours, told of {count}",
        "nothing": "No job fits these filters.",
        "grid": "All jobs; arrow keys move, Enter opens what is in a cell",
        "paper": "The first {shown} of them are printed.",
        "state.waiting": "waiting",
        "state.judged": "judged",
        "state.unreadable": "unreadable",
        "state.crashed": "analysis crashed",
        "state.timed-out": "analysis took too long",
        "state.out-of-memory": "analysis ran out of memory",
        "report.column": "Report",
        "report.job": "job",
        "report.group": "group",
        "all.still": (
            "These are the first {shown} of {jobs} jobs. Filtering and sorting need the script of"
            " this page; every job also stands in results.csv and results.jsonl."
        ),
        "all.whole": (
            "Filtering and sorting need the script of this page; every job also stands in"
            " results.csv and results.jsonl."
        ),
        "all.none": "No job was found.",
    },
    "zh": {
        "filters": "筛选作业",
        "text": "搜索",
        "text.hint": "作业、原因、节点、用户、报错",
        "any": "不限",
        "sort": "排序",
        "sort.given": "原有顺序",
        "sort.up": "{column}，升序",
        "sort.down": "{column}，降序",
        "reset": "显示全部",
        "shown": "{jobs} 个作业中的 {shown} 个",
        "shown.hours": "{hours} GPU 小时",
        "shown.known": "{hours} GPU 小时（{count} 个有数据）",
        "nothing": "没有符合条件的作业。",
        "grid": "全部作业；方向键移动，回车键打开单元格中的内容",
        "paper": "仅打印其中的前 {shown} 个。",
        "state.waiting": "等待中",
        "state.judged": "已判断",
        "state.unreadable": "无法读取",
        "state.crashed": "分析崩溃",
        "state.timed-out": "分析超时",
        "state.out-of-memory": "分析内存不足",
        "report.column": "报告",
        "report.job": "作业",
        "report.group": "组",
        "all.still": (
            "这里是 {jobs} 个作业中的前 {shown} 个。筛选和排序需要本页的脚本；"
            "全部作业也在 results.csv 和 results.jsonl 中。"
        ),
        "all.whole": ("筛选和排序需要本页的脚本；全部作业也在 results.csv 和 results.jsonl 中。"),
        "all.none": "没有找到作业。",
    },
}
