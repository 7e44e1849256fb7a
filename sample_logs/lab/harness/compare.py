"""Whether a second recording says the same as the first.

Two labels of one case are compared, field by field.

Comes in: two labels. Goes out: the differences, as sentences. What another machine or another day
may change is left out here, and only here: the versions, the line number in a job whose processes
race, a pid in a file's name, the last digits of a curve.
"""

import math
import re
from typing import Any

SAME = (
    "cause",
    "also",
    "not",
    "outcome",
    "exit_status",
    "pair",
    "step_basis",
    "composed",
    "story",
    "how",
    "script",
    "note",
    "dump",
)
MOVING = re.compile(r"0x[0-9a-f]+|\d+")
PID = re.compile(r"\d{3,}")
RELATIVE = 0.02


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """What the new label says otherwise than the old one."""
    found = [
        f"{name}: {old.get(name)!r} became {new.get(name)!r}"
        for name in SAME
        if old.get(name) != new.get(name)
    ]
    if _plain(old.get("signature", "")) != _plain(new.get("signature", "")):
        found.append(f"signature: {old.get('signature')!r} became {new.get('signature')!r}")
    one, other = old.get("first_failure") or {}, new.get("first_failure") or {}
    if PID.sub("0", one.get("source", "")) != PID.sub("0", other.get("source", "")) or _plain(
        one.get("text", "")
    ) != _plain(other.get("text", "")):
        found.append(f"first failure: {one} became {other}")
    return found + _series(old.get("series") or {}, new.get("series") or {})


def _plain(text: str) -> str:
    return MOVING.sub("0", text)


def _series(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    found = [f"series {name} stands in one label only" for name in sorted(set(old) ^ set(new))]
    for name in sorted(set(old) & set(new)):
        one, other = old[name], new[name]
        found += [
            f"series {name}: {key} {one[key]} became {other[key]}"
            for key in ("points", "nonfinite")
            if one[key] != other[key]
        ]
        found += [
            f"series {name}: {key} {one[key]} became {other[key]}"
            for key in ("first", "last")
            if not _near(one[key][1], other[key][1])
        ]
    return found


def _near(one: float, other: float) -> bool:
    return (
        (math.isnan(one) and math.isnan(other))
        or one == other
        or math.isclose(one, other, rel_tol=RELATIVE, abs_tol=1e-4)
    )
