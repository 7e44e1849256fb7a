"""Rules name what they know; the model is heard beside them, and speaks where they abstain."""

from pathlib import Path

import pytest

import postmortem
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.errors import InputError
from postmortem.report.display import translate_analysis
from tests.diagnosis.classifier.made_models import written

WALRUS = "the walrus service dropped our shard again\n"
UNKNOWN = "epoch 1 begins\n" + WALRUS
PROVED = "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.\n"


def judged(tmp_path: Path, text: str, model: Path | None) -> Diagnosis:
    """What is made of a log."""
    log = tmp_path / "run.log"
    log.write_text(text)
    return translate_analysis(postmortem.analyze(str(log), model=model).analysis, "en")


def test_where_the_rules_abstain_the_model_speaks(tmp_path: Path) -> None:
    """With its line, its weight and the digest of the model."""
    model = written(tmp_path, {"walrus": "io.storage", "walrus service": "io.storage"})
    assert judged(tmp_path, UNKNOWN, None).verdict.cause is None
    found = judged(tmp_path, UNKNOWN, model)
    assert found.causes[0].id == "io.storage"
    (item,) = found.causes[0].evidence
    assert (item.kind, item.line, item.weight > 0) == ("classifier", 2, True)
    assert "walrus" in item.text
    assert found.classifier is not None
    assert found.verdict.status in {"hypothesis", "unknown"}


def test_a_line_that_tells_of_another_failure_carries_no_opinion(tmp_path: Path) -> None:
    """What a launcher says of a worker is the same whatever the worker died of."""
    model = written(tmp_path, {"ChildFailedError": "io.storage", "elastic": "io.storage"})
    text = (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        "============\ntrain.py FAILED\n------------\nFailures:\n  <NO_OTHER_FAILURES>\n"
        "------------\nRoot Cause (first observed failure):\n[0]:\n  rank      : 1 (local_rank: 1)\n"
        "  exitcode  : 1 (pid: 7)\n  error_file: <N/A>\n============\n"
    )
    assert judged(tmp_path, text, model).verdict == judged(tmp_path, text, None).verdict


def test_figures_alone_show_that_a_run_is_slow(tmp_path: Path) -> None:
    """No wording puts it forward."""
    model = written(tmp_path, {"walrus": "performance.slow"})
    assert judged(tmp_path, UNKNOWN, model).verdict.cause is None


def test_what_the_log_proves_is_left_as_it_is(tmp_path: Path) -> None:
    """The model is not even asked."""
    model = written(tmp_path, {"scale": "io.storage", "loss": "io.storage"})
    alone, both = judged(tmp_path, PROVED, None), judged(tmp_path, PROVED, model)
    assert alone.verdict.status == "established"
    assert both.verdict == alone.verdict


@pytest.mark.parametrize(
    "cause", ["unknown.no-cause-shown", "healthy.running", "code.user-exception"]
)
def test_no_wording_is_that_of_an_absence(tmp_path: Path, cause: str) -> None:
    """Such causes are named where nothing else is shown, never by a model."""
    model = written(tmp_path, {"walrus": cause})
    found = judged(tmp_path, UNKNOWN, model)
    assert not [item for one in found.causes for item in one.evidence if item.kind == "classifier"]


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    """With the way out."""
    with pytest.raises(InputError, match="--no-model"):
        judged(tmp_path, UNKNOWN, tmp_path / "none.safetensors")


def test_the_environment_names_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For who cannot pass an option."""
    model = written(tmp_path, {"walrus": "io.storage"})
    monkeypatch.setenv("POSTMORTEM_MODEL", str(model))
    log = tmp_path / "run.log"
    log.write_text(UNKNOWN)
    assert postmortem.analyze(str(log)).analysis.classifier is not None
    monkeypatch.setenv("POSTMORTEM_MODEL", "none")
    assert postmortem.analyze(str(log)).analysis.classifier is None
