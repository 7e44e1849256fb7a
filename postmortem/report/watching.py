"""The events of a watch as text, and as JSON `postmortem.watch/1`.

In: events. Out: text. Not here: finding them (`watch`), printing them.
"""

import datetime as dt
import math
import shlex
from collections.abc import Mapping
from typing import Any, Final

from postmortem.model.watching import Ended, Event, Noted, Warned
from postmortem.redaction.redactor import Redactor
from postmortem.report.plain import number, one_line, percent, process
from postmortem.report.wire import json_text, plain_json
from postmortem.report.words import Words

FORMS: Final = ("terminal", "jsonl", "json")
SCHEMA: Final = "postmortem.watch/1"
_LONG: Final = 400
_RED, _GREEN, _BOLD, _PLAIN = "\x1b[1;31m", "\x1b[32m", "\x1b[1m", "\x1b[0m"
_PHRASES: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "warning": "WARNING", "step": "step {step}", "next": "What is behind it: postmortem analyze {paths}",
        "nan": "The loss is not finite",
        "nan.do": "Stop the run: with weights that are NaN it only burns hours.",
        "hidden-nan": "The loss of 0 is a NaN that the trainer hides",
        "hidden-nan.do": "Stop the run: it learns nothing any more.",
        "eval-nan": "The evaluation loss is not finite",
        "eval-nan.do": "Training itself may be sound. Look at the samples of the evaluation set before you trust a best checkpoint.",
        "overflow": "The loss scaler skips step after step",
        "overflow.do": "Stop the run: the values overflow at every scale, and most programs give up when the scale is at its minimum.",
        "divergence": "The loss runs away",
        "divergence.do": "Stop the run, or save what there is: it seldom comes back. A lower rate, a longer warm-up or clipping, from the last good checkpoint.",
        "gradients": "The gradients run away",
        "gradients.do": "Look at the loss: if it rises too, stop the run and go back to the last good checkpoint with a lower rate or clipping.",
        "zero-loss": "The loss is exactly 0 from the start",
        "zero-loss.do": "Stop the run: nothing is learned. Most often all labels are masked.",
        "memory": "Memory rises evenly and will run out",
        "memory.do": "Save a checkpoint while it lasts. Look for tensors that are kept from step to step (loss without .item(), lists of outputs).",
        "stall": "The run is silent",
        "stall.do": "Look at what it does: py-spy dump --pid PID on each process, nvidia-smi, the scheduler's own log. If it only evaluates or saves, set a longer --stall.",
        "same-step": "Lines go on, and the step stands still",
        "same-step.do": "Look at what it does: py-spy dump --pid PID on each process.",
        "good.yes": "The last checkpoint from before: {name}.", "good.no": "No checkpoint that the log names is from before.", "good.unknown": "",
        "waiting": "waiting for {path}", "found": "{path} is there", "rotated": "{path} was replaced; reading the new one", "truncated": "{path} was emptied; reading it from its beginning",
        "goes-on": "the run writes again ({path})", "unreadable": "{path} is left out: {text}",
        "end.completed": "The run is over: completed.", "end.failed": "The run is over: failed.", "end.warned": "Stopped at the first warning.", "end.once": "Read to the end of the log; nothing says that the run is over.",
        "end.interrupted": "Stopped watching.", "end.warnings": "{count} warnings.", "end.one": "1 warning.", "end.none": "No warning.", "end.cause": "{title} ({cause}, {percent}).",
    },
    "zh": {
        "warning": "警告", "step": "第 {step} 步", "next": "原因分析：postmortem analyze {paths}",
        "nan": "损失不是有限数",
        "nan.do": "请停止训练：权重变成 NaN 之后只会浪费算力。",
        "hidden-nan": "损失为 0 是训练器掩盖的 NaN",
        "hidden-nan.do": "请停止训练：它已经学不到任何东西。",
        "eval-nan": "验证损失不是有限数",
        "eval-nan.do": "训练本身可能正常。在相信“最佳检查点”之前，请检查验证集的样本。",
        "overflow": "损失缩放器连续跳过步",
        "overflow.do": "请停止训练：无论缩放多小都会溢出，多数程序在缩放降到最小值时退出。",
        "divergence": "损失正在发散",
        "divergence.do": "请停止训练或先保存：发散很少自行恢复。从上一个好的检查点开始，降低学习率、延长预热或裁剪梯度。",
        "gradients": "梯度正在失控",
        "gradients.do": "请看损失：如果它也在上升，请停止训练，回到上一个好的检查点，降低学习率或裁剪梯度。",
        "zero-loss": "损失从一开始就恰好为 0",
        "zero-loss.do": "请停止训练：什么也没学到。最常见的原因是所有标签都被屏蔽。",
        "memory": "内存匀速上升，终将耗尽",
        "memory.do": "趁还能运行先保存检查点。检查是否有张量被逐步保留（没有 .item() 的损失、累积输出的列表）。",
        "stall": "训练没有输出",
        "stall.do": "看看它在做什么：对每个进程运行 py-spy dump --pid PID，查看 nvidia-smi 和调度器日志。若只是在验证或保存，请调大 --stall。",
        "same-step": "日志仍在输出，但步数不动",
        "same-step.do": "看看它在做什么：对每个进程运行 py-spy dump --pid PID。",
        "good.yes": "此前的最后一个检查点：{name}。", "good.no": "日志中提到的检查点都不在此之前。", "good.unknown": "",
        "waiting": "等待 {path}", "found": "{path} 已出现", "rotated": "{path} 被替换，开始读取新文件", "truncated": "{path} 被清空，从头读取",
        "goes-on": "训练恢复输出（{path}）", "unreadable": "略过 {path}：{text}",
        "end.completed": "训练已结束：完成。", "end.failed": "训练已结束：失败。", "end.warned": "在第一个警告处停止。", "end.once": "已读到日志末尾，没有迹象表明训练已结束。",
        "end.interrupted": "停止监视。", "end.warnings": "{count} 个警告。", "end.one": "1 个警告。", "end.none": "没有警告。", "end.cause": "{title}（{cause}，{percent}）。",
    },
}  # fmt: skip


class Teller:
    """Says events in one language; with a redactor, without what the log gives away."""

    def __init__(self, paths: tuple[str, ...], language: str, redactor: Redactor | None) -> None:
        """Take what all events share: `paths` are those that the user gave."""
        self._language, self._redactor = language, redactor
        self._say, self._words = (
            _PHRASES[language if language in _PHRASES else "en"],
            Words(language),
        )
        self._analyze = " ".join(shlex.quote(path) for path in paths)

    def line(self, event: Noted) -> str:
        """Say a note in one line."""
        return self._say[event.kind].format(
            path=self._shown(event.path),
            text=self._shown(event.said.text(self._language)) if event.said else "",
        )

    def terminal(self, event: Warned | Ended, *, color: bool = False) -> str:
        """Say a warning or the end in a few lines."""
        red, green, bold, plain = (_RED, _GREEN, _BOLD, _PLAIN) if color else ("", "", "", "")
        if isinstance(event, Ended):
            return f"{red if event.is_bad else green}{self.sentence(event)}{plain}\n" + (
                f"  {self._next()}\n" if event.is_bad else ""
            )
        clock = dt.datetime.fromtimestamp(event.time).astimezone().strftime("%H:%M:%S")
        body = [
            (
                f"{red}{self._say['warning']}{plain} {clock}  {bold}{self._say[event.kind]}{plain} "
                f" {self._place(event)}"
            ),
            f"  {self._shown(event.said.text(self._language))}",
        ]
        body += [f"  > {self._shown(event.evidence)}"] if event.evidence else []
        return "\n".join([*body, f"  {self._advice(event)}", f"  {self._next()}"]) + "\n"

    def sentence(self, event: Warned | Ended) -> str:
        """Say a warning or the end in one line."""
        if isinstance(event, Warned):
            return (
                f"{self._say[event.kind]}: {self._shown(event.said.text(self._language))}"
                f" ({self._place(event)})"
            )
        warnings = self._say[
            (
                "end.none"
                if not event.warnings
                else "end.one"
                if event.warnings == 1
                else "end.warnings"
            )
        ].format(count=event.warnings)
        cause = (
            self._say["end.cause"].format(
                title=self._shown(event.title),
                cause=event.cause,
                percent=percent(event.probability),
            )
            if event.cause
            else ""
        )
        return " ".join(filter(None, (self._say[f"end.{event.how}"], cause, warnings)))

    def wire(self, event: Event) -> dict[str, Any]:
        """Give an event as the plain values of the JSON form."""
        if isinstance(event, Noted):
            found: dict[str, Any] = {
                "event": "note",
                "kind": event.kind,
                "path": self._hidden(event.path),
                "text": self.line(event),
            }
        elif isinstance(event, Ended):
            verdict = (
                {
                    "cause": event.cause,
                    "title": event.title,
                    "probability": round(event.probability, 4),
                }
                if event.cause
                else None
            )
            found = {
                "event": "end",
                "kind": event.how,
                "status": int(event.is_bad),
                "warnings": event.warnings,
                "verdict": verdict,
                "time": _time(event.time),
                "text": self.sentence(event),
            }
        else:
            found = {
                "event": "warning",
                "kind": event.kind,
                "path": self._hidden(event.path),
                "where": (
                    event.where._asdict() | {"node": self._hidden(event.where.node or "") or None}
                ),
                "line": event.line or None,
                "step": event.step,
                "figures": self._hidden(event.said.text(self._language)),
                "evidence": self._hidden(event.evidence),
                "advice": self._advice(event),
                "checkpoint": self._hidden(event.checkpoint or "") or None,
                "checkpoint_before": event.checkpoint_standing,
                "time": _time(event.time),
                "text": self.sentence(event),
            }
        if not isinstance(event, Noted):
            found["command"] = self._hidden(f"postmortem analyze {self._analyze}")
        return {"schema": SCHEMA, **found}

    def _place(self, event: Warned) -> str:
        where = (
            event.where._replace(node=self._hidden(event.where.node))
            if event.where.node
            else event.where
        )
        step = (
            self._say["step"].format(step=number(event.step))
            if event.step is not None and not math.isnan(event.step)
            else ""
        )
        return ", ".join(
            filter(
                None,
                (
                    self._shown(event.path) + (f":{event.line}" if event.line else ""),
                    process(where, self._words),
                    step,
                ),
            )
        )

    def _advice(self, event: Warned) -> str:
        good = self._say[f"good.{event.checkpoint_standing}"].format(
            name=self._shown(event.checkpoint or "")
        )
        return " ".join(
            filter(
                None,
                (
                    self._say[f"{event.kind}.do"],
                    (
                        good
                        if event.kind
                        not in {
                            "stall",
                            "same-step",
                            "memory",
                            "zero-loss",
                            "eval-nan",
                        }
                        else ""
                    ),
                ),
            )
        )

    def _next(self) -> str:
        return self._say["next"].format(paths=self._shown(self._analyze))

    def _hidden(self, text: str) -> str:
        return text if self._redactor is None else self._redactor.text(text)

    def _shown(self, text: str) -> str:
        return one_line(self._hidden(text), _LONG)


def jsonl(values: Mapping[str, Any]) -> str:
    """Write an event on one line."""
    return json_text(plain_json(dict(values)), is_one_line=True)


def document(events: list[dict[str, Any]]) -> str:
    """Write all events of a watch as one document."""
    return json_text(
        plain_json(
            {
                "schema": SCHEMA,
                "events": [
                    {key: value for key, value in event.items() if key != "schema"}
                    for event in events
                ],
            }
        )
    )


def _time(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.timezone.utc).isoformat(timespec="seconds")
