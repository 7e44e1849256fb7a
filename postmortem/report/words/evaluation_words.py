"""Phrases of an evaluation, in English and Chinese.

In: nothing. Out: phrases by language and key. Not here: filling them in (`page.metrics_page`,
`terminal.metrics_tables`).
"""

from collections.abc import Mapping
from typing import Final

EVALUATION: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "title": "How good the diagnosis is",
        "lead": (
            "{cases} labelled logs. The right cause stands first for {rules:.1%} by the rules"
            " alone, for {best:.1%} by {way}."
        ),
        "lead.one": "{cases} labelled logs. The right cause stands first for {rules:.1%}.",
        "judged.unseen": "No case is judged by a classifier that has seen a log of its origin.",
        "judged.as-it-is": (
            "The classifier is judged as it is: of logs that it was trained on, its figures say"
            " nothing (--train leaves each origin out in turn)."
        ),
        "judged.rules": "No classifier is heard.",
        "overview": "Every way of judging",
        "overview.note": (
            "all: rules and classifier together, as “postmortem analyze” judges. evidence: the"
            " rules, with the probability that was fitted to their evidence. grep: the last line"
            " that sounds like an error, and a fixed table of words. last error line: the"
            " classifier, given no more than that line. Intervals are 95 %, of cases drawn anew."
        ),
        "sources": "By source",
        "sources.note": "the share of logs whose right cause stands first, with its 95 % interval",
        "reliability": "Reliability",
        "reliability.note": (
            "of the cases in each tenth of probability, how many are right; on the dashed line"
            " probabilities promise what they hold. A larger dot is of more cases."
        ),
        "coverage-plot": "Coverage against precision",
        "coverage-plot.note": (
            "naming a cause only from a probability on: how many cases get one, and how many of"
            " these verdicts are right. A way without probabilities is a point."
        ),
        "causes": "Causes",
        "causes.note": "{way}; the weakest first; cases held out are in no row",
        "confusions": "Taken for another",
        "confusions.note": "{way}; the most frequent first; cases held out are in no row",
        "values": "Values",
        "figure": "figure",
        "source": "source",
        "cause": "cause",
        "taken_for": "taken for",
        "cases": "cases",
        "hits": "hits",
        "wrongly_called": "wrongly called",
        "f1": "F1",
        "f1.rules": "F1, rules",
        "top1": "right cause first",
        "top1_interval": "its 95 % interval",
        "top3": "right cause among three",
        "macro_f1": "macro F1 (3 cases or more)",
        "macro_f1_interval": "its 95 % interval",
        "coverage": "coverage",
        "verdict_precision": "precision of verdicts",
        "confident_wrong": "wrong with probability ≥ 0.8",
        "ece": "expected calibration error",
        "brier": "Brier score",
        "coverage_at_precision_0.95": "coverage at precision 0.95",
        "abstain.cases": "rules abstain: cases",
        "abstain.right": "rules abstain: named rightly",
        "abstain.precision": "rules abstain: precision",
        "probability": "probability",
        "right": "share that is right",
        "x.coverage": "coverage",
        "y.precision": "precision",
        "held-out": "{way}, held out",
        "none": "none",
        "more": "{count} more",
        "way": "judged by",
        "way.rules": "rules",
        "way.text": "text",
        "way.evidence": "evidence",
        "way.all": "all",
        "way.grep": "grep",
        "way.last error line": "last error line",
        "from.samples": "samples",
        "from.public": "public",
        "from.composed": "composed",
        "plot.reliability": (
            "{way}: share that is right over probability; {points}; calibration error {error:.3f}"
        ),
        "plot.point": "{x:.2f}: {y:.2f} ({cases})",
        "plot.coverage": "precision over coverage of {ways}",
    },
    "zh": {
        "title": "诊断的准确程度",
        "lead": (
            "{cases} 份有标注的日志。正确原因排在第一位的比例：仅用规则为 {rules:.1%}，{way}为"
            " {best:.1%}。"
        ),
        "lead.one": "{cases} 份有标注的日志。正确原因排在第一位的比例为 {rules:.1%}。",
        "judged.unseen": "判断每个案例的分类器都没有见过同一来源的日志。",
        "judged.as-it-is": (
            "分类器按现状评判：对训练时用过的日志，这些数字说明不了什么"
            "（--train 会依次留出每个来源）。"
        ),
        "judged.rules": "没有使用分类器。",
        "overview": "各种判断方式",
        "overview.note": (
            "全部：规则与分类器共同判断，即 “postmortem analyze” 的做法。证据：规则的结论，"
            "概率按其证据拟合而来。grep：最后一行像错误的"
            "日志，加一张固定的词表。最后的错误行：只把这一行交给分类器。区间为重抽样得到的 95%"
            " 区间。"
        ),
        "sources": "按来源",
        "sources.note": "正确原因排在第一位的比例，及其 95% 区间",
        "reliability": "可靠性",
        "reliability.note": (
            "在每一段（十分之一）概率中，有多少案例判断正确；落在虚线上表示概率名副其实。"
            "圆点越大，案例越多。"
        ),
        "coverage-plot": "覆盖率与精确率",
        "coverage-plot.note": (
            "只在概率达到某一值时才给出原因：有多少案例得到结论，其中又有多少正确。不给出概率的"
            "方式画成一个点。"
        ),
        "causes": "各原因",
        "causes.note": "{way}；最弱的在前；留出的案例不在表中",
        "confusions": "误判",
        "confusions.note": "{way}；最常见的在前；留出的案例不在表中",
        "values": "数值",
        "figure": "指标",
        "source": "来源",
        "cause": "原因",
        "taken_for": "误判为",
        "cases": "案例数",
        "hits": "命中",
        "wrongly_called": "误报",
        "f1": "F1",
        "f1.rules": "F1（规则）",
        "top1": "正确原因排第一",
        "top1_interval": "其 95% 区间",
        "top3": "正确原因在前三",
        "macro_f1": "宏平均 F1（案例数 ≥ 3）",
        "macro_f1_interval": "其 95% 区间",
        "coverage": "覆盖率",
        "verdict_precision": "结论的精确率",
        "confident_wrong": "概率 ≥ 0.8 却判断错误",
        "ece": "期望校准误差",
        "brier": "Brier 分数",
        "coverage_at_precision_0.95": "精确率 0.95 时的覆盖率",
        "abstain.cases": "规则不下结论：案例数",
        "abstain.right": "规则不下结论：正确指出",
        "abstain.precision": "规则不下结论：精确率",
        "probability": "概率",
        "right": "正确的比例",
        "x.coverage": "覆盖率",
        "y.precision": "精确率",
        "held-out": "{way}（留出）",
        "none": "无",
        "more": "另有 {count} 项",
        "way": "判断方式",
        "way.rules": "规则",
        "way.text": "文本",
        "way.evidence": "证据",
        "way.all": "全部",
        "way.grep": "grep",
        "way.last error line": "最后的错误行",
        "from.samples": "样本",
        "from.public": "公开",
        "from.composed": "合成",
        "plot.reliability": "{way}：各概率下正确的比例；{points}；校准误差 {error:.3f}",
        "plot.point": "{x:.2f}：{y:.2f}（{cases}）",
        "plot.coverage": "{ways}的精确率与覆盖率",
    },
}
