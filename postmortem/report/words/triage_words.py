"""Phrases of a triage, in English and Chinese.

In: nothing. Out: phrases by language and key. Not here: filling them in (`report.page`), other
phrases of the page's script (`words.job_table_words`).
"""

from typing import Final

from postmortem.core.message import say, say_in
from postmortem.report.words.phrase_table import PhraseTable

TRIAGE: Final = PhraseTable(
    {
        "title": say("Triage of failed jobs"),
        "heading": say("Triage of {jobs} jobs"),
        "lead": say("{judged} of {jobs} jobs are judged. They fall into {groups} groups."),
        "lead.first": say("Most frequent: {title} ({jobs} jobs)."),
        "made": say("made {time}"),
        "since": say("compared with the triage of {time}"),
        "since.none": say("There is no earlier triage to compare with."),
        "jobs": say("Jobs"),
        "jobs.note": say("{analyses} different contents were analysed"),
        "left_out": say("belonging to no job: {count}"),
        "judged": say("Judged"),
        "judged.note": say("{count} could not be judged"),
        "lost": say("GPU-hours lost"),
        "lost.short": say("GPU-h lost"),
        "lost.note": say("of {hours} in all"),
        "lost.none": say("the scheduler told no GPU-hours"),
        "unclassified": say("Without a cause"),
        "unclassified.note": say("{count} of the jobs that are judged"),
        "healthy": say("Show no failure"),
        "change": say("Since the last triage"),
        "new": say("New groups"),
        "new.none": say("No group is new."),
        "vanished": say("Vanished groups"),
        "vanished.none": say("No group has vanished."),
        "vanished.jobs": say("{count} jobs then"),
        "causes": say_in("triage", "Causes"),
        "causes.note": say(
            "A bar is the share of the most frequent cause. A click on a cause shows its jobs."
        ),
        "measure": say("Bars by"),
        "by.jobs": say_in("triage", "jobs"),
        "by.hours": say("GPU-hours"),
        "cause": say("Cause"),
        "share": say("Share"),
        "hours": say("GPU-hours"),
        "hours.short": say("GPU-h"),
        "groups.count": say_in("count", "Groups"),
        "unnamed": say_in("triage", "No cause named"),
        "groups": say("Groups"),
        "groups.note": say(
            "Jobs of one group failed in the same way: the same cause, and the same message once"
            " names and numbers are taken out."
        ),
        "groups.left": say(
            "{count} smaller groups are not listed here; the table of all jobs can be filtered"
            " by them."
        ),
        "what": say("What failed"),
        "nodes.count": say_in("count", "Nodes"),
        "users.count": say_in("count", "Users"),
        "badge.new": say_in("triage", "new"),
        "fix": say("Fix"),
        "retry": say("Run again"),
        "retry.yes": say("yes, as it is"),
        "retry.after-change": say("only after a change"),
        "whose": say("Lies"),
        "probability": say("probability {value}"),
        "report": say("report of its first job"),
        "draft": say("Drafted signature"),
        "draft.note": say("A draft: check it against the jobs before it is used."),
        "trend": say("When they failed"),
        "trend.note": say("Failed jobs by the time of their end (UTC) and by cause."),
        "trend.described": say(
            "{buckets} spans from {first} to {last}; most failed jobs in one: {most}, from {when}."
        ),
        "trend.others": say("other causes"),
        "trend.rest": say("cause not known"),
        "from": say("From"),
        "values": say("Values"),
        "nodes": say("Nodes"),
        "nodes.note": say(
            "Expected: the failures, had those of each kind of job been spread evenly. q: how"
            " surprising the count is, after all nodes were looked at. A marked node fails more"
            " often than chance explains. That is no proof of a fault: its jobs may differ from"
            " the others. Look at it before it is taken out."
        ),
        "nodes.none": say("No node fails more often than chance explains."),
        "nodes.left": say("{count} more nodes are not listed here."),
        "node": say("Node"),
        "node.jobs": say("Jobs on it"),
        "failed": say("Failed"),
        "expected": say("Expected"),
        "q": say("q"),
        "outlier": say("more than chance explains"),
        "top-causes": say_in("triage", "Causes"),
        "alike": say("Had the very same jobs, so they cannot be told apart: {nodes}"),
        "users": say("Users and images"),
        "users.list": say("Users"),
        "images.list": say("Images"),
        "user": say("User"),
        "image": say("Image"),
        "users.left": say("{count} more are not listed here."),
        "retried": say("Failed, then succeeded"),
        "retried.note": say(
            "The same work, run again, went through: {moved} times on other nodes, {same} times"
            " on the same ones."
        ),
        "retried.failed": say("Failed job"),
        "retried.succeeded": say("Succeeded as"),
        "retried.changed": say_in("triage", "Changed"),
        "changed.nodes": say("nodes"),
        "changed.gpus": say("number of GPUs"),
        "changed.image": say("image"),
        "changed.nothing": say("nothing"),
        "joint": say_in("list", ", "),
        "unjudged": say("Jobs that could not be judged"),
        "state": say("State"),
        "reason": say("Reason"),
        "examples": say("For example"),
        "all": say("All jobs"),
        "job": say("Job"),
        "group": say("Group"),
        "user.column": say("User"),
        "ended": say("Ended (UTC)"),
        "skip": say("To the summary"),
        "more": say_in("assistant", "{count} more"),
        "none": say("–"),
    }
)
