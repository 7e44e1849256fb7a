"""Fit the evidence model: how often a verdict with given evidence figures is right.

In: cases, each with a model of text that has not seen its group. Out: `EvidenceModel`. Not here:
the figures (`inference.belief`), cases without some of their signatures (`learn.rule_ablation`).

Of exceptions that are known from the sources of libraries, not from a run that died of them, only
what the text says where the rules abstain is learnt: how often rules are right is another question.

Cases as they are and cases that half of the signatures were taken from count as much. On the former
rules are right more often than on new logs, on the latter less often.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from postmortem.diagnosis.classifier.evidence_model import UNFITTED, EvidenceModel, LogOddsSum
from postmortem.diagnosis.inference.belief import (
    compute_features,
    compute_proposal_features,
    is_absence,
)
from postmortem.learn.rule_ablation import BLIND, HALVES, NARROW, iter_ablated_cases
from postmortem.learn.samples import SampledLog
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.traits import Trait, has_trait

_ALONE: Final = ("strength", "against", "curve", "left_over", "completed")
_TOGETHER: Final = (*_ALONE, "wording")
_PROPOSED: Final = ("share", "candidate")
_AS_IT_IS: Final = "as it is"
_TIMES: Final = {_AS_IT_IS: 2.0, NARROW: 1.0, BLIND: 1.0, HALVES[0]: 0.5, HALVES[1]: 0.5}
"""How much an abstention counts, by how it came about."""
_SCRIPTED: Final = 0.15
"""The same of logs of the project's own scripts, many of which are alike, and of no logs at all."""
_LIBRARY: Final = "library"
"""Where exceptions are from that were taken from sources."""
_SOFTNESS: Final = 1.0


class EvidenceCase(NamedTuple):
    """A verdict on one case: its figures and whether it is right."""

    group: str
    kind: str
    is_scripted: bool
    is_proposal: bool
    figures: dict[str, float]
    right: bool


def collect_answers(
    pairs: Iterable[tuple[SampledLog, Any]], knowledge: KnowledgeBase
) -> list[EvidenceCase]:
    """Judge each case as it is and without signatures; a pair is a case and the text's shares."""
    return [
        row
        for sample, shares in pairs
        if sample.label.is_decidable
        for kind, variant in _iter_variants(sample, knowledge)
        for row in _iter_answers(kind, variant, shares)
    ]


def _iter_variants(
    sample: SampledLog, knowledge: KnowledgeBase
) -> Iterator[tuple[str, SampledLog]]:
    yield _AS_IT_IS, sample
    yield from iter_ablated_cases(sample, knowledge, {*HALVES, NARROW, BLIND})


def _iter_answers(
    kind: str, sample: SampledLog, shares: dict[str, float]
) -> Iterator[EvidenceCase]:
    label, ranking = sample.label, sample.ranking
    place = (label.group, kind, label.origin in {"samples", _LIBRARY})
    is_open = any(has_trait(cause, Trait.UNEXPLAINED) for cause in label.right)
    is_included = label.origin != _LIBRARY and kind in {_AS_IT_IS, *HALVES}
    if is_included and ranking.verdict.status in {"supported", "hypothesis"}:
        features = compute_features(ranking.causes[0], shares)
        yield EvidenceCase(*place, False, features, ranking.verdict.cause in label.right)
    if ranking.verdict.cause is None and shares and not is_open:
        best = max(shares, key=lambda cause: shares[cause])
        if not is_absence(best):
            is_candidate = best in {cause.id for cause in ranking.causes}
            features = compute_proposal_features(best, shares[best], is_candidate=is_candidate)
            yield EvidenceCase(*place, True, features, best in label.right)


def fit_evidence_model(rows: Sequence[EvidenceCase]) -> EvidenceModel:
    """Fit all questions; one for which there is no right or no wrong answer stays as it was."""
    verdicts = [row for row in rows if not row.is_proposal]
    plain = sum(row.kind == _AS_IT_IS for row in verdicts)
    times = [plain / max(1, len(verdicts) - plain), 1.0]
    each = [times[row.kind == _AS_IT_IS] for row in verdicts]
    open_ = [row for row in rows if row.is_proposal]
    also = [_TIMES[row.kind] * (_SCRIPTED if row.is_scripted else 1.0) for row in open_]
    return EvidenceModel(
        _fit_question(verdicts, _ALONE, each) or UNFITTED.alone,
        _fit_question(verdicts, _TOGETHER, each) or UNFITTED.together,
        _fit_question(open_, _PROPOSED, also) or UNFITTED.proposed,
    )


def _fit_question(
    rows: Sequence[EvidenceCase], names: Sequence[str], each: Sequence[float]
) -> LogOddsSum | None:
    hits = [row.right for row in rows]
    if len({*hits}) < 2:
        return None
    table = np.array([[row.figures[name] for name in names] for row in rows])
    middle, spread = table.mean(axis=0), table.std(axis=0) + 1e-9
    found = LogisticRegression(C=_SOFTNESS, max_iter=1000)
    found.fit((table - middle) / spread, hits, sample_weight=each)
    slopes = found.coef_[0] / spread
    start = float(found.intercept_[0] - (slopes * middle).sum())
    weights = {name: round(float(slope), 3) for name, slope in zip(names, slopes, strict=True)}
    return LogOddsSum(round(start, 3), weights)
