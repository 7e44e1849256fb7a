"""Phrases of the table of a triage's jobs, in English and Chinese.

In: nothing. Out: phrases by language and key; the script of the page fills them in. Not here: the
other phrases of a triage (`words.triage_words`).
"""

from typing import Final

from postmortem.core.message import say
from postmortem.report.words.phrase_table import PhraseTable

JOB_TABLE: Final = PhraseTable(
    {
        "filters": say("Filter the jobs"),
        "text": say("Search"),
        "text.hint": say("job, cause, node, user, message"),
        "any": say("any"),
        "sort": say("Sort by"),
        "sort.given": say("as found"),
        "sort.up": say("{column}, ascending"),
        "sort.down": say("{column}, descending"),
        "reset": say("Show all"),
        "shown": say("{shown} of {jobs} jobs"),
        "shown.hours": say("{hours} GPU-hours"),
        "shown.known": say("{hours} GPU-hours, told of {count}"),
        "nothing": say("No job fits these filters."),
        "grid": say("All jobs; arrow keys move, Enter opens what is in a cell"),
        "paper": say("The first {shown} of them are printed."),
        "state.waiting": say("waiting"),
        "state.judged": say("judged"),
        "state.unreadable": say("unreadable"),
        "state.crashed": say("analysis crashed"),
        "state.timed-out": say("analysis took too long"),
        "state.out-of-memory": say("analysis ran out of memory"),
        "report.column": say("Report"),
        "report.job": say("job"),
        "report.group": say("group"),
        "all.still": say(
            "These are the first {shown} of {jobs} jobs. Filtering and sorting need the script of"
            " this page; every job also stands in results.csv and results.jsonl."
        ),
        "all.whole": say(
            "Filtering and sorting need the script of this page; every job also stands in"
            " results.csv and results.jsonl."
        ),
        "all.none": say("No job was found."),
    }
)
