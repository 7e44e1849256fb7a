"""Phrases that only the page uses, in English and Chinese.

In: nothing. Out: phrases by language and key, which `Words` joins with those of all forms.
Not here: anything that fills them in.
"""

from collections.abc import Mapping
from typing import Final

from postmortem.core.message import Message, say

PAGE: Final[Mapping[str, Message]] = {
    "language": say("English"),
    "contents": say("Contents"),
    "theme.auto": say("theme of the system"),
    "theme.light": say("light theme"),
    "theme.dark": say("dark theme"),
    "checkpoint": say("Checkpoint"),
    "explained": say("What this verdict means"),
    "weighed": say("How it was weighed"),
    "side.for": say("for it"),
    "side.against": say("against it"),
    "curve.constant": say("Never changes: {what}"),
    "curve.constant.one": say("{name} {value} ({count} points)"),
    "evidence.sum": say(
        "Together {total} log-odds, prior included; of one kind of evidence the strongest"
        " counts in full, agreement a quarter. Against the other causes: {share}."
    ),
    "excerpt.short": say("Log"),
    "harmless.short": say("Not the cause"),
    "others.short": say("Other causes"),
    "others.note": say("each is weighed by itself: the shares do not add up to 100%"),
    "excerpt.plain": say("The log at the places named here"),
    "change-mind.short": say("What would change it"),
    "skip": say("To the verdict"),
    "advisories": say("Known defects of these versions"),
    "lanes": say("Processes"),
    "lanes.rest": say("{count} others"),
    "separated": say("What tells them apart"),
    "ask": say("Ask somebody"),
    "ask.how": say(
        "This writes the smallest redacted part of the log that leads to the same verdict, as"
        " the text of an issue:"
    ),
}
