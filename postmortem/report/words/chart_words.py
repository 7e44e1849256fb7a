"""Phrases about curves and their marks, in English and Chinese.

The page's script uses some of them.

In: nothing. Out: phrases by language and key. Not here: looking them up (`report.words`).
"""

from collections.abc import Mapping
from typing import Final

from postmortem.core.message import Message, say, say_count

CHART: Final[Mapping[str, Message]] = {
    "curves": say("Curves"),
    "curve.one": say("{value} at {place}, a single point"),
    "curve.detail": say("{name}, around the failure"),
    "curve.points": say_count("{count} point", "{count} points"),
    "curve.drawn": say("{shown:,} of {count:,} points drawn"),
    "curve.nonfinite": say("{count} not finite"),
    "curve.first-bad": say("first non-finite"),
    "curve.range": say("range {low} to {high}"),
    "curve.log": say("log scale"),
    "curve.more": say_count(
        "{count} more series is in the JSON report", "{count} more series are in the JSON report"
    ),
    "curve.none-finite": say("no finite value"),
    "curve.interleaved": say("several streams mixed"),
    "curve.mark": say("x = NaN or infinite"),
    "chart.log": say("Log axis"),
    "chart.in": say("Zoom in"),
    "chart.out": say("Zoom out"),
    "chart.reset": say("Whole run"),
    "chart.near": say("Around the failure"),
    "chart.hint": say(
        "Arrow keys go from sample to sample, + and − zoom, 0 or Escape shows the whole run, L"
        " switches the logarithmic axis."
    ),
    "chart.live": say("interactive chart"),
    "chart.bar": say("Zoom and axis"),
    "chart.left-out": say("not on a logarithmic axis: {count} values of 0 or below"),
    "chart.scale": say("powers of two"),
    "chart.right": say("right axis, log₂"),
    "chart.line": say("line"),
    "chart.processes": say("{count} processes compared"),
    "chart.thin": say("thin grey: {count:,} more processes"),
    "chart.table": say("Values as a table ({shown:,} of {count:,})"),
    "chart.caption": say("{name}: {shown:,} of {count:,} values"),
    "mark.failure": say("first failure"),
    "mark.crash": say("crash"),
    "mark.bad": say("first non-finite value"),
    "mark.gap": say("NaN or infinite"),
    "mark.overflow": say("step skipped (overflow)"),
    "mark.checkpoint": say("checkpoint saved"),
    "mark.evaluation": say("evaluation"),
    "mark.resumed": say("resumed from a checkpoint"),
    "mark.restarted": say("new attempt"),
    "mark.parting": say("the curves part"),
    "compare.good": say("good"),
    "compare.bad": say("bad"),
    "mark.count": say("{name}, {count:,} times"),
    "mark.some": say("{name}, {count:,} times, at most {shown:,} of them drawn"),
    "at-record": say("record {value}"),
}
