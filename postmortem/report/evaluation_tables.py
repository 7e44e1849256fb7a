"""The tables of an evaluation as rows of cells, for the page and for the terminal.

In: the plain values of `postmortem.evaluation/1`, the phrases of a language, which stand here too.
Out: headers and rows. Not here: the figures (`learn.metrics`), layout (`page.metrics_page`,
`terminal.summary_tables`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from postmortem.core.message import say, say_in
from postmortem.report.words import PhraseTable

EVALUATION: Final = PhraseTable(
    {
        "title": say("How good the diagnosis is"),
        "lead": say(
            "{cases} labelled logs. The right cause stands first for {rules:.1%} by the rules"
            " alone, for {best:.1%} by {way}."
        ),
        "lead.one": say("{cases} labelled logs. The right cause stands first for {rules:.1%}."),
        "judged.unseen": say(
            "No case is judged by a classifier that has seen a log of its origin."
        ),
        "judged.as-it-is": say(
            "The classifier is judged as it is: of logs that it was trained on, its figures say"
            " nothing (--train leaves each origin out in turn)."
        ),
        "judged.rules": say("No classifier is heard."),
        "overview": say("Every way of judging"),
        "overview.note": say(
            "all: rules and classifier together, as “postmortem analyze” judges. evidence: the"
            " rules, with the probability that was fitted to their evidence. grep: the last line"
            " that sounds like an error, and a fixed table of words. last error line: the"
            " classifier, given no more than that line. Intervals are 95 %, of cases drawn anew."
        ),
        "sources": say("By source"),
        "sources.note": say(
            "the share of logs whose right cause stands first, with its 95 % interval"
        ),
        "reliability": say("Reliability"),
        "reliability.note": say(
            "of the cases in each tenth of probability, how many are right; on the dashed line"
            " probabilities promise what they hold. A larger dot is of more cases."
        ),
        "coverage-plot": say("Coverage against precision"),
        "coverage-plot.note": say(
            "naming a cause only from a probability on: how many cases get one, and how many of"
            " these verdicts are right. A way without probabilities is a point."
        ),
        "causes": say_in("evaluation", "Causes"),
        "causes.note": say("{way}; the weakest first; cases held out are in no row"),
        "confusions": say("Taken for another"),
        "confusions.note": say("{way}; the most frequent first; cases held out are in no row"),
        "values": say("Values"),
        "figure": say("figure"),
        "source": say("source"),
        "cause": say("cause"),
        "taken_for": say("taken for"),
        "cases": say("cases"),
        "hits": say("hits"),
        "wrongly_called": say("wrongly called"),
        "f1": say("F1"),
        "f1.rules": say("F1, rules"),
        "top1": say("right cause first"),
        "top1_interval": say("its 95 % interval"),
        "top3": say("right cause among three"),
        "macro_f1": say("macro F1 (3 cases or more)"),
        "macro_f1_interval": say("its 95 % interval"),
        "coverage": say("coverage"),
        "verdict_precision": say("precision of verdicts"),
        "confident_wrong": say("wrong with probability ≥ 0.8"),
        "ece": say("expected calibration error"),
        "brier": say("Brier score"),
        "coverage_at_precision_0.95": say("coverage at precision 0.95"),
        "abstain.cases": say("rules abstain: cases"),
        "abstain.right": say("rules abstain: named rightly"),
        "abstain.precision": say("rules abstain: precision"),
        "probability": say("probability"),
        "right": say("share that is right"),
        "x.coverage": say("coverage"),
        "y.precision": say_in("evaluation", "precision"),
        "held-out": say("{way}, held out"),
        "none": say("none"),
        "more": say_in("assistant", "{count} more"),
        "way": say("judged by"),
        "way.rules": say("rules"),
        "way.text": say("text"),
        "way.evidence": say("evidence"),
        "way.all": say("all"),
        "way.grep": say("grep"),
        "way.last error line": say("last error line"),
        "from.samples": say("samples"),
        "from.public": say("public"),
        "from.composed": say("composed"),
        "plot.reliability": say(
            "{way}: share that is right over probability; {points}; calibration error {error:.3f}"
        ),
        "plot.point": say("{x:.2f}: {y:.2f} ({cases})"),
        "plot.coverage": say("precision over coverage of {ways}"),
    }
)


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
