"""Phrases of a replay, in English and Chinese.

In: nothing. Out: phrases by language and key, which `Words` joins with the others. Not here:
filling them in (`report.replay_texts`).
"""

from collections.abc import Mapping
from typing import Final

REPLAY: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "replay": "Replay",
        "replay.title": "The suspect steps run again",
        "replay.note": "the recorded steps were run again, each time with one thing changed",
        "replay.reason": "Recorded because",
        "replay.fidelity": "As recorded",
        "replay.place": "First out of range",
        "replay.devices": "Recorded on {there}, run again on {here}",
        "replay.verdicts": "What it says of each cause",
        "replay.culprits": "The samples that the failure hangs on",
        "replay.culprit": "step {step}, place {position} in the batch",
        "replay.index": "index {index} in the data set",
        "replay.trials": "Trials",
        "replay.changed": "Changed",
        "replay.outcome": "Outcome",
        "replay.what": "What happened",
        "replay.peaks": "Greatest values by module",
        "replay.peaks.of": "{of}; limit of {dtype}: {limit}",
        "replay.peaks.said": (
            "Greatest absolute value in the output of {count} modules, in the order of the forward"
            " pass; {over} of them at or beyond the limit of {dtype}, {limit}"
        ),
        "replay.peaks.over": "beyond the limit",
        "replay.peaks.bad": "not finite",
        "replay.module": "module",
        "replay.notes": "How it was done",
        "replay.verdict.confirmed": "confirmed",
        "replay.verdict.refuted": "refuted",
        "replay.verdict.not-reproduced": "not reproduced",
        "replay.verdict.not-testable": "not testable",
        "replay.outcome.finite": "finite",
        "replay.outcome.not-finite": "not finite",
        "replay.outcome.diverges": "climbs",
        "replay.outcome.skipped": "skipped",
        "replay.outcome.failed": "failed",
        "replay.skipped": "Skipped",
    },
    "zh": {
        "replay": "重放",
        "replay.title": "重跑可疑的训练步",
        "replay.note": "重跑记录下来的步，每次只改动一处",
        "replay.reason": "记录原因",
        "replay.fidelity": "按原样重跑",
        "replay.place": "最先超出范围之处",
        "replay.devices": "记录于 {there}，重放于 {here}",
        "replay.verdicts": "对各个原因的判定",
        "replay.culprits": "决定失败的样本",
        "replay.culprit": "第 {step} 步，batch 中的位置 {position}",
        "replay.index": "数据集中的序号 {index}",
        "replay.trials": "试验",
        "replay.changed": "改动",
        "replay.outcome": "结果",
        "replay.what": "经过",
        "replay.peaks": "各模块的最大值",
        "replay.peaks.of": "{of}；{dtype} 的上限：{limit}",
        "replay.peaks.said": (
            "按前向顺序列出 {count} 个模块输出的最大绝对值；其中 {over} 个达到或超过"
            " {dtype} 的上限 {limit}"
        ),
        "replay.peaks.over": "超过上限",
        "replay.peaks.bad": "NaN/inf",
        "replay.module": "模块",
        "replay.notes": "说明",
        "replay.verdict.confirmed": "已证实",
        "replay.verdict.refuted": "已排除",
        "replay.verdict.not-reproduced": "未重现",
        "replay.verdict.not-testable": "无法检验",
        "replay.outcome.finite": "有限",
        "replay.outcome.not-finite": "NaN/inf",
        "replay.outcome.diverges": "上升",
        "replay.outcome.skipped": "跳过",
        "replay.outcome.failed": "无法运行",
        "replay.skipped": "跳过",
    },
}
