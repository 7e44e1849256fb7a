"""Labels, joints and counts that every form uses, in English and Chinese.

In: nothing. Out: phrases by language and key, which `Words` joins with the others. Not here:
anything that fills them in.
"""

from collections.abc import Mapping
from typing import Final

from postmortem.core.message import Message, say, say_count, say_in

SMALL: Final[Mapping[str, Message]] = {
    "copy": say("Copy"),
    "copied": say("Copied"),
    "place": say("Place"),
    "what": say("What"),
    "name": say("Name"),
    "value": say("Value"),
    "step": say("step"),
    "record": say("record"),
    "at-step": say("step {value}"),
    "at-epoch": say("epoch {value}"),
    "at-line": say("line {value}"),
    "time": say("Time"),
    "times": say_count("{count} time", "{count} times"),
    "more": say_in("report", "{count} more"),
    "yes": say("yes"),
    "no": say("no"),
    "joint": say_in("clauses", ", "),
    "colon": say(": "),
    "stop": say(". "),
    "semicolon": say("; "),
    "bracketed": say(" ({text})"),
    "marked": say("  [{text}]"),
    "listed": say_in("list", ", "),
    "quoted": say("“{text}”"),
    "carried": say("words that carry it: {what}"),
}
