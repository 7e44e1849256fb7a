"""Labels of the user's own figures, in English and Chinese.

In: nothing. Out: phrases by language and key, which `Words` joins with the others. Not here: the
figures (`report.key_figures`).
"""

from collections.abc import Mapping
from typing import Final

from postmortem.core.message import Message, say

FIGURES: Final[Mapping[str, Message]] = {
    "figure.shapes": say("Shapes"),
    "figure.batch-sizes": say("Batch of input and target"),
    "figure.elements": say("Elements"),
    "figure.channels": say("Channels"),
    "figure.index": say("Index and size"),
    "figure.unpacked": say("Values expected and there"),
    "figure.types": say("Data types"),
    "figure.devices": say("Devices"),
    "figure.key": say("Key"),
    "figure.there": say("What is there"),
    "figure.attribute": say("Attribute"),
    "figure.name": say("Name"),
    "figure.argument": say("Argument"),
    "figure.module": say("Module"),
    "figure.path": say("Path"),
    "figure.asked": say("Memory asked for"),
    "figure.free": say("Memory free"),
    "figure.total": say("Memory of the card"),
    "figure.allocated": say("Allocated by PyTorch"),
    "figure.timeout": say("Collective and its limit"),
    "figure.good-step": say("Last good step"),
    "figure.last-step": say("Last step"),
    "figure.process": say("Process"),
    "figure.after": say("From the failure to the end"),
    "own-code": say("Your code"),
    "own-code.in": say("{place} in {function}"),
}
