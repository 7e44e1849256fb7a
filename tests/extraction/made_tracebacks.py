"""What is read of a traceback that a test makes up."""

from postmortem.core.findings import Traceback
from postmortem.extraction import traceback
from postmortem.reading.windows import View


def first(text: str) -> Traceback:
    """The first traceback of a log."""
    data = text.encode()
    position = data.index(traceback.ANCHOR)
    found = traceback.read(
        View(data, position, data.count(b"\n", 0, position) + 1, srun=False), 0, 0
    )
    assert found is not None
    return found
