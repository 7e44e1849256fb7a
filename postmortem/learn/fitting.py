"""Fit the weights of a model of text, calibrate its shares, and fit the evidence model.

In: sampled cases. Out: the content of a model's file; `Calibration`, and each case with a model
that has not seen its group; `EvidenceModel`: how often a verdict with given evidence figures is
right. Not here: reading the file (`classifier.models`), the figures (`inference.certainty`).

A linear support vector machine, one cause against the rest; of weights and rarities bytes are kept.
Only hashes of words are in it. The same cases give the same bytes.

Rules are right for nearly all logs that they were written from, so these do not show how often a
verdict on a new log is right. A log without some of its signatures stands for one with a wording
that no rule knows. Cases as they are and cases that half of the signatures were taken from count as
much: on the former rules are right more often than on new logs, on the latter less often.

Of exceptions that are known from the sources of libraries, not from a run that died of them, only
what the text says where the rules abstain is learnt: how often rules are right is another question.
"""

import copy
import dataclasses
import json
import math
import warnings
import zlib
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import scipy.sparse
from safetensors.numpy import save
from scipy.optimize import minimize_scalar
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from postmortem.diagnosis.case.build import build_case
from postmortem.diagnosis.classifier.models import (
    META,
    TEXT_FORMAT,
    UNFITTED,
    Calibration,
    EvidenceModel,
    LogOddsSum,
    TextModel,
    encode_rarity,
    parse_text_model,
)
from postmortem.diagnosis.classifier.text_features import BITS, VERSION
from postmortem.diagnosis.inference.certainty import (
    compute_features,
    compute_proposal_features,
    is_absence,
    log_odds,
)
from postmortem.diagnosis.inference.verdict import rank
from postmortem.extraction.extract import Extract
from postmortem.learn.samples import SampledLog
from postmortem.rules.base import KnowledgeBase, Signature
from postmortem.rules.vocabulary import Trait, has_trait

UNCALIBRATED: Final = Calibration(10.0, (0.0, 1.0))
_SOFTNESS: Final = 1.0


class Weights(NamedTuple):
    """What is fitted: bytes, and what makes figures of them."""

    causes: list[str]
    stored: Any
    scale: list[float]
    bias: list[float]
    rarity: Any
    own: Sequence[str] = ()
    """Causes that a user has taught."""

    def pack(self, calibration: Calibration) -> bytes:
        """Write them as safetensors; our part of the header is one entry, so its order is fixed."""
        meta = {
            "format": TEXT_FORMAT,
            "features": VERSION,
            "bits": BITS,
            "causes": self.causes,
            "scale": self.scale,
            "bias": self.bias,
            "calibration": calibration._asdict(),
            **({"own": [*self.own]} if self.own else {}),
        }
        tensors = {"weights": self.stored, "rarity": self.rarity}
        return bytes(save(tensors, {META: json.dumps(meta, sort_keys=True)}))


def fit_weights(samples: Sequence[SampledLog], seed: int = 0) -> Weights:
    """Fit weights to cases, a cause counting as the square root of how many it has.

    If each counted as much as any other, what is common would be named far too seldom; if each case
    did, what is rare.
    """
    rarity = _compute_rarity(samples)
    machine = LinearSVC(C=_SOFTNESS, random_state=seed)
    causes_of = [sample.label.cause for sample in samples]
    many = Counter(causes_of)
    each = np.array([many[cause] ** -0.5 for cause in causes_of])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few cases do not converge; what is reached serves
        machine.fit(_build_matrix(samples, rarity), causes_of, sample_weight=each / each.mean())
    weights, bias = machine.coef_, machine.intercept_
    causes = [str(cause) for cause in machine.classes_]
    if len(causes) == 2:  # of two causes one row is kept
        weights, bias = np.vstack([-weights, weights]), np.hstack([-bias, bias])
    scale = np.maximum(np.abs(weights).max(axis=1), 1e-9) / 127
    stored = np.round(weights / scale[:, None]).astype(np.int8)
    return Weights(
        causes,
        np.ascontiguousarray(stored.T),
        [float(f"{value:.7g}") for value in scale],
        [float(f"{value:.7g}") for value in bias],
        rarity,
    )


def _compute_rarity(samples: Sequence[SampledLog]) -> Any:
    """Give each bucket the byte of how rare it is."""
    seen = np.zeros(1 << BITS)
    for sample in samples:
        seen[list(sample.filled)] += 1
    rare = np.log((1 + len(samples)) / (1 + seen)) + 1
    return np.array([encode_rarity(value) for value in rare], dtype=np.uint8)


def _build_matrix(samples: Sequence[SampledLog], rarity: Any) -> Any:
    columns = np.concatenate([list(sample.filled) for sample in samples]).astype(int)
    ends = np.cumsum([0, *(len(sample.filled) for sample in samples)])
    matrix = scipy.sparse.csr_matrix(
        (rarity[columns] / 16.0, columns, ends), shape=(len(samples), 1 << BITS)
    )
    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1))).ravel()
    return scipy.sparse.diags(1 / np.maximum(length, 1e-9)) @ matrix


_LEAST: Final = 1e-6


def iter_out_of_fold(
    train: Sequence[SampledLog], wanted: Sequence[SampledLog], folds: int, seed: int
) -> Iterator[tuple[SampledLog, TextModel]]:
    """Give each case with a model that was fitted without its group."""
    for fold in range(folds):
        held_out = [sample for sample in wanted if sample.fold(folds) == fold]
        rest = [sample for sample in train if sample.fold(folds) != fold]
        if held_out and len({sample.label.cause for sample in rest}) > 1:
            packed = fit_weights(rest, seed).pack(UNCALIBRATED)
            model = parse_text_model(packed, Path("fold"))
            yield from ((sample, model) for sample in held_out)


def fit_calibration(pairs: Sequence[tuple[SampledLog, TextModel]]) -> Calibration:
    """Fit both parts of a calibration, the second on what the first gives."""
    usable = [pair for pair in pairs if pair[0].filled]
    if not usable:
        return UNCALIBRATED  # all logs of a cause are of one origin: nothing can be left out
    sharp = UNCALIBRATED._replace(sharpness=_fit_sharpness(usable))
    tops = [_compute_top_odds(sample, model, sharp) for sample, model in usable]
    return sharp._replace(alone=_fit_line(tops))


def compute_shares(
    sample: SampledLog, model: TextModel, calibration: Calibration
) -> dict[str, float]:
    """Give the share of each cause in what a case sounds like."""
    sharp = model._replace(calibration=calibration)
    return sharp.shares(sample.filled) if sample.filled else {}


def _fit_sharpness(pairs: Sequence[tuple[SampledLog, TextModel]]) -> float:
    """Find the factor under which the shares of right answers are the likeliest."""
    unit = UNCALIBRATED._replace(sharpness=1.0)
    scores = []
    for sample, model in pairs:
        shares = compute_shares(sample, model, unit)
        scores.append(({cause: math.log(share) for cause, share in shares.items()}, sample))

    def surprise(factor: float) -> float:
        return sum(_compute_log_loss(odds, factor, sample.label.right) for odds, sample in scores)

    found = minimize_scalar(surprise, bounds=(0.5, 40.0), method="bounded")
    return round(float(found.x), 4)


def _compute_log_loss(odds: Mapping[str, float], factor: float, right: frozenset[str]) -> float:
    highest = max(odds.values())
    raised = {cause: math.exp(factor * (value - highest)) for cause, value in odds.items()}
    share = sum(raised.get(cause, 0.0) for cause in right) / sum(raised.values())
    return -math.log(max(share, _LEAST))


def _compute_top_odds(
    sample: SampledLog, model: TextModel, calibration: Calibration
) -> tuple[float, bool]:
    shares = compute_shares(sample, model, calibration)
    best = max(shares, key=lambda cause: shares[cause])
    return log_odds(shares[best]), best in sample.label.right


def _fit_line(tops: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    """Fit log-odds to log-odds: shift and slope; unfitted without any miss."""
    hits = [hit for _, hit in tops]
    if len({*hits}) < 2:
        return 0.0, 1.0
    found: Any = LogisticRegression(C=1.0).fit([[odds] for odds, _ in tops], hits)
    return round(float(found.intercept_[0]), 4), round(float(found.coef_[0][0]), 4)


HALVES: Final = ("half 0", "half 1")
"""By chance each of the signatures of failures, but for those of words."""
NARROW: Final = "narrow"
"""All signatures that suggest a right cause, but for those of words."""
BLIND: Final = "blind"
"""All signatures that suggest a right cause."""


def iter_ablated_cases(
    sample: SampledLog, knowledge: KnowledgeBase, wanted: Container[str]
) -> Iterator[tuple[str, SampledLog]]:
    """Give a case as it is judged without signatures; kinds that take none away are left out."""
    gathered = sample.case.extract
    shown = {place[0]: knowledge.by_id[place[0]] for place in gathered.findings}
    for kind, names in _select_ablated_rules(sample, shown).items():
        if names and kind in wanted:
            left = [rule for rule in knowledge.signatures if rule.id not in names]
            case = build_case(
                _drop_findings(gathered, names),
                dataclasses.replace(knowledge, signatures=tuple(left)),
            )
            yield kind, sample._replace(case=case, ranking=rank(case, knowledge))


def _select_ablated_rules(
    sample: SampledLog, shown: Mapping[str, Signature]
) -> dict[str, set[str]]:
    label = sample.label
    blind = {name for name, rule in shown.items() if not label.right.isdisjoint(rule.suggests)}
    failures = {
        name
        for name, rule in shown.items()
        if not rule.broad and rule.role in {"cause", "consequence"}
    }
    by_chance = {
        kind: {name for name in failures if _is_drawn(f"{number}:{name}:{label.log.name}")}
        for number, kind in enumerate(HALVES)
    }
    narrow = {name for name in blind if not shown[name].broad}
    return {**by_chance, NARROW: narrow, BLIND: blind}


def _is_drawn(name: str) -> bool:
    return zlib.crc32(name.encode()) % 2 == 1


def _drop_findings(gathered: Extract, names: Container[str]) -> Extract:
    left = copy.copy(gathered)
    left.findings = {
        place: kept for place, kept in gathered.findings.items() if place[0] not in names
    }
    return left


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
_EVIDENCE_SOFTNESS: Final = 1.0


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
    found = LogisticRegression(C=_EVIDENCE_SOFTNESS, max_iter=1000)
    found.fit((table - middle) / spread, hits, sample_weight=each)
    slopes = found.coef_[0] / spread
    start = float(found.intercept_[0] - (slopes * middle).sum())
    weights = {name: round(float(slope), 3) for name, slope in zip(names, slopes, strict=True)}
    return LogOddsSum(round(start, 3), weights)
