"""Phrases of two runs side by side, in English and Chinese.

In: nothing. Out: phrases by language and key. Not here: filling them in (`report.side_by_side`).
"""

from typing import Final

from postmortem.core.message import say, say_in
from postmortem.report.words.phrase_table import PhraseTable

COMPARISON: Final = PhraseTable(
    {
        "title": say("Two runs compared"),
        "good": say("good"),
        "bad": say("bad"),
        "settings": say("Settings that differ"),
        "environment": say("Environment that differs"),
        "curves": say("Curves"),
        "part": say("{name}: part at step {step}: {good} (good) against {bad} (bad)"),
        "together": say(
            "{name}: no parting over {count} common steps; at the last {good} and {bad}"
        ),
        "only_bad": say("Lines that only the bad run prints"),
        "only_good": say("Lines that only the good run prints"),
        "none": say("nothing"),
        "more": say_in("assistant", "{count} more"),
        "unsaid": say("not said"),
        "lines": say(
            "without bars, banners, launchers and imports; numbers and paths do not count"
        ),
    }
)
