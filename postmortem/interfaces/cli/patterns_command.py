"""`postmortem patterns check|list|schema`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from postmortem.core import resources
from postmortem.core.errors import PatternError, PostmortemError, UsageError
from postmortem.core.visible import escape_control_characters
from postmortem.diagnosis.fixes import exception_proof
from postmortem.diagnosis.inference import example_cases
from postmortem.extraction import frequency, proof
from postmortem.interfaces.cli.drafting import read_cluster_lines, select_draft_line
from postmortem.interfaces.cli.messages import print_message, show
from postmortem.interfaces.cli.options import LANGUAGE, OUTPUT, PATTERNS, SOURCE
from postmortem.rules import check as checking
from postmortem.rules import idioms
from postmortem.rules.base import load
from postmortem.rules.compile import KINDS, compile_folders
from postmortem.rules.conditions import Conditions
from postmortem.rules.metric_proof import find_metric_errors
from postmortem.rules.schema import build_json_schema
from postmortem.rules.skeleton import write_skeleton, write_skeleton_for_lines


@click.group("patterns")
def command() -> None:
    """Check or list the rules, or write their shape for an editor."""


@command.command(
    "check",
    help=(
        "Check every file of FOLDERS (default: the built-in rules), prove every rule on its own"
        " examples, time its patterns, look for its anchors in healthy logs."
    ),
)
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--attack/--no-attack",
    "attacks",
    default=True,
    help="Time every pattern on texts made to be slow (half a minute for the built-in rules).",
)
def check(folders: tuple[Path, ...], *, attacks: bool) -> int:
    """Check the rules of folders, and prove them."""
    built_in = resources.find_folder("patterns")
    checked = list(folders) or [built_in]
    faults = checking.find_faults(checked, known=[built_in] if folders else [])
    if not faults:
        compiled = compile_folders(checked)
        faults = list(_iter_rule_errors(compiled, attacks=attacks))
        whole = compile_folders([built_in, *folders]) if folders else compiled
        faults += find_metric_errors(compiled["metrics"], whole["metrics"], attacks=attacks)
        faults += [*proof.find_stack_errors(whole), *idioms.find_idiom_faults(whole)]
    for fault in faults:
        show(
            escape_control_characters(
                f"error: {fault.what}\n  --> {fault.where}\n  mend: {fault.mend}"
            )
            + "\n"
        )
    if faults:
        raise PatternError(
            f"{len(faults)} faults", ", ".join(map(str, checked)), "mend them and check again"
        )
    count = sum(len(compiled[kind]) for kind in KINDS)
    show(
        f"{count} rules, all well formed and proved on their"
        f" examples{', none slow' if attacks else ''}\n"
    )
    return 0


def _iter_rule_errors(compiled: dict[str, Any], *, attacks: bool) -> Iterator[PatternError]:
    """Yield what is wrong with well formed rules: on examples, under attack, in healthy logs."""
    matching = [*compiled["signatures"], *compiled["formats"]]
    yield from proof.find_example_errors(matching)
    yield from exception_proof.faults(compiled["exceptions"])
    yield from example_cases.find_condition_errors(compiled["conditions"])
    yield from example_cases.find_advisory_errors(
        compiled["advisories"], _load_conditions(compiled)
    )
    if attacks:
        for rule in (
            *matching,
            *compiled["exceptions"],
            *compiled["conditions"],
            *compiled["advisories"],
        ):
            yield from checking.find_slow_patterns(rule)
    try:
        samples = resources.find_folder("sample_logs")
    except PostmortemError:
        print_message(
            "healthy sample logs lie in a checkout only: whether an anchor stands in ordinary lines"
            " was not looked at"
        )
        return
    yield from frequency.find_frequency_errors(matching, frequency.list_healthy_logs(samples))


def _load_conditions(compiled: dict[str, Any]) -> Conditions:
    """Give the conditions that rules may name, the built-in ones among them."""
    entries = compiled["conditions"]
    if compiled["advisories"] and not any(
        entry["id"] == "torch-is-cuda-build" for entry in entries
    ):
        entries = [*compile_folders([resources.find_folder("patterns")])["conditions"], *entries]
    return Conditions(entries, load().anomalies)


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
