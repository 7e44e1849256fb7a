"""Health is not said lightly, over the samples: of what is changed in a log, of what is cut off it.

A few samples of each kind, the same in every run.
"""

import random
import re
from pathlib import Path

import pytest
import samples
import yaml

import postmortem

ROOT = Path(__file__).resolve().parents[2] / "sample_logs"
LARGEST = 20_000
FIRM = 0.76
"""A probability above what is allowed to a health that is doubted."""
FIGURE = re.compile(
    r"(?P<name>[\w/]{0,30}(?:loss|acc|reward|kl|entropy|ppl|score))[\"']?\s?[:=]\s?[\"']?"
    r"(?P<value>-?\d+\.\d+)(?![\w.])"
)
BOUND = re.compile("best|clip|scale|min|max")
STRETCH = "".join(
    f"step {5000 + 10 * index} loss {2.3 - 0.05 * index:.4f} lr 1e-4\n" for index in range(30)
)


def chosen(count: int, *, healthy: bool, trained: bool = False) -> list[Path]:
    """Some logs of sound runs, or of others; those without a verdict of their own are left out.

    With `trained` only those that print figures: behind an error at the start, records are of
    another start.
    """
    found = []
    for path in samples.labels_in(ROOT):
        log = path.with_suffix(".log")
        if ROOT / "lab" in path.parents or not log.is_file() or log.stat().st_size > LARGEST:
            continue
        cause = yaml.safe_load(path.read_text(encoding="utf-8"))["cause"]
        area = cause.split(".")[0]
        if (area == "healthy") != healthy or area in {"hang", "unknown", "performance"}:
            continue
        if not trained or FIGURE.search(log.read_text(encoding="utf-8", errors="replace")):
            found.append(log)
    return random.Random(7).sample(sorted(found), min(count, len(found)))


def firmly_healthy(text: str, folder: Path) -> bool:
    """Say whether the verdict on a log is health, and a firm one."""
    log = folder / "train.log"
    log.write_text(text, encoding="utf-8", newline="")
    verdict = postmortem.analyze(log).in_language("en").verdict
    return (verdict.cause or "").startswith("healthy.") and verdict.probability >= FIRM


def name(path: Path) -> str:
    """The name of a case."""
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("log", chosen(12, healthy=True), ids=name)
def test_one_figure_that_is_not_finite_ends_health(log: Path, tmp_path: Path) -> None:
    """Whichever it is: a loss, a score, a reward, wherever in the log."""
    text = log.read_text(encoding="utf-8")
    found = [match for match in FIGURE.finditer(text) if not BOUND.search(match["name"])]
    if not found:
        pytest.skip("it prints no such figure")
    match = random.Random(log.stem).choice(found)
    changed = text[: match.start("value")] + "nan" + text[match.end("value") :]
    assert not firmly_healthy(changed, tmp_path), match[0]


@pytest.mark.parametrize("log", chosen(12, healthy=False, trained=True), ids=name)
def test_a_healthy_stretch_does_not_heal_a_failure(log: Path, tmp_path: Path) -> None:
    """Records that follow what ended a run make no firm health of it."""
    text = log.read_text(encoding="utf-8", errors="replace")
    assert not firmly_healthy(text.rstrip("\n") + "\n" + STRETCH, tmp_path)


@pytest.mark.parametrize("log", chosen(12, healthy=False), ids=name)
def test_a_cut_log_proves_no_health(log: Path, tmp_path: Path) -> None:
    """Without its last lines a failed run is never an established sound one."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    for share in (0.1, 0.4):
        kept = lines[: len(lines) - max(1, int(share * len(lines)))]
        cut = tmp_path / "cut.log"
        cut.write_text("".join(kept), encoding="utf-8", newline="")
        verdict = postmortem.analyze(cut).in_language("en").verdict
        assert not ((verdict.cause or "") == "healthy.running" and verdict.probability > 0.9)
        assert not (
            (verdict.cause or "").startswith("healthy.") and verdict.status == "established"
        )
