"""`trainer_state.json` of the Hugging Face Trainer: the log history with exact steps.

In: the whole text of the file (even one cut off by the crash). Out: records with raw lines, and a few settings.
Not here: the printed dicts of the same run (`patterns/formats/trainer.yaml`).
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Final

from postmortem.formats.records import Record
from postmortem.model.lines import NOWHERE

PRODUCER: Final = "transformers-trainer-state"
_ENTRY: Final = re.compile(r"\{[^{}]{1,20000}\}")
_SKIPPED: Final = frozenset({"step", "total_flos", "train_runtime", "train_loss", "train_samples_per_second", "train_steps_per_second"})
_NAMES: Final = {"lr": "learning_rate"}


def claims(head: str) -> bool:
    """Say whether a file that begins like this is a trainer state."""
    start = head.lstrip()[:1]
    return start == "{" and '"log_history"' in head and '"global_step"' in head[:4000] + head[-4000:]


def records(text: str) -> Iterator[tuple[Record, int]]:
    """Yield every entry of the log history with its raw line; an entry that is cut off is passed over."""
    begin = text.find('"log_history"')
    line, position = 1, 0
    for match in _ENTRY.finditer(text, max(begin, 0)):
        line += text.count("\n", position, match.start())
        position = match.start()
        try:
            entry = json.loads(match[0])
        except ValueError:
            continue
        if not isinstance(entry.get("step"), int):
            continue
        values = [(_NAMES.get(key, key), float(value)) for key, value in entry.items() if key not in _SKIPPED and isinstance(value, (int, float)) and not isinstance(value, bool)]
        if values and "train_runtime" not in entry:
            yield Record(float(entry["step"]), values, NOWHERE, math.nan), line
