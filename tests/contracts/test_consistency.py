"""No report contradicts itself, over all samples and in both languages.

A table of predicates, each on the diagnosis in one language, some on what is rendered of it. Each
gives what it found; nothing means that it holds.
"""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

import pytest
import samples

import postmortem
from postmortem.core.answer import Cause, Fix
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.findings import Setting
from postmortem.extraction.facts.fact_store import parse_step
from postmortem.report import parts
from postmortem.report.words import Words

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("en", "zh")
OTHERS_FIT = re.compile("so might something else|so do others|其他原因也说得通")
NONE_AGAINST = re.compile("nothing speaks against|none against|没有反证")
TO_RESUME = re.compile(r"--resume|resume_from|ckpt_path=|load_checkpoint\(")
CODE_INDENT = "     "
ASKED = {
    "traceback": re.compile("whole traceback|lines of the traceback|完整 traceback|几行 traceback"),
    "environment": re.compile("installed versions|what torch sees|已安装的版本|torch 看到"),
    "loss": re.compile("metric lines|个 NaN 的指标"),
}
Rendered = dict[str, str]


def main(one: Diagnosis) -> Cause | None:
    """The cause that is named."""
    return parts.get_main_cause(one)


def is_sound(one: Diagnosis) -> bool:
    """Whether the verdict is health."""
    return (one.verdict.cause or "").startswith("healthy.")


def fixes(one: Diagnosis, kind: str = "") -> tuple[Fix, ...]:
    """What is advised, of a kind."""
    cause = main(one)
    return tuple(fix for fix in (cause.fixes if cause else ()) if kind in ("", fix.kind))


def near_certain_beside_others(one: Diagnosis, _: Rendered) -> bool:
    """Nine in ten beside "so do others"."""
    said = one.verdict.summary + parts.describe_status(one, Words(one.language))
    return one.verdict.probability >= 0.9 and bool(OTHERS_FIT.search(said))


def others_without_another(one: Diagnosis, _: Rendered) -> bool:
    """That others fit, where nothing else was weighed."""
    said = one.verdict.summary + parts.describe_status(one, Words(one.language))
    return len(one.causes) < 2 and bool(OTHERS_FIT.search(said))


def none_against_beside_some(one: Diagnosis, _: Rendered) -> bool:
    """That nothing speaks against it, above evidence against it."""
    cause, said = main(one), one.verdict.summary + parts.describe_status(one, Words(one.language))
    against = cause is not None and any(item.weight < 0 for item in cause.evidence)
    return against and bool(NONE_AGAINST.search(said))


def a_red_end_of_a_run_that_came_through(one: Diagnosis, forms: Rendered) -> bool:
    """The colour of a failure on a run that did not fail."""
    if one.outcome in {"failed", "stalled", "cancelled"}:
        return False
    return parts.get_outcome_color(one) == "bad" or 'class="badge fill bad"' in forms["html"]


def completed_beside_a_fault(one: Diagnosis, _: Rendered) -> bool:
    """The word of success beside what went wrong."""
    said = parts.format_outcome(one, one.outcome, Words(one.language))
    return said in {"completed", "已完成"} and not is_sound(one) and one.verdict.cause is not None


def health_beside_a_failure(one: Diagnosis, forms: Rendered) -> list[str]:
    """A failure, or its mark, in a run that is told to be sound."""
    if not is_sound(one):
        return []
    found = [] if one.first_failure is None else ["first failure"]
    found += [one.outcome] if one.outcome in {"failed", "stalled"} else []
    found += [mark.kind for mark in one.marks if mark.kind == "crash"]
    found += [event.text for event in one.timeline if event.role == "cause"]
    return found + re.findall(r'class="(?:standing|mark) mark-(?:failure|crash)"', forms["html"])


def a_checkpoint_beyond_the_last_good_step(one: Diagnosis, _: Rendered) -> bool:
    """A good checkpoint of a step that the run is said not to have reached."""
    state = one.progress
    saved = parse_step(state.resume_from or "")
    return None not in (saved, state.last_good_step) and (saved or 0) > (state.last_good_step or 0)


def advice_to_resume_from_what_is_spoilt(one: Diagnosis, _: Rendered) -> list[str]:
    """A snippet that goes on from the checkpoint that must not be resumed from."""
    state = one.progress
    spoilt = state.last_checkpoint
    if state.checkpoint_before_first_bad != "no" or state.resume_from or not spoilt:
        return []
    return [
        fix.id
        for fix in fixes(one)
        if any(TO_RESUME.search(line) and spoilt in line for line in fix.snippet.splitlines())
    ]


def a_fix_that_is_in_force(one: Diagnosis, _: Rendered) -> list[str]:
    """A change to what the shown settings already are: the first name that it sets."""
    return [fix.id for fix in fixes(one, "change") if _is_set(fix.snippet, one.settings)]


def _is_set(code: str, settings: dict[str, Setting]) -> bool:
    first = re.search(
        r"(?<![\w.])(?:--)?([A-Za-z_]\w+)['\"]?(?:\s?[=:]\s?|\s)['\"]?([\w.+-]+)", code
    )
    shown = settings.get(first[1]) if first else None
    return first is not None and shown is not None and str(shown.value).lower() == first[2].lower()


def half_precision_of_what_runs_in_it(one: Diagnosis, _: Rendered) -> list[str]:
    """The change to a precision in which the run computes."""
    known = one.environment.precision
    wanted = {"bf16": "(?:Compute|Train) in b(?:loat|f)", "fp32": "(?:Compute|Train) in float32"}
    return [
        fix.id for fix in fixes(one, "change") if re.match(wanted.get(known or "", "$^"), fix.title)
    ]


def other_shares_above_the_first(one: Diagnosis, _: Rendered) -> bool:
    """A cause that is likelier than the one that is named."""
    return any(cause.probability > one.verdict.probability for cause in one.causes)


def time_that_runs_backwards(one: Diagnosis, _: Rendered) -> list[str]:
    """Events out of the order of full printed times, or of the lines of one file."""
    times = [event.time for event in one.timeline if event.time and event.time[:2] == "20"]
    found = [later for before, later in pairwise(times) if later < before]
    lines: dict[int, int] = {}
    for event in one.timeline:
        if event.line < lines.get(event.source, 0):
            found.append(f"line {event.line}")
        lines[event.source] = event.line
    if (one.progress.seconds_after_failure or 0) < 0:
        found.append("less than no time behind the failure")
    return found


def not_printed_but_known(one: Diagnosis, _: Rendered) -> list[str]:
    """What is said not to be printed, and is shown."""
    known = one.environment
    told = " ".join(one.verdict.not_checked)
    pairs = (
        ("GPU", known.gpus),
        ("precision|精度", known.precision),
        ("versions|版本", known.packages),
    )
    return [name for name, value in pairs if value and re.search(name, told)]


def a_need_of_what_is_there(one: Diagnosis, _: Rendered) -> list[str]:
    """What would decide, though it is in the log or was handed in."""
    first = one.first_failure
    there = {
        "traceback": first is not None and first.frame is not None,
        "environment": any(source.kind == "environment" for source in one.sources),
        "loss": any(series.name == "loss" and series.points > 2 for series in one.series),
    }
    return [
        need.what
        for need in one.verdict.need
        for name, asked in ASKED.items()
        if there[name] and asked.search(need.what)
    ]


def a_cut_command(one: Diagnosis, forms: Rendered) -> list[str]:
    """A line on the screen that begins as one of a snippet does, and is none of them whole."""
    codes = [fix.snippet for fix in fixes(one)] + [need.command for need in one.verdict.need]
    whole = {" ".join(line.split()) for code in codes for line in unfolded(code).splitlines()}
    whole |= {re.split(r" (?:#|//)", line)[0] for line in whole}
    begins = tuple(line[:20] for line in whole if len(line) > 20)
    shown = [
        " ".join(line.split())
        for line in unfolded(forms["terminal"]).splitlines()
        if line.startswith(CODE_INDENT)
    ]
    return [line for line in shown if line.startswith(begins) and line not in whole]


def unfolded(text: str) -> str:
    """A text without the folds of shell commands."""
    return re.sub(r"\s*\\\n\s*", " ", text)


def a_wide_screen(_: Diagnosis, forms: Rendered) -> list[str]:
    """A folded command that is wider than the screen, or more lines than it has."""
    lines = forms["terminal"].splitlines()
    return [line for line in lines if line.endswith(" \\") and len(line) > 80] + lines[24:]


def a_user_exception_without_its_place(one: Diagnosis, forms: Rendered) -> list[str]:
    """The user's own frame, where a traceback has one, missing on the page or the screen."""
    frame = one.first_failure.frame if one.first_failure is not None else None
    if frame is None or one.verdict.cause != "code.user-exception":
        return []
    place = f"{Path(frame.file).name}:{frame.line}"
    return [form for form in ("html", "terminal") if place not in forms[form]]


def rule_ids_in_the_first_list(_: Diagnosis, forms: Rendered) -> bool:
    """Ids of rules or log-odds above what is folded."""
    section = re.search(r'<section id="\w+-evidence">(.*?)<details', forms["html"], re.DOTALL)
    return bool(section and re.search(r"[+-]\d\.\d</div>|<span class=\"mono\">", section[1]))


PREDICATES: tuple[Callable[[Diagnosis, Rendered], object], ...] = (
    near_certain_beside_others,
    others_without_another,
    none_against_beside_some,
    a_red_end_of_a_run_that_came_through,
    completed_beside_a_fault,
    health_beside_a_failure,
    a_checkpoint_beyond_the_last_good_step,
    advice_to_resume_from_what_is_spoilt,
    a_fix_that_is_in_force,
    half_precision_of_what_runs_in_it,
    other_shares_above_the_first,
    time_that_runs_backwards,
    not_printed_but_known,
    a_need_of_what_is_there,
    a_cut_command,
    a_wide_screen,
    a_user_exception_without_its_place,
    rule_ids_in_the_first_list,
)


def contradictions(label: Path) -> list[tuple[str, str, str]]:
    """Every predicate on a sample, in every language: (predicate, sample, what it found)."""
    dump = label.with_suffix(".env")
    report = postmortem.analyze(samples.input_of(label), env=[dump] if dump.exists() else [])
    name, found = str(label.relative_to(ROOT / "sample_logs").with_suffix("")), []
    for language in LANGUAGES:
        said = report.in_language(language)
        forms = {form: said.render(form, redact=False) for form in ("html", "terminal")}
        forms["html"] = forms["html"].partition("</article>")[0]
        for holds in PREDICATES:
            got = holds(said.diagnosis, forms)
            got = list(got) if isinstance(got, Iterator) else got
            if got:
                found.append((holds.__name__, f"{name} {language}", str(got)))
    return found


@pytest.fixture(scope="module")
def found() -> list[tuple[str, str, str]]:
    """All contradictions over the samples."""
    labels = samples.labels_in(ROOT / "sample_logs")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        return [row for rows in pool.map(contradictions, labels, chunksize=8) for row in rows]


@pytest.mark.parametrize("predicate", PREDICATES, ids=lambda one: one.__name__)
def test_no_report_contradicts_itself(
    found: list[tuple[str, str, str]], predicate: Callable[[Diagnosis, Rendered], object]
) -> None:
    """Nothing of the kind stands in any report of a sample."""
    assert [row[1:] for row in found if row[0] == predicate.__name__] == []
