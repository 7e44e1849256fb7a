"""`postmortem patterns check|list|schema|draft`.

In: options; for a draft a log and the number of a line or none, or a file of failures and the id of
a group or none. Out: the rules listed or checked, a drafted rule. Not here: the rule that is
drafted (`rules.signature_draft`).
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click

from postmortem.core import resources
from postmortem.core.errors import InputError, PatternError, PostmortemError, UsageError
from postmortem.core.log_text import escape_control_characters
from postmortem.diagnosis.case.build import build_case
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.fixes import exception_proof
from postmortem.diagnosis.inference import example_cases
from postmortem.extraction import proof
from postmortem.extraction.job import read
from postmortem.extraction.proof import find_metric_errors
from postmortem.interfaces.cli.messages import print_message, show
from postmortem.interfaces.cli.options import LANGUAGE, OUTPUT, PATTERNS, SOURCE
from postmortem.pipeline import get_matcher
from postmortem.reading.excerpt import read_lines_again
from postmortem.reading.prefixes import clean
from postmortem.rules import check as checking
from postmortem.rules.base import load
from postmortem.rules.cause_rules import Conditions
from postmortem.rules.check import RuleSelection, select_rules
from postmortem.rules.compile import KINDS, compile_folders
from postmortem.rules.schema import build_json_schema
from postmortem.rules.signature_draft import write_skeleton, write_skeleton_for_lines
from postmortem.rules.vocabulary import build_anomaly_types

_MOST_LINES: Final = 20_000
_LONGEST: Final = 400
_LONGEST_ROW: Final = 1 << 20


def select_draft_line(log: str, number: int | None, patterns: tuple[Path, ...]) -> str:
    """Give the line that is asked for, else what failed first, else the last line of the log.

    Raises:
        UsageError: there is no such line, or nothing in the log.
        InputError: the log cannot be read.
    """
    machine = get_matcher(patterns)
    case = build_case(read(log, machine), machine.knowledge)
    text = _read_line(case, number) if number else _find_failing_line(case) or _find_last_line(case)
    if not text.strip():
        what = f"there is no text in line {number}" if number else "there is no text in the log"
        raise UsageError(what, log, "name a line with --line, counted as sed -n does")
    return clean(text).text


def read_cluster_lines(path: Path, group: str | None = None) -> list[str]:
    """Give the failing lines of a group: a text of one a line, or the `results.jsonl` of a triage.

    Args:
        path: the file.
        group: which group of a triage; needed where the file holds several.

    Raises:
        InputError: the file cannot be read.
        UsageError: it holds no failing line, none of the group, or those of several groups.
    """
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            rows = list(_iter_cluster_rows(iter(lambda: stream.readline(_LONGEST_ROW), ""), group))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path, "check the path") from error
    groups = sorted({name for name, _ in rows})
    if len(groups) > 1:
        listed = ", ".join(groups[:8])
        raise UsageError(f"it holds {len(groups)} groups", path, f"name one with --group: {listed}")
    if not rows:
        what = f"it holds no failing line of {group}" if group else "it holds no failing line"
        raise UsageError(what, path, "name the results.jsonl of a triage, or a text of lines")
    return [clean(text[:_LONGEST]).text for _, text in rows]


def _iter_cluster_rows(lines: Iterator[str], group: str | None) -> Iterator[tuple[str, str]]:
    """Yield group and failing line of each row; a row that is no JSON is a line itself."""
    count = 0
    for line in lines:
        name, text = _parse_cluster_row(line.strip())
        if text and (group is None or name == group):
            yield name, text
            count += 1
        if count >= _MOST_LINES:
            return


def _parse_cluster_row(line: str) -> tuple[str, str]:
    if not line.startswith("{"):
        return "", line
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return "", line
    text = row.get("failing_line") or ""
    return str(row.get("group") or ""), text if isinstance(text, str) else ""


def _find_failing_line(case: Case) -> str:
    if case.first is None:
        return ""
    traceback = case.first.traceback
    return _read_line(
        case, case.first.line if traceback is None else traceback.exception_line, case.first.source
    )


def _read_line(case: Case, number: int, source: int = 0) -> str:
    found = read_lines_again(case.extract.origins[source], [(number, number)])
    return found[number].text if number in found else ""


def _find_last_line(case: Case) -> str:
    text = next((text for _, text in case.extract.tails.values()), "")
    return next((line for line in reversed(text.split("\n")) if line.strip()), "")


@click.group("patterns")
def command() -> None:
    """Check or list the rules, or write their shape for an editor."""


@command.command(
    "check",
    help=(
        "Check the rules of PATHS (default: the built-in ones): their form, and each on its own"
        " examples; time their patterns on slow texts; look for their anchors in healthy logs."
        " A path is a folder of rules, or a file or folder within one, of which only these rules"
        " are checked, in seconds, against all others of the folder."
    ),
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--attack/--no-attack",
    "attacks",
    default=True,
    help="Time each pattern on texts made to be slow: most of the time of a check (all built-in"
    " rules: minutes with, seconds without).",
)
def check(paths: tuple[Path, ...], *, attacks: bool) -> int:
    """Check rules, and prove them."""
    built_in = resources.find_folder("patterns")
    selection = select_rules(paths or [built_in])
    is_own = built_in.resolve() not in [folder.resolve() for folder in selection.folders]
    known = [built_in] if is_own else []
    faults = checking.find_faults(selection.folders, known, selection.files)
    count = 0
    if not faults:
        compiled = compile_folders(selection.folders)
        whole = compile_folders([*known, *selection.folders]) if is_own else compiled
        chosen = {kind: _filter_selected(compiled[kind], selection) for kind in KINDS}
        faults = list(_iter_rule_errors(chosen, compiled, whole, attacks=attacks))
        if "metrics.yaml" in selection.files:
            faults += find_metric_errors(compiled["metrics"], whole["metrics"], attacks=attacks)
        faults += [
            *proof.find_stack_errors({**whole, "stacks": chosen["stacks"]}),
            *proof.find_foreign_words(whole, selection.files),
        ]
        count = sum(map(len, chosen.values()))
    for fault in faults:
        show(
            escape_control_characters(
                f"error: {fault.what}\n  --> {fault.where}\n  mend: {fault.mend}"
            )
            + "\n"
        )
    if faults:
        raise PatternError(
            f"{len(faults)} faults",
            ", ".join(map(str, paths or [built_in])),
            "mend them and check again",
        )
    show(
        f"{count} rules, all well formed and proved on their"
        f" examples{', none slow' if attacks else ''}\n"
    )
    return 0


def _filter_selected(
    rules: Iterable[dict[str, Any]], selection: RuleSelection
) -> list[dict[str, Any]]:
    return [entry for entry in rules if entry["file"] in selection.files]


def _iter_rule_errors(
    chosen: Mapping[str, list[dict[str, Any]]],
    compiled: Mapping[str, Any],
    whole: Mapping[str, Any],
    *,
    attacks: bool,
) -> Iterator[PatternError]:
    """Yield what is wrong with well formed rules: on examples, under attack, in healthy logs.

    Args:
        chosen: the rules that are checked, by kind.
        compiled: all rules of their folders; of two exception rules the first takes an example.
        whole: these and the built-in ones.
        attacks: whether to time the patterns.
    """
    matching = [*chosen["signatures"], *chosen["formats"]]
    yield from proof.find_example_errors(matching)
    if chosen["exceptions"]:
        yield from exception_proof.faults(compiled["exceptions"])
    yield from example_cases.find_condition_errors(chosen["conditions"])
    yield from example_cases.find_anomaly_errors(chosen["anomalies"])
    yield from example_cases.find_advisory_errors(
        chosen["advisories"],
        Conditions(whole["conditions"], build_anomaly_types(whole["anomalies"])),
    )
    if attacks:
        for kind in ("signatures", "formats", "exceptions", "conditions", "advisories"):
            for rule in chosen[kind]:
                yield from checking.find_slow_patterns(rule)
    if not matching:
        return
    try:
        samples = resources.find_folder("sample_logs")
    except PostmortemError:
        print_message(
            "healthy sample logs lie in a checkout only: whether an anchor stands in ordinary lines"
            " was not looked at"
        )
        return
    yield from proof.find_frequency_errors(matching, proof.list_healthy_logs(samples))


@command.command("schema")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def write_schema(folder: Path) -> None:
    """Write the JSON Schema of each kind of file into FOLDER, for completion in an editor."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for kind in KINDS:
            text = json.dumps(build_json_schema(kind), indent=1, ensure_ascii=False)
            (folder / f"{kind}.json").write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise PatternError(f"cannot be written: {error}", folder, "name another folder") from error


@command.command("list")
@PATTERNS
@LANGUAGE
def list_(patterns: tuple[Path, ...], language: str) -> None:
    """List all signatures: id, role, the causes they suggest, title."""
    show(
        "".join(
            escape_control_characters(
                f"{rule.id:48} {rule.role:12} {', '.join(rule.suggests) or '-':60}"
                f" {rule.title.text(language)}"
            )
            + "\n"
            for rule in load(patterns).signatures
        )
    )


@command.command("draft")
@click.argument("log", type=SOURCE, required=False)
@click.option("--line", "number", type=click.IntRange(min=1), help="The line, as sed -n counts.")
@click.option(
    "--cluster",
    type=OUTPUT,
    help="In place of LOG: failures that are alike, one a line, or the results.jsonl of a triage.",
)
@click.option("--group", help="Of a triage's results: the id of the group.")
@click.option("--cause", help="The cause that it shows, an id of the taxonomy.")
@PATTERNS
def print_draft(
    log: str | None,
    number: int | None,
    cluster: Path | None,
    group: str | None,
    cause: str | None,
    patterns: tuple[Path, ...],
) -> None:
    """Draft a signature for a line that no rule knows, or for a group of them.

    Without --line for what failed first, or the last line. Fill in what says TODO, put it into
    signatures/<area>/ of a folder of your own, and check that: postmortem patterns check FOLDER.
    """
    if (log is None) == (cluster is None):
        raise UsageError("one thing is drafted from", "", "name a LOG, or --cluster FILE")
    if cause is not None and cause not in load(patterns).titles:
        raise UsageError(f"no cause has the id {cause!r}", "--cause", "see: postmortem explain")
    if cluster is not None:
        show(write_skeleton_for_lines(read_cluster_lines(cluster, group), cause))
    elif log is not None:
        show(write_skeleton(select_draft_line(log, number, patterns), cause))
