"""The tables of an evaluation as rows of cells, for the page and for the terminal.

In: the plain values of `postmortem.evaluation/1`, the phrases of a language. Out: headers and rows.
Not here: the figures (`learn.metrics`), layout.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

Evaluation: TypeAlias = Mapping[str, Any]
Phrases: TypeAlias = Mapping[str, str]
Rows: TypeAlias = list[Sequence[str]]
FIGURES: Final = (
    "cases",
    "top1",
    "top1_interval",
    "top3",
    "macro_f1",
    "macro_f1_interval",
    "coverage",
    "verdict_precision",
    "confident_wrong",
    "ece",
    "brier",
    "coverage_at_precision_0.95",
)
_PARTED: Final = ("rules", "all")
"""Ways whose figures of held-out cases are told beside."""


def select_default_method(value: Evaluation) -> str:
    """Name the way that `analyze` judges by: rules and classifier, or rules alone."""
    return next(
        (way for way in ("all", "rules") if way in value["ways"]), next(iter(value["ways"]))
    )


def get_method_name(way: str, phrases: Phrases) -> str:
    """Name a way of judging."""
    return phrases.get(f"way.{way}", way)


def format_cell(value: Any) -> str:
    """Write a figure."""
    if value is None:
        return "–"
    if isinstance(value, (tuple, list)):
        return "–".join(map(format_cell, value))
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def build_metric_rows(value: Evaluation, phrases: Phrases) -> tuple[list[str], Rows]:
    """Give the figures of each way, and those of the held-out cases."""
    ways = value["ways"]
    parted = [way for way in _PARTED if way in ways and ways[way]["held_out"]["cases"]]
    columns = [*ways.values(), *(ways[way]["held_out"] for way in parted)]
    head = [phrases["figure"], *(get_method_name(way, phrases) for way in ways)]
    head += [phrases["held-out"].format(way=get_method_name(way, phrases)) for way in parted]
    rows: Rows = [
        [phrases[name], *(format_cell(column[name]) for column in columns)] for name in FIGURES
    ]
    for name in ("cases", "right", "precision"):
        found = [way["where_rules_abstain"][name] for way in ways.values()]
        rows.append([phrases[f"abstain.{name}"], *map(format_cell, found), *("" for _ in parted)])
    return head, rows


def build_source_rows(value: Evaluation, phrases: Phrases) -> tuple[list[str], Rows]:
    """Give for each source how often each way puts the right cause first."""
    ways = value["ways"]
    sources = sorted({source for figures in ways.values() for source in figures["by_source"]})
    head = [phrases["source"], phrases["cases"], *(get_method_name(way, phrases) for way in ways)]
    rows: Rows = []
    for source in sources:
        found = [figures["by_source"].get(source) for figures in ways.values()]
        cases = next(method["cases"] for method in found if method is not None)
        cells = ["" if method is None else _format_with_interval(method) for method in found]
        rows.append([phrases.get(f"from.{source}", source), str(cases), *cells])
    return head, rows


def _format_with_interval(figures: Mapping[str, Any]) -> str:
    low, high = figures["top1_interval"]
    return f"{figures['top1']:.3f} ({low:.2f}–{high:.2f})"


def build_cause_rows(value: Evaluation, phrases: Phrases) -> tuple[list[str], Rows]:
    """Build a row for each cause, lowest score first, with the score of the rules alone."""
    best = select_default_method(value)
    found = value["ways"][best]["by_cause"]
    rules = value["ways"].get("rules", {}).get("by_cause", {}) if best != "rules" else {}
    head = [phrases[name] for name in ("cause", "cases", "hits", "wrongly_called", "f1")]
    rows: Rows = []
    for cause, entry in sorted(found.items(), key=lambda item: (item[1]["f1"], item[0])):
        extra_cells = [format_cell(rules[cause]["f1"]) if cause in rules else ""] if rules else []
        rows.append([cause, *map(format_cell, entry.values()), *extra_cells])
    return [*head, *([phrases["f1.rules"]] if rules else [])], rows


def build_confusion_rows(value: Evaluation, phrases: Phrases) -> tuple[list[str], Rows]:
    """Give what was taken for what, the most frequent first."""
    found = value["ways"][select_default_method(value)]["confusions"]
    head = [phrases[name] for name in ("cause", "taken_for", "cases")]
    return head, [[entry["cause"], entry["taken_for"], str(entry["cases"])] for entry in found]
