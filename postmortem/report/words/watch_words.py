"""Phrases of a watch, in English and Chinese: warnings, what to do about them, how the run ended.

In: nothing. Out: phrases by language and key. Not here: filling them in (`report.watch_events`).
"""

from typing import Final

from postmortem.core.message import quote, say
from postmortem.report.words.phrase_table import PhraseTable

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
