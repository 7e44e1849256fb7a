"""Write docs/replay-table.md: which change mends which fault, and what replay concludes.

    python tools/replay_table.py [--capsules FOLDER]

Needs torch and the frameworks of the trainings. Each training of `tests/faulty_trainings` is run
with the recorder attached, unless FOLDER holds its capsule already (under the training's name), and
its capsule is replayed. What is true of each stands in `truths.yaml` beside them.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from postmortem.core.diagnosis import Replayed
from postmortem.core.message import Message
from postmortem.replay.rerun.requested_replay import replay_capsule

ROOT: Final = Path(__file__).resolve().parents[1]
TRAININGS: Final = ROOT / "tests" / "faulty_trainings"
PAGE: Final = ROOT / "docs" / "replay-table.md"
_SIGNS: Final = {
    "finite": "finite",
    "not-finite": "**not finite**",
    "diverges": "**climbs**",
    "skipped": "·",
    "failed": "failed",
}
_VERDICTS: Final = {
    "confirmed": "**confirmed**",
    "refuted": "refuted",
    "not-reproduced": "not reproduced",
    "not-testable": "·",
}
_HEAD: Final = """# Replay: fault × counterfactual × outcome

Written by `tools/replay_table.py` from trainings that really ran (`tests/faulty_trainings`),
each with the recorder attached through its framework. What is true of each was written down
before it was replayed.

A dot: the change does not apply, or the cause could not be tested; the report says why.
"""


def capsule_of(name: str, folder: Path) -> Path:
    """Give the capsule of a training, which is run if there is none."""
    place = folder / name
    if not any(place.glob("**/manifest.json")):
        place.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, f"{name}.py", str(place)], cwd=TRAININGS, check=False)
    return max(place.glob("**/manifest.json")).parent


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def page(found: Mapping[str, Replayed[Message]], truths: Mapping[str, Any]) -> str:
    """Write the page."""
    names = [*found]
    plain = [name.replace("_", " ") for name in names]
    first = next(capsule for capsule in found.values() if len(capsule.trials) > 2)
    trials = [(trial.id, str(trial.title)) for trial in first.trials]
    outcomes = {
        name: {trial.id: _SIGNS[trial.outcome] for trial in one_of.trials}
        for name, one_of in found.items()
    }
    causes = [one.cause for one in first.tested]
    verdicts = {
        name: {one.cause: _VERDICTS[one.verdict] for one in one_of.tested}
        for name, one_of in found.items()
    }
    summary = [_row(name, value, truths[name]) for name, value in found.items()]
    return "\n\n".join(
        [
            _HEAD.rstrip(),
            "## What it concludes",
            table(
                ["training", "framework", "truth", "confirmed", "module", "samples", "fidelity"],
                summary,
            ),
            "## Counterfactuals",
            table(
                ["changed", *plain],
                [
                    [title, *(outcomes[name].get(key, "·") for name in names)]
                    for key, title in trials
                ],
            ),
            "## Causes",
            table(
                ["cause", *plain],
                [[cause, *(verdicts[name][cause] for name in names)] for cause in causes],
            ),
            "",
        ]
    )


def _row(name: str, found: Replayed[Message], truth: Mapping[str, Any]) -> list[str]:
    confirmed = ", ".join(verdict.cause for verdict in found.confirmed)
    if not confirmed:
        confirmed = {"no": "not reproduced", "nothing-failed": "nothing fails"}.get(
            found.reproduced, "–"
        )
    module = found.module or ("the loss" if found.direction == "forward" else "–")
    samples = ", ".join(
        str(culprit.position if culprit.index is None else culprit.index)
        for culprit in found.culprits
    )
    fidelity = str(found.fidelity).split(":", 1)[0]
    return [
        name.replace("_", " "),
        str(truth["framework"]),
        str(truth["cause"]),
        confirmed,
        f"`{module}`" if found.module else module,
        samples or "–",
        fidelity,
    ]


def main() -> None:
    """Run all, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--capsules", type=Path)
    parser.add_argument("--seconds", type=float, default=600.0)
    args = parser.parse_args()
    truths = yaml.safe_load((TRAININGS / "truths.yaml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as kept:
        folder = args.capsules or Path(kept)
        found = {
            name: replay_capsule(
                capsule_of(name, folder), device="cpu", trust=True, seconds=args.seconds
            )
            for name in truths
        }
    PAGE.write_text(page(found, truths), encoding="utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
