"""Fit the model of curves to runs of the lab and to real logs, and say how good it is.

In: folders of labelled logs (`sample_logs/lab/curves`, real ones). Out: `models/curves.json`, and
figures of runs whose task or repository the model had not seen. Not here: the steps (`learn`).

    python tools/fit_curve_model.py --lab RUNS --real LOGS [LOGS ...] --to models/curves.json
"""

import argparse
import itertools
import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from postmortem.diagnosis.detectors.boosted_trees import SOUND, CurveModel, serialize_curve_model
from postmortem.learn.curve_fitting import (
    CurveSample,
    fit_curve_model,
    list_feature_names,
    read_curve_samples,
)
from postmortem.learn.samples import fold_of

_FOLDS: Final = 6
_REAL_WEIGHT: Final = 3.0
_SHARPNESSES: Final = tuple(0.3 + 0.05 * step for step in range(20))
_SIZES: Final = (0, 6, 13, 50, math.inf)
"""Borders of the numbers of records by which figures are given."""


def main() -> None:
    """Fit, judge, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--lab", type=Path, nargs="*", default=[])
    parser.add_argument("--real", type=Path, nargs="*", default=[])
    parser.add_argument("--keep", type=Path, help="features are kept here, and read again")
    parser.add_argument("--to", type=Path)
    parser.add_argument("--folds", type=Path, help="where the models of the figures are written")
    given = parser.parse_args()
    samples = list(_read(given.lab, 1.0, given.keep, "lab"))
    samples += _read(given.real, _REAL_WEIGHT, given.keep, "real")
    models = fit_folds(samples)
    shares = judge_held_out(samples, models)
    sharpness = min(_SHARPNESSES, key=lambda one: _compute_log_loss(samples, shares, one))
    sharpened = [_sharpen(share, sharpness) for share in shares]
    for line in describe(samples, sharpened):
        print(line)
    if given.to:
        model = fit_curve_model(samples, list_feature_names(samples), sharpness=sharpness)
        given.to.write_bytes(serialize_curve_model(model) + b"\n")
    for fold, model in enumerate(models) if given.folds else ():
        given.folds.mkdir(parents=True, exist_ok=True)
        content = serialize_curve_model(model._replace(sharpness=sharpness))
        (given.folds / f"fold-{fold}.json").write_bytes(content + b"\n")


def fit_folds(samples: Sequence[CurveSample]) -> list[CurveModel]:
    """Fit a model for each fold of tasks and repositories, to all runs that are not in it."""
    names = list_feature_names(samples)
    return [
        fit_curve_model([one for one in samples if fold_of(one.group, _FOLDS) != fold], names)
        for fold in range(_FOLDS)
    ]


def judge_held_out(
    samples: Sequence[CurveSample], models: Sequence[CurveModel]
) -> list[dict[str, float]]:
    """Give the shares of each run by the model that has not seen its task or repository."""
    return [models[fold_of(one.group, _FOLDS)].compute_shares(one.features) for one in samples]


def describe(samples: Sequence[CurveSample], shares: Sequence[dict[str, float]]) -> Iterator[str]:
    """Word how many faults are flagged, named rightly, and how many sound runs are accused."""
    rows = list(zip(samples, shares, strict=True))
    for kind, is_real in (("lab", False), ("real", True)):
        own = [row for row in rows if (row[0].weight > 1) == is_real]
        for threshold in (0.5, 0.6, 0.7, 0.75, 0.8, 0.9):
            yield f"{kind} {threshold}: {_count(own, threshold)}"
        for low, high in itertools.pairwise(_SIZES):
            sized = [row for row in own if low <= _get_records(row[0]) < high]
            yield f"{kind} {low} to {high} records: {_count(sized, 0.75)}"
        for answer in sorted({row[0].answer for row in own}):
            yield f"{kind} {answer}: {_count([r for r in own if r[0].answer == answer], 0.75)}"


def _count(rows: Sequence[tuple[CurveSample, dict[str, float]]], threshold: float) -> str:
    named = [(one.answer, _name(share, threshold)) for one, share in rows]
    faults = [pair for pair in named if pair[0] != SOUND]
    sound = [pair for pair in named if pair[0] == SOUND]
    flagged = sum(given != SOUND for _, given in faults)
    right = sum(answer == given for answer, given in faults)
    accused = sum(given != SOUND for _, given in sound)
    return (
        f"faults {len(faults)}, flagged {flagged}, named rightly {right};"
        f" sound {len(sound)}, accused {accused}"
    )


def _name(share: dict[str, float], threshold: float) -> str:
    """Give the likeliest fault where a fault of any kind is likelier than a threshold."""
    faults = {one: value for one, value in share.items() if one != SOUND}
    return max(faults, key=faults.__getitem__) if sum(faults.values()) >= threshold else SOUND


def _get_records(sample: CurveSample) -> float:
    counts = [sample.features.get(f"{role}.count", math.nan) for role in ("loss", "reward")]
    return max((10**count for count in counts if not math.isnan(count)), default=0)


def _sharpen(share: dict[str, float], sharpness: float) -> dict[str, float]:
    raised = {one: max(value, 1e-9) ** sharpness for one, value in share.items()}
    whole = sum(raised.values())
    return {one: value / whole for one, value in raised.items()}


def _compute_log_loss(
    samples: Sequence[CurveSample], shares: Sequence[dict[str, float]], sharpness: float
) -> float:
    return -sum(
        one.weight * math.log(max(_sharpen(share, sharpness).get(one.answer, 0.0), 1e-6))
        for one, share in zip(samples, shares, strict=True)
    )


def _read(
    folders: Sequence[Path], weight: float, keep: Path | None, kind: str
) -> Iterator[CurveSample]:
    """Yield the samples of folders, from what was kept of them if there is such a file."""
    kept = keep and keep.with_name(f"{keep.name}-{kind}.jsonl")
    if kept and kept.is_file():
        for line in kept.read_text(encoding="utf-8").splitlines():
            yield CurveSample(**json.loads(line))
        return
    lines = []
    for sample in read_curve_samples(folders, weight=weight) if folders else ():
        lines.append(json.dumps(sample._asdict()))
        yield sample
    if kept:
        kept.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
