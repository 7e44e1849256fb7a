"""All samples once more, with the models that come with the package heard."""

from pathlib import Path

import pytest

from postmortem.case.build import case_of
from postmortem.classify.opinion import opinion_of
from postmortem.gathering.job import read
from postmortem.inference.circumstances import holding
from postmortem.inference.second_opinion import heard
from postmortem.inference.verdict import Ranking, rank
from postmortem.learn.labelled import labelled_in
from postmortem.names import SHIPPED
from postmortem.pipeline import machine_for, model_for

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"
MOST_LOST = 3
"""Of some six hundred, samples that rules alone get right and rules and models do not."""


def is_right(ranking: Ranking, right: frozenset[str]) -> bool:
    """As figures count it: where nothing can be known, to abstain is right too."""
    is_open = any(cause.startswith("unknown.") for cause in right)
    return ranking.causes[0].id in right or (ranking.verdict.cause is None and is_open)


def test_nothing_that_is_right_becomes_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for a few; what the log proves is never moved, and nothing is surer than may be."""
    monkeypatch.delenv("POSTMORTEM_MODEL", raising=False)
    machine, model = machine_for(()), model_for(SHIPPED)
    assert model is not None
    lost = []
    for label in labelled_in([SAMPLES]):
        env = [label.environment] if label.environment is not None else []
        case = case_of(read([label.log], machine, env_files=env), machine.knowledge)
        alone = rank(case, machine.knowledge)
        opinion = opinion_of(case, model, holding(case, machine.knowledge))
        both = heard(case, machine.knowledge, alone, lambda opinion=opinion: opinion)  # type: ignore[misc]
        if alone.verdict.status == "established":
            assert both == alone
        if is_right(alone, label.right) and not is_right(both, label.right):
            lost.append(label.log.name)
        assert all(one.probability <= both.causes[0].probability for one in both.causes)
    assert len(lost) <= MOST_LOST, lost
