"""`wandb-summary.json`: the last value of each metric that a run logged to wandb.

In: the text of the file. Out: a record for each figure at the last step, with its raw line. Not
here: wandb's history, which is in its binary record or on its server.
"""

from collections.abc import Iterator
from typing import Final

from postmortem.formats import nested
from postmortem.formats.metric_names import metric_name
from postmortem.formats.records import Record
from postmortem.formats.spelling import value_of
from postmortem.model.lines import NOWHERE
from postmortem.model.said import say

NAME: Final = "wandb-summary.json"
PRODUCER: Final = "wandb"
NOTE: Final = say("last values that wandb kept", "wandb 保存的最终值")
_STEP: Final = "_step"
_OWN: Final = ("_", "gradients/", "parameters/", "system/")
_SPLIT: Final = (".min", ".max", ".mean", ".best")


def last_values(text: str) -> Iterator[tuple[Record, int]]:
    """Yield the figures at the step that the file names; none where it names none."""
    leaves, _ = nested.leaves(text)
    step = next((value_of(leaf.value) for leaf in leaves if leaf.name == _STEP), None)
    for leaf in leaves if step is not None else ():
        value = value_of(leaf.value)
        is_own = leaf.name.startswith(_OWN) or leaf.name.endswith(_SPLIT)
        if step is not None and value is not None and not is_own:
            yield Record(step, [(metric_name(leaf.name), value)], NOWHERE), leaf.line
