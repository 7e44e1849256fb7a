"""Parse whole numbers out of a log, safely for any number of digits.

In: text of digits. Out: an `int`, or None where no counter has so many digits. Not here: numbers
with a fraction (`formats.records`, `facts.number_texts`). Python refuses to read more than 4,300
digits, and makes of fewer a number that no float holds and no loop counts to.
"""

from typing import Final

_MOST_DIGITS: Final = 18
"""A count of nanoseconds or tokens has no more; it fits 64 bits."""


def parse_whole_number(text: str | None) -> int | None:
    """Read a whole number; None if there is none, or it is too long to be a count."""
    if text is None or len(text) > _MOST_DIGITS:
        return None
    try:
        return int(text)
    except ValueError:
        return None
