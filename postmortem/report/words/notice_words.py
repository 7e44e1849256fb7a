"""Phrases of the short messages that are sent to a chat, in English and Chinese.

In: nothing. Out: phrases by language and key. Not here: filling them in (`report.notice`), phrases
that the reports share (`words.verdict_words`).
"""

from typing import Final

from postmortem.core.message import say
from postmortem.report.words.phrase_table import PhraseTable

NOTICE: Final = PhraseTable(
    {
        "do": say("To do"),
        "need": say("What would decide"),
        "link": say("Report"),
        "triage": say("triage of {jobs:,} jobs"),
        "groups": say("{groups:,} groups of failures"),
        "groups.new": say("{groups:,} groups of failures, {new:,} of them new"),
        "healthy": say("{count:,} show no failure"),
        "unclassified": say("{count:,} without a cause"),
        "not_judged": say("{count:,} could not be judged"),
        "lost": say("{hours:,.0f} GPU-hours lost"),
        "group": say("{jobs:,} × {title}"),
        "new": say("new"),
        "unnamed": say("No cause named"),
        "more": say("and {count:,} more groups"),
        "between": say("; "),
    }
)
