"""Metrics of a way of judging.

In: `JudgedCase` rows of one way. Out: plain values, ready for JSON. Not here: judging
(`learn.evaluating`), showing them (`page.metrics_page`, `cli`).

A hit on another right answer counts as one on the label. Intervals are bootstrapped over cases.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from postmortem.core.names import EVALUATION_SCHEMA
from postmortem.learn.evaluating import JudgedCase
from postmortem.rules.vocabulary import Trait, has_trait

_DRAWS: Final = 500
_FEWEST: Final = 3
"""Cases of a cause from which on it counts in the mean over causes."""
_BINS: Final = 10
_SURE: Final = 0.8
_PRECISE: Final = 0.95
_OF_PROBABILITIES: Final = ("confident_wrong", "ece", "brier", "coverage_at_precision_0.95")
Rows = Sequence[JudgedCase]


def build_evaluation(
    rows: Rows, tool: Mapping[str, str | None], *, is_unseen: bool = False
) -> dict[str, Any]:
    """Give all figures of all ways, as `postmortem.evaluation/1`; of held-out cases sums alone.

    Args:
        rows: of all ways; those of one case stand together.
        tool: what judged them.
        is_unseen: no case was judged by a model that has seen its group.
    """
    ways = dict.fromkeys(row.way for row in rows)
    return {
        "schema": EVALUATION_SCHEMA,
        "tool": {"name": "postmortem", **tool},
        "judged": "rules" if "text" not in ways else "unseen" if is_unseen else "as-it-is",
        "ways": {way: _summarise_way(rows, way) for way in ways},
    }


def _summarise_way(rows: Rows, way: str) -> dict[str, Any]:
    own = [row for row in rows if row.way == way]
    seen = [row for row in own if not row.is_held_out]
    sources = sorted({row.source for row in own})
    return {
        **compute_metrics(own),
        "held_out": compute_metrics([row for row in own if row.is_held_out]),
        "by_source": {
            source: compute_metrics([row for row in own if row.source == source])
            for source in sources
        },
        "by_cause": compute_metrics_by_cause(seen),
        "confusions": list_confusions(seen),
        "reliability": compute_reliability(own),
        "precision_over_coverage": compute_precision_coverage_curve(own),
        "where_rules_abstain": compute_abstention_metrics(rows, way),
    }


def compute_metrics(rows: Rows) -> dict[str, Any]:
    """Give the figures of a way of judging; what cannot be said of these cases is None."""
    answered = [row for row in rows if row.verdict is not None]
    values = {
        "cases": len(rows),
        "top1": _compute_top1(rows),
        "top1_interval": estimate_interval(rows, _compute_top1),
        "top3": compute_mean(row.is_hit or bool(row.right & {*row.three}) for row in rows),
        "macro_f1": None,
        "macro_f1_interval": None,
        "coverage": compute_mean(row.verdict is not None for row in rows),
        "verdict_precision": _compute_precision(answered),
    }
    if _is_enough(rows):
        values |= {
            "macro_f1": compute_macro_f1(rows),
            "macro_f1_interval": estimate_interval(rows, compute_macro_f1),
        }
    return values | _compute_probability_metrics(rows)


def _is_enough(rows: Rows) -> bool:
    """Say whether any cause has cases enough for a mean over causes."""
    return max(Counter(row.cause for row in rows).values(), default=0) >= _FEWEST


def _compute_precision(answered: Rows) -> float | None:
    return compute_mean(row.verdict in row.right for row in answered) if answered else None


def _compute_probability_metrics(rows: Rows) -> dict[str, float | None]:
    rated = [(row, row.probability) for row in rows if row.probability is not None]
    if rows and not rated:
        return dict.fromkeys(_OF_PROBABILITIES)
    wrong = [p for row, p in rated if row.verdict is not None and row.verdict not in row.right]
    values = (
        sum(probability >= _SURE for probability in wrong) / max(1, len(rows)),
        compute_calibration_error(rows),
        compute_mean((probability - row.is_hit) ** 2 for row, probability in rated),
        find_coverage_at(rows, _PRECISE),
    )
    return dict(zip(_OF_PROBABILITIES, values, strict=True))


def _compute_top1(rows: Rows) -> float:
    return compute_mean(row.is_hit for row in rows)


def compute_mean(values: Any) -> float:
    """Give the mean; 0 of none."""
    listed = [float(value) for value in values]
    return sum(listed) / len(listed) if listed else 0.0


def compute_macro_f1(rows: Rows) -> float:
    """Give the mean F1 over causes with three cases or more."""
    return compute_mean(
        entry["f1"]
        for entry in compute_metrics_by_cause(rows).values()
        if entry["cases"] >= _FEWEST
    )


def compute_metrics_by_cause(rows: Rows) -> dict[str, dict[str, Any]]:
    """Give cases, hits, calls and F1 of each cause."""
    cases = Counter(row.cause for row in rows)
    hits = Counter(row.cause for row in rows if row.is_hit)
    false = Counter(row.first for row in rows if not row.is_hit)
    return {
        cause: {
            "cases": count,
            "hits": hits[cause],
            "wrongly_called": false[cause],
            "f1": 2 * hits[cause] / (count + hits[cause] + false[cause]),
        }
        for cause, count in sorted(cases.items())
    }


def list_confusions(rows: Rows) -> list[dict[str, Any]]:
    """List what was taken for what, the most frequent first."""
    found = Counter((row.cause, row.first) for row in rows if not row.is_hit)
    return [
        {"cause": cause, "taken_for": first, "cases": count}
        for (cause, first), count in sorted(found.items(), key=lambda item: (-item[1], item[0]))
    ]


def compute_abstention_metrics(rows: Rows, way: str) -> dict[str, Any]:
    """Say what another way makes of the cases whose cause the rules do not name, but should.

    `rows` are of all ways; those of one case stand together.
    """
    cases = [
        {row.way: row for row in rows[start : start + _count_ways(rows)]}
        for start in range(0, len(rows), _count_ways(rows))
    ]
    open_ = [
        case[way]
        for case in cases
        if case["rules"].verdict is None
        and not any(has_trait(c, Trait.UNEXPLAINED) for c in case["rules"].right)
    ]
    answered = [row for row in open_ if row.verdict is not None]
    return {
        "cases": len(open_),
        "right": compute_mean(row.verdict in row.right for row in open_) if open_ else None,
        "precision": _compute_precision(answered),
    }


def _count_ways(rows: Rows) -> int:
    return len({row.way for row in rows})


def estimate_interval(
    rows: Rows, figure: Callable[[Rows], float], seed: int = 0
) -> tuple[float, float]:
    """Give the middle 95 % of a figure over cases drawn anew."""
    random_ = random.Random(seed)  # noqa: S311 -- no secret
    drawn = sorted(figure(random_.choices(rows, k=len(rows))) for _ in range(_DRAWS if rows else 1))
    return drawn[int(0.025 * len(drawn))], drawn[int(0.975 * (len(drawn) - 1))]


def compute_reliability(rows: Rows) -> list[dict[str, Any]]:
    """Give what probabilities promise and what comes of it: a row for each tenth that has cases."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for row in rows:
        if row.probability is not None:
            place = min(_BINS - 1, int(row.probability * _BINS))
            bins.setdefault(place, []).append((row.probability, row.is_hit))
    return [
        {
            "from": place / _BINS,
            "to": (place + 1) / _BINS,
            "cases": len(inside),
            "probability": compute_mean(probability for probability, _ in inside),
            "right": compute_mean(is_hit for _, is_hit in inside),
        }
        for place, inside in sorted(bins.items())
    ]


def compute_calibration_error(rows: Rows) -> float:
    """Give the mean distance of probability and share of hits, over ten bins."""
    bins = compute_reliability(rows)
    gaps = [bin_["cases"] * abs(bin_["right"] - bin_["probability"]) for bin_ in bins]
    cases: int = sum(bin_["cases"] for bin_ in bins)
    return float(sum(gaps)) / max(1, cases)


def compute_precision_coverage_curve(rows: Rows) -> list[tuple[float, float, float]]:
    """Give probability, coverage and precision at each threshold, the highest first."""
    answered = sorted(
        (
            (row.probability, row.verdict in row.right)
            for row in rows
            if row.verdict is not None and row.probability is not None
        ),
        key=lambda item: -item[0],
    )
    right, points = 0, []
    for number, (probability, is_right) in enumerate(answered, 1):
        right += is_right
        if number == len(answered) or answered[number][0] < probability:
            points.append((probability, number / len(rows), right / number))
    return points


def find_coverage_at(rows: Rows, precision: float) -> float:
    """Give the largest share of cases of which so many verdicts are right."""
    reached = [
        covered
        for _, covered, right in compute_precision_coverage_curve(rows)
        if right >= precision
    ]
    return max(reached, default=0.0)
