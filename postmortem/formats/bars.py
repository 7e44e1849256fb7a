"""Progress bars: the step that a record without one belongs to, where that is certain.

In: the bytes behind a record. Out: the position and length of the bar, or None.
Not here: metrics.

`tqdm.write` clears the bar, prints the record and draws the bar again with its present position: the first bar behind a record is
exact, the last one before it may lag behind (bars are drawn at most ten times a second).
"""

import re
from typing import Final

_BAR: Final = re.compile(rb"\|\s{0,9}(\d{1,12})/(\d{1,12}) \[")
_NEAR: Final = 400


def position_after(data: bytes, end: int) -> tuple[int, int] | None:
    """Read the bar that follows a record.

    Args:
        data: the block.
        end: where the record's line ends.

    Returns:
        (position, length), or None if no bar follows before the next record, or two bars of different length do (an evaluation is running).
    """
    behind = data[end:end + _NEAR]
    next_record = behind.find(b"{'")
    bars = [(int(now), int(total)) for now, total in _BAR.findall(behind if next_record < 0 else behind[:next_record])]
    if not bars or len({total for _, total in bars}) > 1:
        return None
    return bars[0]
