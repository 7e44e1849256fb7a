"""Phrases about the verdict, in English and Chinese: causes, evidence, fixes, what would decide.

In: nothing. Out: phrases by language and key, which `Words` joins with the others. Not here:
anything that fills them in.
"""

from collections.abc import Mapping
from typing import Final

VERDICT: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "report": "Post-mortem of a training run",
        "verdict": "Verdict",
        "cause": "Cause",
        "probability": "Probability",
        "problem": "The problem lies {place}",
        "whose": "Where it lies",
        "standing": "{status} ({means})",
        "retry": "Run it again",
        "abstain": "The cause cannot be told from this log",
        "status.established": "established",
        "status.supported": "supported",
        "status.hypothesis": "hypothesis",
        "status.unknown": "unknown",
        "means.established": "the log itself proves it",
        "means.supported": "evidence for it and none against, not proved",
        "means.mixed": "more for it than against, not proved",
        "means.hypothesis": "it fits, and so do others",
        "means.unknown": "nothing here decides",
        "whose.user": "in your code or configuration",
        "whose.data": "in the data",
        "whose.library": "in a library",
        "whose.platform": "in the platform (cluster, scheduler, network)",
        "whose.hardware": "in the hardware",
        "whose.unknown": "not known",
        "retry.as-is": "yes, as it is",
        "retry.after-fix": "only after a fix",
        "retry.no": "no, it will not help",
        "retry.unknown": "not known",
        "outcome": "Outcome",
        "outcome.failed": "failed",
        "outcome.completed": "completed",
        "outcome.running": "running",
        "outcome.stalled": "stalled",
        "outcome.incomplete": "incomplete",
        "outcome.not-a-training-log": "not a training log",
        "outcome.unknown": "outcome unknown",
        "outcome.no-end": "no end shown",
        "input.empty": "The files are empty",
        "input.blank": "The files hold only blank lines",
        "input.environment": "This is an environment dump, not a log",
        "input.other": "This does not look like a training log",
        "input.empty.says": (
            "The run wrote nothing into it, or its output went elsewhere. Pass the file that "
            "holds the output of the training run, standard error included."
        ),
        "input.blank.says": (
            "The run wrote nothing else into it, or its output went elsewhere. Pass the file that "
            "holds the output of the training run, standard error included."
        ),
        "input.environment.says": (
            "It tells the machine and the versions, not what happened. Pass it with --env beside "
            "the log: postmortem analyze train.log --env {name}"
        ),
        "input.other.says": (
            "No metric, no traceback and no message of a training framework was recognised. Pass "
            "the file that holds the output of the training run, standard error included."
        ),
        "evidence": "Evidence",
        "evidence.more": "{count} more pieces of evidence",
        "evidence.none": "no evidence was found",
        "weight": "Weight",
        "by.signature": "signature",
        "by.shape": "curve",
        "by.environment": "environment",
        "by.setting": "setting",
        "by.traceback": "traceback",
        "by.advisory": "known defect",
        "by.classifier": "text classifier",
        "by.replay": "replay",
        "weight.note": "log-odds; a negative weight speaks against the cause",
        "fixes": "What to do",
        "fixes.more": "{count} more things to do",
        "kind.check": "check",
        "kind.change": "change",
        "kind.prevent": "prevent",
        "safety.safe": "safe",
        "safety.changes-results": "changes results",
        "safety.costly": "costly",
        "references": "References",
        "others": "Other causes that were weighed",
        "others.short": "Also weighed",
        "comment.cut": (
            "Parts were left out: a comment holds no more. The whole report is the page (HTML) or "
            "the JSON report."
        ),
        "screen.more": "Everything: --full · a page with charts: -o report.html",
        "candidates": "What it could be",
        "harmless": "Looks alarming, is not the cause",
        "first": "First failure",
        "need": "What would decide",
        "unchecked": "Not checked",
        "change-mind": "What would change this verdict",
    },
    "zh": {
        "report": "训练任务故障诊断",
        "verdict": "结论",
        "cause": "原因",
        "probability": "概率",
        "problem": "问题{place}",
        "whose": "出在哪里",
        "standing": "{status}（{means}）",
        "retry": "能否重跑",
        "abstain": "仅凭这份日志无法判断原因",
        "status.established": "已证实",
        "status.supported": "有证据支持",
        "status.hypothesis": "假设",
        "status.unknown": "未知",
        "means.established": "日志本身足以证明",
        "means.supported": "没有反证，但尚未证实",
        "means.mixed": "证据多于反证，但尚未证实",
        "means.hypothesis": "说得通，但其他原因也说得通",
        "means.unknown": "现有内容无法判定",
        "whose.user": "出在你的代码或配置",
        "whose.data": "出在数据",
        "whose.library": "出在依赖库",
        "whose.platform": "出在平台（集群、调度、网络）",
        "whose.hardware": "出在硬件",
        "whose.unknown": "不确定",
        "retry.as-is": "可以原样重跑",
        "retry.after-fix": "修复之后再跑",
        "retry.no": "重跑没有用",
        "retry.unknown": "不确定",
        "outcome": "结果",
        "outcome.failed": "失败",
        "outcome.completed": "已完成",
        "outcome.running": "运行中",
        "outcome.stalled": "卡住",
        "outcome.incomplete": "不完整",
        "outcome.not-a-training-log": "不是训练日志",
        "outcome.unknown": "结果未知",
        "outcome.no-end": "未见结束",
        "input.empty": "文件是空的",
        "input.blank": "文件里只有空行",
        "input.environment": "这是环境信息，不是日志",
        "input.other": "这不像训练日志",
        "input.empty.says": (
            "任务没有写入任何内容，或者输出去了别处。请传入训练任务的输出文件（包括标准错误）。"
        ),
        "input.blank.says": (
            "任务没有写入其他内容，或者输出去了别处。请传入训练任务的输出文件（包括标准错误）。"
        ),
        "input.environment.says": (
            "它只说明机器和版本，没有说明发生了什么。请用 --env 把它和日志一起传入：postmortem "
            "analyze train.log --env {name}"
        ),
        "input.other.says": (
            "没有识别出任何指标、traceback 或训练框架的输出。"
            "请传入训练任务的输出文件（包括标准错误）。"
        ),
        "evidence": "证据",
        "evidence.more": "还有 {count} 条证据",
        "evidence.none": "没有找到证据",
        "weight": "权重",
        "by.signature": "特征",
        "by.shape": "曲线",
        "by.environment": "环境",
        "by.setting": "设置",
        "by.traceback": "traceback",
        "by.advisory": "已知缺陷",
        "by.classifier": "文本分类器",
        "by.replay": "重放",
        "weight.note": "对数几率；负值表示反证",
        "fixes": "怎么办",
        "fixes.more": "还有 {count} 项办法",
        "kind.check": "检查",
        "kind.change": "修改",
        "kind.prevent": "预防",
        "safety.safe": "安全",
        "safety.changes-results": "会改变结果",
        "safety.costly": "代价较高",
        "references": "参考",
        "others": "考虑过的其他原因",
        "others.short": "也考虑过",
        "comment.cut": "评论长度有限，部分内容已省略。完整报告见网页（HTML）或 JSON 报告。",
        "screen.more": "完整报告：--full · 带图表的网页：-o report.html",
        "candidates": "可能的原因",
        "harmless": "看着吓人，但不是原因",
        "first": "首个故障",
        "need": "还需要什么才能判断",
        "unchecked": "未检查",
        "change-mind": "什么会改变这个结论",
    },
}
