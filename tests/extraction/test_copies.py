"""Which figures are one, and which run of a folder is the last."""

import math
from pathlib import Path

import pytest

from postmortem.extraction.copies import (
    estimate_rounding,
    find_mirrored_logs,
    is_approximately_equal,
)
from postmortem.reading.file_names import find_earlier_runs
from postmortem.reading.non_logs import get_skip_reason


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param(16.8273, 16.827301025390625, True, id="printed with four decimals"),
        pytest.param(0.0012, 0.00123, True, id="a small figure, coarsely printed"),
        pytest.param(0.0012, 0.0014, False, id="another small figure"),
        pytest.param(1e-5, 2e-5, False, id="two rates"),
        pytest.param(2e-5, 1.9999999e-5, True, id="one rate"),
        pytest.param(math.nan, math.nan, True, id="both are no number"),
        pytest.param(math.inf, 7e36, False, id="infinite and large"),
        pytest.param(math.inf, math.inf, True, id="both infinite"),
        pytest.param(5.0, 5.4, False, id="a whole figure is not coarse"),
    ],
)
def test_figures_agree_as_far_as_they_are_printed(
    one: float, other: float, *, expected: bool
) -> None:
    """The coarser decides, whichever stands first."""
    coarse = max(estimate_rounding([one]), estimate_rounding([other]))
    assert (
        is_approximately_equal(one, other, coarse)
        is is_approximately_equal(other, one, coarse)
        is expected
    )


def test_logs_that_tools_keep_of_the_console() -> None:
    """What wandb keeps, and the log beside `.hydra`; no other."""
    paths = ["r/.hydra/config.yaml", "r/train.log", "r/sub/train.log", "r/wandb/run-1/files/output.log"]  # fmt: skip
    assert find_mirrored_logs(paths) == {1, 3}


@pytest.mark.parametrize(
    ("paths", "earlier"),
    [
        pytest.param(
            ["wandb/run-20250101_000000-a/files/o", "wandb/offline-run-20250102_000000-b/files/o"],
            [0],
            id="wandb, by time",
        ),
        pytest.param(
            ["lightning_logs/version_9/metrics.csv", "lightning_logs/version_10/metrics.csv"],
            [0],
            id="Lightning, by number",
        ),
        pytest.param(
            ["20250101_000000/vis_data/a", "20250102_000000/a", "20250102_000000/b"],
            [0],
            id="mmengine",
        ),
        pytest.param(
            ["outputs/2025-01-02/09-00-00/a", "outputs/2025-01-01/23-00-00/a"], [1], id="Hydra"
        ),
        pytest.param(
            ["runs/detect/train/results.csv", "runs/detect/train3/results.csv"],
            [0],
            id="Ultralytics: the first has no number",
        ),
        pytest.param(["a/version_1/x", "b/version_2/x"], [], id="not side by side"),
        pytest.param(["rank_0/x", "rank_1/x", "attempt_0/x", "attempt_1/x"], [], id="no runs"),
        pytest.param(["version_1/x"], [], id="a single one"),
    ],
)
def test_of_runs_side_by_side_the_last_is_read(paths: list[str], earlier: list[int]) -> None:
    """The files of the others are given with a reason."""
    folder = Path("job")
    given = [folder / path for path in paths]
    assert set(find_earlier_runs(given, folder)) == {given[index] for index in earlier}


def test_runs_in_the_store_of_mlflow_are_ordered_by_their_start(tmp_path: Path) -> None:
    """Their names say nothing."""
    runs = [tmp_path / "mlruns" / "1" / (letter * 32) for letter in "ba"]
    for run, start in zip(runs, (1, 2), strict=True):
        run.mkdir(parents=True)
        (run / "meta.yaml").write_text(f"end_time: 9\nstart_time: {start}\n")
    files = [run / "metrics" / "loss" for run in runs]
    assert set(find_earlier_runs(files, tmp_path)) == {files[0]}


def test_the_named_folder_is_no_run_beside_others(tmp_path: Path) -> None:
    """Who names an earlier run means it."""
    folder = tmp_path / "wandb" / "run-20250101_000000-a"
    assert find_earlier_runs([folder / "files" / "output.log"], folder) == {}


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("wandb/debug-internal.log", "wandb's own log"),
        ("debug.log", ""),
        ("wandb/run-1/run-a.wandb", "wandb's binary record"),
        (f"mlruns/1/{'a' * 32}/tags/user", "MLflow's own record"),
        ("tags/user", ""),
        ("model/tokenizer.json", "belongs to the model"),
        ("global_step10/latest", "names a checkpoint"),
        ("data.pkl", "run code"),
        ("out/config.json", ""),
    ],
)
def test_what_is_left_out_by_its_name(path: str, why: str) -> None:
    """With the reason; what only looks like it is read."""
    found = str(get_skip_reason(Path(path)) or "")
    assert why in found
    assert bool(found) == bool(why)
