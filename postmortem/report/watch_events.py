"""The events of a watch as text, and as JSON `postmortem.watch/1`.

In: events. Out: text. Not here: finding them (`watch`), printing them.
"""

import datetime as dt
import math
import shlex
from collections.abc import Mapping
from typing import Any, Final

from postmortem.model.watching import Ended, Event, Noted, Warned
from postmortem.reading.redaction import Redactor
from postmortem.report.plain import number, one_line, percent, process
from postmortem.report.wire import json_text, plain_json
from postmortem.report.words import Words
from postmortem.report.words.watch_words import WATCH

FORMS: Final = ("terminal", "jsonl", "json")
SCHEMA: Final = "postmortem.watch/1"
_LONG: Final = 400
_RED, _GREEN, _BOLD, _PLAIN = "\x1b[1;31m", "\x1b[32m", "\x1b[1m", "\x1b[0m"


class Teller:
    """Says events in one language; with a redactor, without what the log gives away."""

    def __init__(self, paths: tuple[str, ...], language: str, redactor: Redactor | None) -> None:
        """Take what all events share: `paths` are those that the user gave."""
        self._language, self._redactor = language, redactor
        self._say, self._words = (
            WATCH[language if language in WATCH else "en"],
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
