"""The list of all faults and of the cases that are checked in, written from the headers.

`manifest.yaml`.

Comes in: faults. Goes out: one text. A test holds that it is up to date.
"""

from harness.faults import Fault
from harness.labels import dumped

HEAD = (
    "# Written by `python sample_logs/lab manifest` from the faults' headers; not edited by hand.\n"
)


def case_names(fault: Fault, seed: int) -> list[str]:
    """The cases that one run gives, relative to `sample_logs/`, without a suffix."""
    stem = fault.name.split("/")[1]
    return [f"{fault.framework}/{stem}-{dump.name}-{seed}" for dump in fault.dumps] or [
        f"{fault.framework}/{stem}-{seed}"
    ]


def manifest(faults: list[Fault]) -> str:
    """All faults by name."""
    entries = [
        {
            "name": fault.name,
            "cause": fault.cause,
            **(
                {"causes_with_dumps": sorted({dump.cause for dump in fault.dumps})}
                if fault.dumps
                else {}
            ),
            "environment": fault.venv,
            **({"needs": list(fault.needs)} if fault.needs else {}),
            **({"pair": fault.pair} if fault.pair else {}),
            "seeds": list(fault.seeds),
            "checked_in": [name for seed in fault.kept for name in case_names(fault, seed)],
            **({"quick": True} if fault.quick else {}),
            "story": fault.story,
        }
        for fault in faults
    ]
    return HEAD + dumped({"faults": entries})
