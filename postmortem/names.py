"""The vocabulary that rooms share: canonical series names, roles, levels, status words.

In: nothing. Out: constants. Not here: anything that computes.
"""

from typing import Final

LOSS: Final = "loss"
EVAL_LOSS: Final = "eval_loss"
GRAD_NORM: Final = "grad_norm"
LEARNING_RATE: Final = "learning_rate"
LOSS_SCALE: Final = "loss_scale"
EPOCH: Final = "epoch"
MEMORY: Final = "memory"
THROUGHPUT: Final = "throughput"
STEP_TIME: Final = "step_time"
DATA_TIME: Final = "data_time"
SKIPPED_STEPS: Final = "skipped_steps"

ROLES: Final = ("cause", "consequence", "warning", "harmless", "context")
LEVELS: Final = ("decisive", "strong", "moderate", "weak")
LANGUAGES: Final = ("en", "zh")
OUTCOMES: Final = (
    "failed",
    "completed",
    "running",
    "stalled",
    "incomplete",
    "not-a-training-log",
    "unknown",
)
SCHEMA: Final = "postmortem.report/1"
ANALYSIS_SCHEMA: Final = "postmortem.analysis/1"

SHAPES: Final = {
    "hidden-nan": (
        "loss printed as 0.0 (or missing) while grad_norm is not finite: a NaN that the trainer"
        " filters out of its mean"
    ),
    "zero-loss": "the training loss is exactly 0 at several records, with finite or no grad norm",
    "nan-first-record": "the very first recorded training loss is not finite",
    "nan-at-zero-rate": "a non-finite loss or gradient while the learning rate is still 0",
    "nan-before-update": (
        "the loss of the first step (0 or 1) is not finite: it is computed before any update"
    ),
    "nan-in-interval": (
        "the first bad record comes five steps or more after the one before: a run-up may lie"
        " unseen between them"
    ),
    "nan-zero-gradient": "a NaN loss beside a gradient norm of exactly 0: a mean over nothing",
    "nan-after-runup": (
        "the loss rises over several finite records, well above its best level, before it stops"
        " being finite"
    ),
    "nan-out-of-flat": "a flat or falling finite loss turns non-finite from one record to the next",
    "nan-recovers": "non-finite loss records with finite ones after them",
    "nan-eval-only": (
        "the evaluation loss is not finite while the training loss is finite throughout"
    ),
    "nan-inputs": (
        "a figure of the inputs (x_absmax, input_mean ...) is not finite when the loss first is"
        " not, or earlier"
    ),
    "nan-component": "one loss component is not finite while the total or the others stay finite",
    "nan-grad-finite-loss": (
        "grad_norm is not finite in several records while the loss stays finite and non-zero"
    ),
    "nan-loss": "any non-finite training loss",
    "loss-falls": "the finite training loss falls clearly over the run",
    "loss-spike": "a sudden rise to several times the recent level, recovered or not, all finite",
    "huge-spike": (
        "a sudden rise, all finite, to more than ten times the highest of the forty records before;"
        " or to five times the last five and above all that the run has shown"
    ),
    "spike-recovers": (
        "a spike of the finite loss, after which it is back near its level and ends there"
    ),
    "spike-over": "the same, with more than twenty records after it: it belongs to the past",
    "loss-divergence": (
        "the finite training loss ends far above its best level after a sustained rise, or spends"
        " most of the run above twice its first value"
    ),
    "grad-explosion": "grad_norm grows by two orders of magnitude or more, or to inf",
    "grad-huge-first": "the first grad norm is above 1e5 while the loss is of usual size",
    "rate-standstill": (
        "the learning rate does not move between records although a schedule is running: the scaler"
        " skips the optimiser step"
    ),
    "scale-collapse": (
        "the loss scale halves step after step to 1 or below, or by at least 2**8 without a clean"
        " stretch"
    ),
    "scale-settling": "a few halvings at the start, then quiet: the loss scaler finding its level",
    "steps-skipped": (
        "three in ten steps or more of the later half of the run are counted as skipped"
    ),
    "fp16-figures": "all losses (or gradient norms) are printed in full and exact in float16",
    "fp16-limit": (
        "figures of float16 that grow to a quarter of its largest number and more, and are infinite"
        " then"
    ),
    "bf16-figures": "all losses (or gradient norms) are printed in full and exact in bfloat16",
    "first-loss-high": (
        "the loss of the first steps is more than 1.5 times the logarithm of the vocabulary: worse"
        " than guessing"
    ),
    "first-loss-low": "the loss of the first steps is nearly 0 although the vocabulary is large",
    "plateau": "the finite training loss does not move over many records",
    "plateau-from-start": (
        "a plateau whose level the loss had in its first record already, over at least twelve"
        " records from the beginning of the run on"
    ),
    "collapse": (
        "the loss freezes at one value or stands still above its start, the reward's spread or a"
        " policy's entropy goes to 0, or preferred answers become unlikely, after having moved"
    ),
    "flat-rewards": "the spread of the rewards within a group is 0 at every record",
    "input-bound": (
        "in most of each step the GPU waits for data: the printed data time is more than half of"
        " the step time"
    ),
    "input-starved": "at least four fifths of steps that take 50 ms or more are waiting for data",
    "ranks-differ": (
        "the watchdogs of two ranks name different collectives under one sequence number"
    ),
    "rank-behind": (
        "by the watchdogs' counts one rank has enqueued fewer collectives than the others: it did"
        " not come to the one that timed out"
    ),
    "nccl-rank-absent": (
        "some ranks began to join an NCCL communicator, none has joined it, and at least one rank"
        " did not begin"
    ),
    "uneven-work": "the ranks count to different numbers of steps or batches",
    "one-rank-first": (
        "the training loss of one rank stops being finite at an earlier step than that of all the"
        " others"
    ),
    "memory-rising": "reported memory rises over the run",
    "memory-flat": "reported memory stays level over many records, to the last one",
    "silence": (
        "by the printed clock, the log is still for many times the usual distance of its lines"
        " after the last metric record, and then goes on"
    ),
    "same-step": (
        "behind the last metric record, lines go on for many times the usual distance of the"
        " records, by the printed clock, and all name the same step"
    ),
    "no-record": "the run stands still, and no training record was printed",
    "last-step": "the last training record is of the last step that the run was to make",
    "slow-down": (
        "the printed speed falls to less than half of what it was and stays there, or becomes ever"
        " lower"
    ),
    "tiny-rate": "the largest learning rate printed is above 0 and below 1e-8",
    "high-rate": (
        "the largest learning rate printed or set is at least 10 times what is usual for the"
        " optimiser in use"
    ),
    "oom-fragmented": "CUDA OOM with more memory reserved but unallocated than was asked for",
    "oom-little-spare": (
        "CUDA OOM whose figures show less memory reserved but unallocated than was asked for"
    ),
    "oom-other-process": "CUDA OOM with much memory held outside this process",
    "oom-all-own": "CUDA OOM whose figures add up to this process and contexts",
    "oom-stray-contexts": (
        "CUDA OOM that names two or more other processes with hardly more than a CUDA context each"
    ),
    "oom-larger-than-card": "CUDA OOM that asked for more at once than the whole card has",
    "oom-capped": "CUDA OOM of a process that was given a share of the card only",
    "oom-after-steps": "CUDA OOM after training records were printed",
    "oom-before-steps": "CUDA OOM before any training record was printed",
    "finished": "a success marker ends the log, or the record of its last step",
    "no-failure-shown": "metric records run to the end of the log and no failure is shown",
}
