"""Signatures are taken away as if they had never been written; what is left tells how sure to be."""

import pytest

pytest.importorskip("sklearn")
pytest.importorskip("safetensors")
from postmortem.diagnosis.classifier.models import UNFITTED
from postmortem.learn.fitting import (
    BLIND,
    HALVES,
    NARROW,
    EvidenceCase,
    collect_answers,
    fit_evidence_model,
    iter_ablated_cases,
)
from postmortem.learn.labelled_logs import list_labelled_cases
from postmortem.learn.samples import SampledLog, read_samples
from postmortem.pipeline import get_matcher

KNOWLEDGE = get_matcher(()).knowledge
OOM = """Traceback (most recent call last):
  File "train.py", line 3, in <module>
    loss.backward()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.
"""


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> SampledLog:
    """A log whose cause the rules know."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "run.log").write_text(OOM)
    (folder / "run.yaml").write_text("cause: memory.cuda-oom\n")
    (found,) = read_samples(list_labelled_cases([folder]))
    return found


def test_a_case_without_its_signatures_is_one_that_no_rule_knows(sample: SampledLog) -> None:
    """Nothing else of it changes, and the case itself keeps them."""
    assert sample.ranking.verdict.cause == "memory.cuda-oom"
    (blind,) = [one for _, one in iter_ablated_cases(sample, KNOWLEDGE, {BLIND})]
    assert blind.ranking.verdict.cause != "memory.cuda-oom"
    assert not {
        event.finding.signature
        for event in blind.case.events
        if "memory.cuda-oom" in KNOWLEDGE.by_id[event.finding.signature].suggests
    }
    assert blind.filled == sample.filled
    assert sample.case.extract.findings


def test_the_same_halves_each_time(sample: SampledLog) -> None:
    """Chance is that of names."""
    kinds = {NARROW, *HALVES}
    first, second = (
        [(kind, one.ranking) for kind, one in iter_ablated_cases(sample, KNOWLEDGE, kinds)]
        for _ in range(2)
    )
    assert first == second


def test_each_way_of_judging_a_case_is_a_row(sample: SampledLog) -> None:
    """As it is, and as far as another verdict comes of it, without signatures."""
    rows = collect_answers([(sample, {"memory.cuda-oom": 0.9, "io.storage": 0.1})], KNOWLEDGE)
    assert all(row.right for row in rows if row.is_proposal or row.kind == "as it is")
    assert "as it is" in {row.kind for row in rows}


def row(number: int, *, right: bool) -> EvidenceCase:
    """A verdict that is right where its evidence is strong."""
    told = dict.fromkeys(("against", "curve", "left_over", "completed"), 0.0)
    told |= {"strength": 3.0 if right else 0.7, "wording": 1.0}
    return EvidenceCase(f"g{number}", "as it is", False, False, told, right)


def test_what_goes_with_being_right_gets_weight() -> None:
    """Where nothing is wrong, nothing can be fitted."""
    rows = [row(number, right=number % 4 > 0) for number in range(40)]
    assert fit_evidence_model(rows).alone.weights["strength"] > 0.5
    assert fit_evidence_model(rows[1:4]) == UNFITTED
    assert fit_evidence_model(rows) == fit_evidence_model(rows)
