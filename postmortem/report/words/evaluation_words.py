"""Phrases of an evaluation, in English and Chinese.

In: nothing. Out: phrases by language and key. Not here: filling them in (`page.metrics_page`,
`terminal.metrics_tables`).
"""

from typing import Final

from postmortem.core.message import say, say_in
from postmortem.report.words.phrase_table import PhraseTable

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
