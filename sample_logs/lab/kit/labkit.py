"""What a fault's script may use of the lab.

Its seed, its choice among variants, and a way to note the true curve.

The curve is noted from the framework's own state, not from what is printed; values are rounded as
the framework prints them, so that a reader of the log can agree to the last digit. The notes go to
the file that LAB_TRUTH names, one JSON object a line: series, step, value. Without it they are
dropped, so that a script also runs by hand.
"""

import json
import os
from contextlib import suppress
from typing import Any

SEED = int(os.environ.get("LAB_SEED", "0"))
VARIANT = os.environ.get("LAB_VARIANT", "")
PORT = os.environ.get("LAB_PORT", "29517")
OUT = os.environ.get("LAB_OUT", "out")


def pick(choices: list[Any]) -> Any:
    """The seed's choice among variants of a script (a rate, a size, a wording of its own)."""
    return choices[SEED % len(choices)]


def note(series: str, step: int | None, value: float) -> None:
    """Note one point of a true curve, at the moment when it is logged."""
    path = os.environ.get("LAB_TRUTH")
    if path:
        with open(path, "a", encoding="utf-8") as sink:
            sink.write(
                json.dumps({"series": series, "step": step, "value": repr(float(value))}) + "\n"
            )


def seed_everything() -> None:
    """Seed Python, NumPy and torch with the lab's seed, and use one thread."""
    import random

    random.seed(SEED)
    with suppress(ImportError):
        import numpy as np

        np.random.seed(SEED)  # noqa: NPY002  scripts under test use the global generator
    with suppress(ImportError):
        import torch

        torch.manual_seed(SEED)
        torch.set_num_threads(1)


def trainer_notes() -> Any:
    """A TrainerCallback that notes what Trainer puts into its state's log_history, as it prints it.

    Transformers 5 with four significant digits, versions before it as it stands.
    """
    import transformers
    from transformers import TrainerCallback

    digits = ".4g" if int(transformers.__version__.split(".")[0]) >= 5 else ""

    class Notes(TrainerCallback):
        def on_log(
            self, args: Any, state: Any, control: Any, logs: Any = None, **rest: Any
        ) -> None:
            entry = state.log_history[-1]
            for name in ("loss", "grad_norm", "learning_rate", "eval_loss"):
                if name in entry and "train_runtime" not in entry:
                    note(name, state.global_step, float(format(float(entry[name]), digits)))

    return Notes()
