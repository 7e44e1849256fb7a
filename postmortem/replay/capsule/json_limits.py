"""Parse JSON of a capsule only if its size in memory is bounded.

In: bytes. Out: their value. Not here: what the value means (`capsule.structured`,
`capsule.tensor_headers`).

Three bytes (`[],`) become 64 in memory, and each part is checked later: the number of parts, not
the length of the text, bounds memory and time.
"""

import json
from typing import Any, Final

MOST_BYTES: Final = 16 * 1024 * 1024
MOST_PARTS: Final = 500_000
_STARTS: Final = (b"{", b"[", b",", b":")


def parse_json(data: bytes) -> Any:
    """Parse a text.

    Raises:
        ValueError: it is no JSON, nests too deep, or has too many parts.
    """
    parts = sum(data.count(start) for start in _STARTS)
    if parts > MOST_PARTS:
        raise ValueError(f"it has {parts:,} parts, at most {MOST_PARTS:,} are read")
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("it nests too deep") from error
