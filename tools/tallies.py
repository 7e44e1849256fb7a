"""What came of the inputs of a fuzz: figures, and each finding once, with its files.

In: what each input told. Out: a text; folders. Not here: trying an input (`trials`).
"""

import json
import threading
from collections import Counter
from pathlib import Path
from typing import Any, Final

from mutations import make
from trials import Finding, Time

KEPT: Final = 2
"""Inputs that are kept of one finding."""


class Tally:
    """Figures of a run, and its findings."""

    def __init__(self, out: Path) -> None:
        """Keep inputs with findings in a folder."""
        self.out = out
        self.inputs = self.bytes = 0
        self.seconds = 0.0
        self.found: Counter[tuple[str, str, str]] = Counter()
        self.worst: dict[str, tuple[float, Time, str]] = {}
        self._lock = threading.Lock()

    def add(self, seed: int, number: int, values: dict[str, Any]) -> None:
        """Add an input's figures; the first few inputs of each finding are kept."""
        with self._lock:
            self.inputs, self.bytes, self.seconds = (
                self.inputs + 1,
                self.bytes + values["bytes"],
                self.seconds + values["seconds"],
            )
            for one in (Time(*time) for time in values["times"]):
                share = one.seconds / one.allowed
                if share > self.worst.get(one.part.split()[0], (0.0,))[0]:
                    self.worst[one.part.split()[0]] = (share, one, f"{seed}/{number}")
            for finding in (Finding(*one) for one in values["findings"]):
                self.found[finding.kind] += 1
                if self.found[finding.kind] <= KEPT:
                    print(
                        f"{seed}/{number}  {finding.part}: {finding.what}  {finding.where} "
                        f" {finding.detail if not finding.where else ''}",
                        flush=True,
                    )
                    self._keep(seed, number, finding)

    def _keep(self, seed: int, number: int, finding: Finding) -> None:
        folder = self.out / f"{seed}-{number}"
        made = make(seed, number)
        for name, data in {
            **{f"job/{name}": data for name, data in made.files.items()},
            **({"job.env": made.dump} if made.dump else {}),
        }.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        with (folder / "finding.jsonl").open("a", encoding="utf-8") as out:
            out.write(
                json.dumps(
                    {
                        "seed": seed,
                        "number": number,
                        "made": made.made,
                        "secrets": made.secrets,
                        **finding._asdict(),
                    }
                )
                + "\n"
            )

    def text(self) -> str:
        """The figures."""
        lines = [
            f"{self.inputs:,} inputs, {self.bytes / 1e6:.1f} MB, {self.seconds / 60:.1f} CPU"
            f" minutes: {self.inputs / max(self.seconds, 1e-9):.2f} inputs a CPU second"
        ]
        lines += [
            f"  slowest {part}: {entry.seconds:.2f} s of {entry.allowed:.2f} s allowed ({seed})"
            for part, (_, entry, seed) in sorted(self.worst.items(), key=lambda item: -item[1][0])[
                :12
            ]
        ]
        lines += [
            f"  {count} times {' '.join(filter(None, kind))}"
            for kind, count in self.found.most_common()
        ]
        return "\n".join(
            [
                *lines,
                f"{len(self.found)} findings" + (f", kept in {self.out}" if self.found else ""),
            ]
        )
