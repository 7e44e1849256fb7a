"""Map the names of metrics in files to canonical series names.

In: the name of a column, a tag, a file. Out: the name under which its series is kept. Not here:
names within printed lines (`formats.losses`, `patterns/formats`).
"""

import re
from collections.abc import Sequence
from typing import Final

from postmortem.core import names
from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.printed_words import join_words

WORDS: Final = (
    *(
        b"loss Loss LOSS mse MSE nll NLL bce BCE xent dice recon rec= kld KLD CE= ctc CTC "
        b"huber td_err TD_err TD= elbo ELBO ntropy ccuracy acc= MAE AUC erplexity bleu "
        b"BLEU IoU mAP PSNR IOU miou _iou ixAcc ix_acc Dice eward tep= errD errG norm =nan "
        b"poch["
    ).split(),
    b", grad_fn=",
    b"rec:",
    b"rec ",
    b"CE: ",
    b" CE ",
    b"TD err",
    b" l1 ",
    b" l1=",
    b" l1:",
    b" ce ",
    b" ce=",
    b" ce:",
    b"ost: ",
    b"ost = ",
    b"ost after ",
    b"acc:",
    b"Acc:",
    b"ixel acc",
    join_words("loss").encode(),
    b"poch:",
    b"iter: ",
    b"iters: ",
    b"tep: ",
    b"teps: ",
    b": nan",
    b": NaN",
    b'tep": ',
    b'ter": ',
    b'poch": ',
    b"tep': ",
    b"ter': ",
    b"isode': ",
    b"REWARD ",
    *(
        f"{word} {behind}".encode()
        for word in ("it", " ep", "iter", "tep", "pdate", "poch")
        for behind in " 0123456789"
    ),
)
"""What stands on a line that is looked at for figures; other names are learnt where they come again
(`extraction.learnt_literals`)."""
_COUNTS: Final = (
    r"(?:train/)?(?:global[ _]?)?step|_step",
    r"iter(?:ation)?",
    r"(?:[\w ]{1,20}[/_])?total_?(?:env_?)?(?:time)?steps|(?:[\w ]{1,20}/)?(?:time)?steps"
    r"|total[/_](?:env_?)?(?:time)?steps|training_iteration|updates?",
    r"episodes?",
)
"""Columns that count the run: one of the first kind that is there."""
STEPS: Final = compile_lazily("|".join(f"(?:{kind})" for kind in _COUNTS))
WHOLE: Final = compile_lazily(r"(?:train(?:ing)?[_/ ])?total[_ ]loss", re.IGNORECASE)
"""The training loss where its parts stand beside it and no other is called so."""
_KINDS: Final = tuple(map(compile_lazily, _COUNTS))
TIMES: Final = frozenset(
    {"time", "elapsed_time", "created_at", "wall_time", "_runtime", "_timestamp"}
)
"""Columns that are no metric."""
_TRAIN: Final = r"(?:train(?:ing)?[_/ ])?"
_KNOWN: Final = (
    (compile_lazily(rf"{_TRAIN}loss(?:es|_step)?|loss(?:es)?/train(?:ing)?"), "loss"),
    (
        compile_lazily(
            r"(?:val|valid|validation|eval|test|dev)[_/ ]loss(?:es|_epoch)?"
            r"|loss(?:es)?/(?:val|valid|validation|eval|test|dev)"
        ),
        "eval_loss",
    ),
    (compile_lazily(rf"{_TRAIN}(?:lr|learning[-_ ]rate)|lr/pg0|lr-\w+"), "learning_rate"),
    (compile_lazily(rf"{_TRAIN}grad(?:ient)?[-_ ]?norm|gnorm"), "grad_norm"),
    (compile_lazily(rf"{_TRAIN}epochs?"), "epoch"),
)


def find_step_column(heads: Sequence[str]) -> int | None:
    """Give which of the columns, in lower case, counts the steps of the run."""
    return next(
        (index for kind in _KINDS for index, head in enumerate(heads) if kind.fullmatch(head)), None
    )


def normalise_metric_name(printed: str) -> str:
    """Give the name of a metric; one that is not known keeps its own."""
    return find_known_name(printed) or printed


def find_known_name(printed: str) -> str:
    """Give the name of a metric that the report knows by one; empty of any other."""
    lower = printed.lower()
    return next((name for pattern, name in _KNOWN if pattern.fullmatch(lower)), "")


def name_of_split(printed: str, split: str) -> str:
    """Name a figure of a split, which is empty for that of the training."""
    name = normalise_metric_name(printed)
    if not split or name == names.EVAL_LOSS:
        return name
    return names.EVAL_LOSS if name == names.LOSS else f"{name}{names.OF_SPLIT}{split}"
