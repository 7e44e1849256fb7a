"""The events of a watch as text, and as JSON `postmortem.watch/1`.

In: events. Out: text: warnings, what to do about them, how the run ended. Not here: finding them
(`watch`), printing them.
"""

import datetime as dt
import math
import shlex
from collections.abc import Mapping
from typing import Any, Final

from postmortem.core.diagnosis import Ended, Noted, Warned, WatchEvent
from postmortem.core.log_text import format_one_line
from postmortem.core.message import Message, quote, say
from postmortem.report.display import format_number, format_percent, process
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.wire import convert_to_json_value, dump_json
from postmortem.report.words import PhraseTable, Words

WATCH: Final = PhraseTable(
    {
        "warning": say("WARNING"),
        "step": say("step {step}"),
        "next": say("What is behind it: postmortem analyze {paths}"),
        "nan": say("The loss is not finite"),
        "nan.do": say("Stop the run: with weights that are NaN it only burns hours."),
        "hidden-nan": say("The loss of 0 is a NaN that the trainer hides"),
        "hidden-nan.do": say("Stop the run: it learns nothing any more."),
        "eval-nan": say("The evaluation loss is not finite"),
        "eval-nan.do": say(
            "Training itself may be sound. Look at the samples of the evaluation set before you "
            "trust a best checkpoint."
        ),
        "overflow": say("The loss scaler skips step after step"),
        "overflow.do": say(
            "Stop the run: the values overflow at every scale, and most programs give up when the "
            "scale is at its minimum."
        ),
        "divergence": say("The loss runs away"),
        "divergence.do": say(
            "Stop the run, or save what there is: it seldom comes back. A lower rate, a longer "
            "warm-up or clipping, from the last good checkpoint."
        ),
        "gradients": say("The gradients run away"),
        "gradients.do": say(
            "Look at the loss: if it rises too, stop the run and go back to the last good "
            "checkpoint with a lower rate or clipping."
        ),
        "zero-loss": say("The loss is exactly 0 from the start"),
        "zero-loss.do": say("Stop the run: nothing is learned. Most often all labels are masked."),
        "memory": say("Memory rises evenly and will run out"),
        "memory.do": say(
            "Save a checkpoint while it lasts. Look for tensors that are kept from step to step "
            "(loss without .item(), lists of outputs)."
        ),
        "stall": say("The run is silent"),
        "stall.do": say(
            "Look at what it does: py-spy dump --pid PID on each process, nvidia-smi, the "
            "scheduler's own log. If it only evaluates or saves, set a longer --stall."
        ),
        "same-step": say("Lines go on, and the step stands still"),
        "same-step.do": say("Look at what it does: py-spy dump --pid PID on each process."),
        "good.yes": say("The last checkpoint from before: {name}."),
        "good.no": say("No checkpoint that the log names is from before."),
        "good.unknown": quote(""),
        "waiting": say("waiting for {path}"),
        "found": say("{path} is there"),
        "rotated": say("{path} was replaced; reading the new one"),
        "truncated": say("{path} was emptied; reading it from its beginning"),
        "goes-on": say("the run writes again ({path})"),
        "unreadable": say("{path} is left out: {text}"),
        "end.completed": say("The run is over: completed."),
        "end.failed": say("The run is over: failed."),
        "end.warned": say("Stopped at the first warning."),
        "end.once": say("Read to the end of the log; nothing says that the run is over."),
        "end.interrupted": say("Stopped watching."),
        "end.warnings": say("{count} warnings."),
        "end.one": say("1 warning."),
        "end.none": say("No warning."),
        "end.cause": say("{title} ({cause}, {percent})."),
    }
)


FORMS: Final = ("terminal", "jsonl", "json")
SCHEMA: Final = "postmortem.watch/1"
_LONG: Final = 400
_NO_WAY_BACK: Final = frozenset({"stall", "same-step", "memory", "zero-loss", "eval-nan"})
"""Warnings for which it does not matter which checkpoint is from before."""
_RED, _GREEN, _BOLD, _PLAIN = "\x1b[1;31m", "\x1b[32m", "\x1b[1m", "\x1b[0m"


class _Phrases:
    """What is said of any event, in one language; without what the log gives away, if asked."""

    def __init__(self, paths: tuple[str, ...], language: str, redactor: Redactor | None) -> None:
        """Take what all events share: `paths` are those that the user gave."""
        self._language, self._redactor, self._words = language, redactor, Words(language)
        self.say: Mapping[str, str] = WATCH[language if language in WATCH else "en"]
        self._analyze = " ".join(shlex.quote(path) for path in paths)

    def hidden(self, text: str) -> str:
        """Give a text without what is to be hidden in it."""
        return text if self._redactor is None else self._redactor.text(text)

    def shown(self, text: str) -> str:
        """Bring a text onto one line that steers nothing."""
        return format_one_line(self.hidden(text), _LONG)

    def figures(self, message: Message) -> str:
        """Give the figures that show a sign, as they are."""
        return message.text(self._language)

    def place(self, event: Warned) -> str:
        """Name file and line, process, and step, as far as they are known."""
        path = self.shown(event.path) + (f":{event.line}" if event.line else "")
        where = event.where
        if where.node:
            where = where._replace(node=self.hidden(where.node))
        step = ""
        if event.step is not None and not math.isnan(event.step):
            step = self.say["step"].format(step=format_number(event.step))
        return ", ".join(part for part in (path, process(where, self._words), step) if part)

    def advice(self, event: Warned) -> str:
        """Say what to do, and where a checkpoint helps, which."""
        checkpoint = self.shown(event.checkpoint or "")
        good = self.say[f"good.{event.checkpoint_standing}"].format(name=checkpoint)
        texts = (self.say[f"{event.kind}.do"], "" if event.kind in _NO_WAY_BACK else good)
        return " ".join(part for part in texts if part)

    def cause(self, event: Ended) -> str:
        """Name the cause of a run that is over, where one is known."""
        if not event.cause:
            return ""
        return self.say["end.cause"].format(
            title=self.shown(event.title.text(self._language)),
            cause=event.cause,
            percent=format_percent(event.probability),
        )

    def following(self) -> str:
        """Say how to find the cause."""
        return self.say["next"].format(paths=self.shown(self._analyze))

    def command(self) -> str:
        """Give the command that analyses the log."""
        return self.hidden(f"postmortem analyze {self._analyze}")


class EventFormatter:
    """Formats events in one language, redacted if it has a redactor."""

    def __init__(self, paths: tuple[str, ...], language: str, redactor: Redactor | None) -> None:
        """Take what all events share: `paths` are those that the user gave."""
        self._phrases = _Phrases(paths, language, redactor)

    def line(self, event: Noted) -> str:
        """Say a note in one line."""
        phrases = self._phrases
        return phrases.say[event.kind].format(
            path=phrases.shown(event.path),
            text=phrases.shown(phrases.figures(event.message)) if event.message else "",
        )

    def terminal(self, event: Warned | Ended, *, color: bool = False) -> str:
        """Say a warning or the end in a few lines."""
        red, green, bold, plain = (_RED, _GREEN, _BOLD, _PLAIN) if color else ("", "", "", "")
        phrases = self._phrases
        if isinstance(event, Ended):
            head = f"{red if event.is_bad else green}{self.sentence(event)}{plain}\n"
            return head + (f"  {phrases.following()}\n" if event.is_bad else "")
        clock = dt.datetime.fromtimestamp(event.time).astimezone().strftime("%H:%M:%S")
        body = [
            f"{red}{phrases.say['warning']}{plain} {clock} "
            f" {bold}{phrases.say[event.kind]}{plain}  {phrases.place(event)}",
            f"  {phrases.shown(phrases.figures(event.message))}",
        ]
        body += [f"  > {phrases.shown(event.evidence)}"] if event.evidence else []
        return "\n".join([*body, f"  {phrases.advice(event)}", f"  {phrases.following()}"]) + "\n"

    def sentence(self, event: Warned | Ended) -> str:
        """Say a warning or the end in one line."""
        phrases, say = self._phrases, self._phrases.say
        if isinstance(event, Warned):
            figures = phrases.shown(phrases.figures(event.message))
            return f"{say[event.kind]}: {figures} ({phrases.place(event)})"
        key = {0: "end.none", 1: "end.one"}.get(event.warnings, "end.warnings")
        warnings = say[key].format(count=event.warnings)
        texts = (say[f"end.{event.how}"], phrases.cause(event), warnings)
        return " ".join(part for part in texts if part)

    def wire(self, event: WatchEvent) -> dict[str, Any]:
        """Give an event as the plain values of the JSON form."""
        if isinstance(event, Noted):
            return {
                "schema": SCHEMA,
                "event": "note",
                "kind": event.kind,
                "path": self._phrases.hidden(event.path),
                "text": self.line(event),
            }
        found = self._wire_end(event) if isinstance(event, Ended) else self._wire_warning(event)
        return {"schema": SCHEMA, **found, "command": self._phrases.command()}

    def _wire_end(self, event: Ended) -> dict[str, Any]:
        verdict = {
            "cause": event.cause,
            "title": self._phrases.figures(event.title),
            "probability": round(event.probability, 4),
        }
        return {
            "event": "end",
            "kind": event.how,
            "status": int(event.is_bad),
            "warnings": event.warnings,
            "verdict": verdict if event.cause else None,
            "time": _format_timestamp(event.time),
            "text": self.sentence(event),
        }

    def _wire_warning(self, event: Warned) -> dict[str, Any]:
        phrases = self._phrases
        return {
            "event": "warning",
            "kind": event.kind,
            "path": phrases.hidden(event.path),
            "where": event.where._asdict()
            | {"node": phrases.hidden(event.where.node or "") or None},
            "line": event.line or None,
            "step": event.step,
            "figures": phrases.hidden(phrases.figures(event.message)),
            "evidence": phrases.hidden(event.evidence),
            "advice": phrases.advice(event),
            "checkpoint": phrases.hidden(event.checkpoint or "") or None,
            "checkpoint_before": event.checkpoint_standing,
            "time": _format_timestamp(event.time),
            "text": self.sentence(event),
        }


def serialize_event(values: Mapping[str, Any]) -> str:
    """Write an event on one line."""
    return dump_json(convert_to_json_value(dict(values)), is_one_line=True)


def serialize_events(events: list[dict[str, Any]]) -> str:
    """Write all events of a watch as one document."""
    bare = [{key: value for key, value in event.items() if key != "schema"} for event in events]
    return dump_json(convert_to_json_value({"schema": SCHEMA, "events": bare}))


def _format_timestamp(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.timezone.utc).isoformat(timespec="seconds")
