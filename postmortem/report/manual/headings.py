"""Headings of the pages that explain rules, in every language.

In: nothing. Out: `Message`s by name. Not here: what the rules themselves say (`patterns/`).
"""

from collections.abc import Mapping
from typing import Final

from postmortem.core.message import Message, quote, say

HEADINGS: Final[Mapping[str, Message]] = {
    "signatures": say("What it looks like in a log", "日志中的表现"),
    "for": say("What speaks for it", "支持的证据"),
    "against": say("What speaks against it", "反对的证据"),
    "separates": say("What tells it from its neighbours", "与相近原因的区别"),
    "precedence": say("Which of two is named", "两者并存时取哪一个"),
    "need": say("What would decide", "还需要什么才能判定"),
    "fixes": say("What to do", "处理办法"),
    "advisories": say("Versions known for it", "已知有此问题的版本"),
    "suggests": say("What it suggests", "它指向的原因"),
    "match": say("How it is recognised", "识别方式"),
    "examples": say("Examples", "示例"),
    "source": say("Who prints it", "由谁打印"),
    "references": say("References", "参考"),
    "used": say("Who asks for it", "用到它的规则"),
    "holds": say("When it holds", "成立的条件"),
    "over": say("On what it stands", "它基于"),
    "causes": say("For which causes", "针对的原因"),
    "asked": say("When it applies", "适用条件"),
    "fixed": say("What mends it", "解决办法"),
}
LEVELS: Final[Mapping[str, Message]] = {
    "decisive": say("decisive", "决定性"),
    "strong": say("strong", "强"),
    "moderate": say("moderate", "中"),
    "weak": say("weak", "弱"),
}
WORDS: Final[Mapping[str, Message]] = {
    "causes": say("Causes", "全部原因"),
    "cause": say("cause", "原因"),
    "signature": say("message in a log", "日志信息"),
    "condition": say("condition", "条件"),
    "shape": say("shape of curves or of a job", "曲线或作业的形态"),
    "classifier": say("evidence of the text classifier", "文本分类器给出的证据"),
    "fix": say("fix", "处理办法"),
    "exception": say("exception", "异常"),
    "stack": say("stack: framework, trainer or engine", "框架、训练器或引擎"),
    "advisory": say("known defect of a version", "版本的已知缺陷"),
    "not": say("not", "非"),
    "if": say("if", "条件："),
    "before": say("goes before", "优先于"),
    "behind": say("yields to", "让位于"),
    "check": say("check", "检查"),
    "change": say("change", "修改"),
    "prevent": say("prevent", "预防"),
    "safe": say("safe", "无副作用"),
    "changes-results": say("changes the results", "会改变训练结果"),
    "costly": say("costs time or memory", "有时间或内存开销"),
    "whose": say("To be mended in", "应由谁处理"),
    "user": say("the user's code or settings", "用户的代码或设置"),
    "data": say("the data", "数据"),
    "library": say("a library", "第三方库"),
    "platform": say("the platform", "平台"),
    "hardware": say("the hardware", "硬件"),
    "unknown": say("unknown", "不明"),
    "retry as-is": say("A retry as it is may succeed", "原样重试可能成功"),
    "retry after-fix": say("Retry after the fix", "修复后再重试"),
    "retry no": say("There is nothing to retry", "无需重试"),
    "retry unknown": say("Whether a retry helps is not known", "重试是否有用尚不清楚"),
    "labelled": say("{label}: {text}", "{label}：{text}"),
    "aside": say("{text} ({aside})", "{text}（{aside}）"),
    "sentences": say("{first}. {second}", "{first}。{second}"),
    "role cause": say("The line itself names what went wrong", "这一行直接说明了出错原因"),
    "role consequence": say(
        "The line is printed because something else failed", "这一行是其他故障引起的"
    ),
    "role warning": say("Worth attention; it ends no run", "值得注意，但不会使训练中止"),
    "role harmless": say("It frightens people and means nothing", "看似可怕，实则无害"),
    "role context": say("It tells what was going on", "说明当时正在做什么"),
}
_SNIPPETS: Final[Mapping[str, Message]] = {
    "any": say("In any stack", "任何框架"),
    "model": say("On a PyTorch model in hand", "直接操作 PyTorch 模型"),
    "pytorch": say("In a plain PyTorch loop", "纯 PyTorch 训练循环"),
}


def get_stack_name(key: str) -> Message:
    """Name the stack under whose key a snippet stands."""
    return _SNIPPETS.get(key) or quote(key)


TEXT_MODEL: Final = say("The wording is that of such failures", "措辞与此类故障相符")
TEXT_MODEL_NOTES: Final = (
    say(
        "A linear model of hashed words and parts of words compares what the run says where it"
        " fails with runs whose cause is known. It sees no rule, no figure and no curve. It is"
        " heard only where the log does not prove its cause: beside causes that rules name it"
        " counts little, and where they abstain it may put forward one of its own, with a"
        " probability of 0.75 at most.",
        "一个由哈希后的词和词片段构成的线性模型，把运行失败处的文字与已知原因的运行相比较。"
        "它不看规则、数值和曲线。只有当日志本身不能证明原因时才采纳它的意见：在规则已指出原因时权重很小；"
        "规则不下结论时，它可以自己提出一个原因，概率最高 0.75。",
    ),
    say(
        "The report names the words that carry it, with their lines (`--full`, HTML, Markdown,"
        " `carried` in JSON). `--no-model` judges by the rules alone.",
        "报告会列出起作用的词及其所在行（`--full`、HTML、Markdown，JSON 中的 `carried`）。"
        "`--no-model` 只按规则判断。",
    ),
    say(
        "`postmortem label run.log CAUSE` records what a run really died of; `postmortem train"
        " --add FOLDER -o MODEL` learns from such labels, and `--model MODEL` uses it. See"
        " `docs/classifier.md`.",
        "`postmortem label run.log CAUSE` 记录一次运行的真实原因；`postmortem train --add FOLDER"
        " -o MODEL` 从这些标注中学习，`--model MODEL` 使用所得模型。见 `docs/classifier.md`。",
    ),
)
