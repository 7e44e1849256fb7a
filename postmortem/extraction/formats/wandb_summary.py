"""`wandb-summary.json`: the last value of each metric that a run logged to wandb.

In: the text of the file. Out: a record for each figure at the last step, with its raw line. Not
here: wandb's history, which is in its binary record or on its server.
"""

from collections.abc import Iterator
from typing import Final

from postmortem.core.lines import NOWHERE
from postmortem.core.message import say
from postmortem.core.names import EPOCH
from postmortem.extraction.formats import nested
from postmortem.extraction.formats.metric_names import find_known_name
from postmortem.extraction.formats.records import Record
from postmortem.extraction.formats.spelling import parse_value

NAME: Final = "wandb-summary.json"
PRODUCER: Final = "wandb"
NOTE: Final = say("last values that wandb kept")
_STEP: Final = "_step"


def iter_last_values(text: str) -> Iterator[tuple[Record, int]]:
    """Yield the figures at the step that the file names; none where it names none.

    Only those whose course is asked about: a single figure of any other says little.
    """
    leaves, _ = nested.parse_leaves(text)
    step = next((parse_value(leaf.value) for leaf in leaves if leaf.name == _STEP), None)
    for leaf in leaves if step is not None else ():
        value, name = parse_value(leaf.value), find_known_name(leaf.name)
        if step is not None and value is not None and name and name != EPOCH:
            yield Record(step, [(name, value)], NOWHERE), leaf.line
