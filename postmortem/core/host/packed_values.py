"""Serialize values for another process of this program, with long arrays compressed.

In: any value that can be pickled. Out: bytes, and the value again, the same to the last bit. Not
here: sending them (`core.host.helper_process`).

The steps and lines of a curve go on by little from one to the next: their differences take an
eighth of the room. An array in which that does not hold stands as it is.
"""

import copyreg
import io
import mmap
import pickle
from array import array
from typing import Any, Final

_LONG: Final = 1000
"""Figures that are worth a look at their differences."""
_NARROW: Final = ("int8", "int16", "int32")
"""What differences are written as."""
_READ_AS: Final = {"d": ("float64", "int64"), "q": ("int64",)}
"""By the code of an array, what its figures are taken for: as their bits, floats are whole too."""


def pack_value(value: Any) -> memoryview:
    """Give the bytes of a value."""
    stream = io.BytesIO()
    pickler = pickle.Pickler(stream, protocol=5)
    pickler.dispatch_table = copyreg.dispatch_table | {array: _reduce_array}
    pickler.dump(value)
    return stream.getbuffer()


def unpack_value(data: "memoryview | mmap.mmap") -> Any:
    """Give the value of such bytes."""
    return pickle.loads(data)  # noqa: S301 -- written by this very program


def _reduce_array(figures: "array[Any]") -> tuple[Any, ...]:
    """Say how an array is made again."""
    code = figures.typecode
    for kind in _READ_AS.get(code, ()) if len(figures) >= _LONG else ():
        found = _compute_differences(figures, kind)
        if found is not None and _sum_differences(kind, *found) == figures.tobytes():
            return _restore_array, (code, kind, *found)
    return array, (code, figures.tobytes())


def _compute_differences(figures: "array[Any]", kind: str) -> tuple[int, str, bytes] | None:
    """Give the first figure, how wide the differences are, and these; None where they are wide."""
    import numpy as np  # noqa: PLC0415 -- only long arrays pay for its import

    with np.errstate(invalid="ignore"):
        whole = np.frombuffer(figures, dtype=kind).astype(np.int64)
    steps = np.diff(whole)
    low, high = int(steps.min()), int(steps.max())
    for width in _NARROW:
        if np.iinfo(width).min <= low and high <= np.iinfo(width).max:
            return int(whole[0]), width, steps.astype(width).tobytes()
    return None


def _sum_differences(kind: str, first: int, width: str, differences: bytes) -> bytes:
    """Give the bytes of the figures again."""
    import numpy as np  # noqa: PLC0415 -- only long arrays pay for its import

    steps = np.frombuffer(differences, dtype=width)
    whole = np.empty(len(steps) + 1, dtype=np.int64)
    whole[0] = first
    np.cumsum(steps, out=whole[1:])
    whole[1:] += first
    return whole.astype(kind).tobytes()


def _restore_array(
    code: str, kind: str, first: int, width: str, differences: bytes
) -> "array[Any]":
    return array(code, _sum_differences(kind, first, width, differences))
