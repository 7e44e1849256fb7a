"""What the bot's comments say around a report.

In: verdicts, reasons, a language. Out: Markdown. Not here: the report itself
(`report.markdown`), posting it (`trackers.one_comment`). Names of jobs and files come from
anybody: they are escaped as log text is.
"""

from collections.abc import Sequence
from typing import Final

from postmortem.bots.judged_log import JudgedLog
from postmortem.model.said import Said, cut, say
from postmortem.report.markdown_text import code, prose
from postmortem.report.plain import percent

ROOM: Final = 6_000
"""UTF-16 units that stand around a report at most."""
_SHOWN: Final = 5
_NAME: Final = 100
_REASON: Final = 100
"""Characters: escaped, each is five at most."""


def report_comment(judged: JudgedLog, left_out: Sequence[Said], spoken: str) -> str:
    """Give a report, with what could not be read."""
    return "\n\n".join([judged.report.rstrip(), *_left_out(left_out, spoken)]) + "\n"


def run_comment(jobs: Sequence[tuple[str, JudgedLog]], spoken: str) -> str:
    """Give the report of the first of several failed jobs, and a line for each of the others."""
    (first, judged), *others = jobs
    head = say("Failed job: {name}", "失败的作业：{name}", name=code(cut(first, _NAME))).text(
        spoken
    )
    rows = [
        f"- {code(cut(name, _NAME))}: {_in_short(one, spoken)}" for name, one in others[:_SHOWN]
    ]
    told = say("**Other failed jobs**", "**其他失败的作业**").text(spoken)
    return "\n\n".join([head, judged.report.rstrip(), *([told, "\n".join(rows)] if rows else [])])


def no_log_comment(left_out: Sequence[Said], mention: str, spoken: str) -> str:
    """Say that there is no log, and how one is given."""
    said = say(
        "There is no log here to judge. Please paste the end of the output, with the whole"
        " traceback, between two lines of three backticks, or attach the log as a file; then"
        " comment {command}.",
        "此处没有可判断的日志。请把输出的末尾（含完整 traceback）贴在两行三个反引号之间，"
        "或把日志作为附件上传；然后评论 {command}。",
        command=code(f"{mention} analyze"),
    )
    return "\n\n".join([said.text(spoken), *_left_out(left_out, spoken)]) + "\n"


def not_judged_comment(why: Said, spoken: str) -> str:
    """Say that a log could not be judged."""
    said = say(
        "The log could not be judged: {why}",
        "无法判断该日志：{why}",
        why=prose(cut(why.text(spoken), _REASON)),
    )
    return f"{said.text(spoken)}\n"


def nothing_known_comment(about: str, spoken: str) -> str:
    """Say that the rules know nothing of an id."""
    said = say(
        "The rules have nothing with the id {about}. The ids stand in reports; all of them:"
        " {command}.",
        "规则中没有编号为 {about} 的条目。编号见报告；全部编号：{command}。",
        about=code(about),
        command=code("postmortem patterns list"),
    )
    return f"{said.text(spoken)}\n"


def _named(name: str) -> str:
    return code(cut(name, _NAME))


def _in_short(judged: JudgedLog, spoken: str) -> str:
    if judged.cause is None:
        return say("the log does not show the cause", "日志没有显示原因").text(spoken)
    return say(
        "{title} ({cause}, {share})",
        "{title}（{cause}，{share}）",
        title=prose(cut(judged.title, _REASON)),
        cause=code(judged.cause),
        share=percent(judged.probability),
    ).text(spoken)


def _left_out(reasons: Sequence[Said], spoken: str) -> list[str]:
    if not reasons:
        return []
    rows = "\n".join(f"- {prose(cut(one.text(spoken), _REASON))}" for one in reasons[:_SHOWN])
    return [say("**Attached, but not read**", "**附件未读取**").text(spoken), rows]
