"""Advice over whole collections: no word of another stack, no gap the log can fill; it is proved.

All causes that a report names are looked through, with `tools/strange_advice.py`. Collections of
others' logs that lie beside a checkout are looked through as a whole, where they are there: figures
alone are shown, for what stands in them is not to be printed.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
import strange_advice
from strange_advice import Hit

import postmortem
from postmortem.rules.base import load
from postmortem.rules.compile import read_yaml

ROOT = Path(__file__).resolve().parents[3]
BESIDE = ROOT.parent / "shared"


PLAIN = {
    "code.smaller-triton-blocks",
    "config.fix-yaml",
    "config.lightning-one-package",
    "config.register-once",
    "config.tracker-short-params",
    "cuda.display-gpu",
    "cuda.reload-uvm",
    "environment.install-system-library",
    "environment.one-openmp",
    "environment.remove-shadow",
    "environment.who-wants-library",
    "io.find-open-files",
    "io.retry-reads",
    "io.see-kernel",
    "memory.end-own-leftovers",
    "memory.logits",
    "memory.page-file",
    "memory.request-gpu",
}
"""Fixes that do what the message itself asks for, or only look; to be fewer, never more."""

BEHIND_A_MESSAGE = {
    "checkpoint.allow-class",
    "checkpoint.make-folder",
    "checkpoint.match-the-model",
    "checkpoint.plain-values",
    "checkpoint.resize-embeddings",
    "checkpoint.skip-head",
    "checkpoint.strip-prefix",
    "checkpoint.to-safetensors",
    "checkpoint.universal",
    "checkpoint.untie-or-bin",
    "checkpoint.weights-only-restart",
    "code.compile-less",
    "code.match-features",
    "code.match-loss",
    "code.matching-triton",
    "code.one-graph-one-backward",
    "code.reconnect-loss",
    "code.main-guard",
    "code.picklable",
    "config.add-special-token",
    "config.ds-lower-stage",
    "config.eval-off-or-set",
    "config.join-lines",
    "config.match-save-eval",
    "config.pass-labels",
    "config.registry-versions",
    "config.schedule-length",
    "config.set-chat-template",
    "config.set-max-steps",
    "config.set-target-modules",
    "cuda.clean-library-path",
    "cuda.newer-torch",
    "cuda.reinstall-cudnn",
    "data.keep-columns",
    "data.longer-context",
    "data.name-encoding",
    "data.truncate",
    "distributed.fabric-settings",
    "distributed.fsdp-uniform",
    "distributed.gather-first",
    "distributed.use-launcher",
    "distributed.wrap-policy",
    "environment.numpy-below-2",
    "environment.supported-python",
    "numerics.load-float32",
}
"""Fixes that give way, on each sample of their cause, to the rule of its exception or signature."""


def looked_through(folder: Path) -> list[tuple[list[Hit], list[str]]]:
    """What is strange in the advice for each case, and the fixes shown for its true cause."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        return list(pool.map(_looked_at, strange_advice.cases(folder), chunksize=8))


def _looked_at(case: tuple[Path, Path | None]) -> tuple[list[Hit], list[str]]:
    log, dump = case
    label = read_yaml(log.with_name(log.name.removesuffix(".log") + ".yaml"))
    report = postmortem.analyze(str(log), env=[str(dump)] if dump else [])
    true = {label["cause"], *(label.get("also") or ())}
    shown = report.causes[0].fixes if report.causes and report.causes[0].id in true else ()
    return strange_advice.strange_in(report, log, dump), [fix.id for fix in shown]


@pytest.fixture(scope="module", name="samples")
def _samples() -> list[tuple[list[Hit], list[str]]]:
    return looked_through(ROOT / "sample_logs")


def test_no_strange_advice_for_samples(samples: list[tuple[list[Hit], list[str]]]) -> None:
    """Words of others, gaps, changes that the log refutes: none."""
    assert [hit for hits, _ in samples for hit in hits] == []


def test_each_fix_is_proved(samples: list[tuple[list[Hit], list[str]]]) -> None:
    """A fix has a page or source that was read, or is shown for a sample of its cause."""
    shown = {name for _, names in samples for name in names}
    unproved = {fix.id for fix in load().fixes if not fix.references} - shown
    assert unproved == PLAIN | BEHIND_A_MESSAGE


@pytest.mark.parametrize("name", ["corpus", "jobs", "logs"])
def test_no_strange_advice_for_other_collections(name: str) -> None:
    """The same for logs of others, by number."""
    if not (BESIDE / name).is_dir():
        pytest.skip(f"no collection of this name beside the checkout: {name}")
    found = sum(len(hits) for hits, _ in looked_through(BESIDE / name))
    assert found == 0


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        pytest.param("learning_rate_half", "lr=0.0004", "0.0004", id="a rate"),
        pytest.param("batch_size_half", "--per_device_train_batch_size 8", "4", id="half of it"),
        pytest.param("accumulation_double", "gradient_accumulation_steps: 4", "8", id="twice"),
        pytest.param("distribution", "No module named 'wheelhouse'", "wheelhouse", id="a package"),
        pytest.param("learning_rate", "lr=0.0", "", id="no rate is none"),
        pytest.param("learning_rate_half", "lr=0.04\nlr=0.08", "", id="a rate that moves"),
        pytest.param("learning_rate", "lr=1e-4\nlr: 0.0001", "1e-4", id="a rate that holds"),
        pytest.param("learning_rate", "the rate is told nowhere", "", id="nothing printed"),
        pytest.param("no_such_place", "lr=1e-4", "", id="a place of which nothing is known"),
    ],
)
def test_what_a_log_prints(name: str, text: str, expected: str) -> None:
    """The check itself sees what logs print for a place."""
    assert strange_advice.printed(name, text) == expected


def test_a_gap_is_seen() -> None:
    """A place that stands open is found by its template."""
    fits = strange_advice.fits("lr=${learning_rate|RATE}  # half of ${batch_size}")
    assert fits.fullmatch("lr=RATE  # half of <batch_size>") is not None
    assert fits.fullmatch("rate=RATE") is None
