"""Phrases about the verdict, in English and Chinese: causes, evidence, fixes, what to collect next.

In: nothing. Out: phrases by language and key, which `Words` joins with the others. Not here:
anything that fills them in.
"""

from collections.abc import Mapping
from typing import Final

from postmortem.core.message import Message, say, say_count, say_in

VERDICT: Final[Mapping[str, Message]] = {
    "report": say_in("verdict", "Post-mortem of a training run"),
    "verdict": say("Verdict"),
    "cause": say("Cause"),
    "probability": say("Probability"),
    "problem": say("The problem lies {place}"),
    "whose": say("Where it lies"),
    "standing": say("{status} ({means})"),
    "retry": say("Run it again"),
    "abstain": say("The cause cannot be told from this log"),
    "status.established": say("established"),
    "status.supported": say("supported"),
    "status.hypothesis": say("hypothesis"),
    "status.unknown": say("unknown"),
    "means.established": say("the log itself shows it"),
    "means.replayed": say("running its steps again proves it"),
    "means.supported": say("evidence for it and none against, not proved"),
    "means.mixed": say("more for it than against, not proved"),
    "means.hypothesis": say("it fits, and so do others"),
    "means.alone": say("it fits best, not proved"),
    "means.unknown": say("nothing here decides"),
    "whose.user": say("in your code or configuration"),
    "whose.data": say("in the data"),
    "whose.library": say("in a library"),
    "whose.platform": say("in the platform (cluster, scheduler, network)"),
    "whose.hardware": say("in the hardware"),
    "whose.unknown": say("not known"),
    "retry.as-is": say("yes, as it is"),
    "retry.after-fix": say("only after a fix"),
    "retry.no": say("no, it will not help"),
    "retry.unknown": say("not known"),
    "outcome": say_in("replay", "Outcome"),
    "outcome.failed": say("failed"),
    "outcome.completed": say_in("verdict", "completed"),
    "outcome.running": say("running"),
    "outcome.stalled": say_in("verdict", "stalled"),
    "outcome.cancelled": say_in("verdict", "cancelled"),
    "outcome.incomplete": say("incomplete"),
    "outcome.not-a-training-log": say("not a training log"),
    "outcome.unknown": say("outcome unknown"),
    "outcome.no-end": say("no end shown"),
    "outcome.through": say("ran to its end"),
    "input.empty": say_count("The file is empty", "The files are empty"),
    "input.blank": say_count("The file holds only blank lines", "The files hold only blank lines"),
    "input.environment": say("This is an environment dump, not a log"),
    "input.other": say("This does not look like a training log"),
    "input.empty.says": say(
        "The run wrote nothing into it, or its output went elsewhere. Pass the file that "
        "holds the output of the training run, standard error included."
    ),
    "input.blank.says": say(
        "The run wrote nothing else into it, or its output went elsewhere. Pass the file that "
        "holds the output of the training run, standard error included."
    ),
    "input.environment.says": say(
        "It tells the machine and the versions, not what happened. Pass it with --env beside "
        "the log: postmortem analyze train.log --env {name}"
    ),
    "input.other.says": say(
        "No metric, no traceback and no message of a training framework was recognised. Pass "
        "the file that holds the output of the training run, standard error included."
    ),
    "evidence": say("Evidence"),
    "evidence.more": say_count("{count} more piece of evidence", "{count} more pieces of evidence"),
    "evidence.none": say("no evidence was found"),
    "weight": say("Weight"),
    "by.signature": say("signature"),
    "by.shape": say("curve"),
    "by.environment": say("environment"),
    "by.setting": say("setting"),
    "by.traceback": say("traceback"),
    "by.advisory": say("known defect"),
    "by.classifier": say("text classifier"),
    "by.replay": say("replay"),
    "weight.note": say("log-odds; a negative weight speaks against the cause"),
    "fixes": say_in("verdict", "What to do"),
    "fixes.more": say_count("{count} more thing to do", "{count} more things to do"),
    "kind.first": say("Do this first"),
    "kind.check": say("check"),
    "kind.change": say("change"),
    "kind.prevent": say("prevent"),
    "safety.safe": say_in("verdict", "safe"),
    "safety.changes-results": say("changes results"),
    "safety.costly": say("costly"),
    "references": say("References"),
    "others": say("Other causes that were weighed"),
    "others.short": say_in("question", "Also weighed"),
    "comment.cut": say(
        "Parts were left out: a comment holds no more. The whole report is the page (HTML) or "
        "the JSON report."
    ),
    "screen.more": say("Everything: --full · a page with charts: -o report.html"),
    "candidates": say("What it could be"),
    "harmless": say("Looks alarming, is not the cause"),
    "first": say_in("verdict", "First failure"),
    "need": say_in("verdict", "What would decide"),
    "unchecked": say("Not checked"),
    "change-mind": say("What would change this verdict"),
}
