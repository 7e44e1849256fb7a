"""`postmortem patterns check|list`."""

from pathlib import Path

import click

from postmortem import resources
from postmortem.cli.options import FOLDER
from postmortem.cli.say import show
from postmortem.errors import PatternError
from postmortem.knowledge import check as shapes
from postmortem.knowledge.base import load
from postmortem.knowledge.compile import compile_folders
from postmortem.report.plain import safe
from postmortem.signatures import proof


@click.group("patterns")
def command() -> None:
    """Check or list the rules."""


@command.command("check")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path, exists=True, file_okay=False))
def check(folders: tuple[Path, ...]) -> int:
    """Check every file of FOLDERS (default: the built-in rules) and prove every rule on its own examples."""
    built_in = resources.folder("patterns")
    checked = list(folders) or [built_in]
    faults = shapes.faults(checked, known=[built_in] if folders else [])
    if not faults:
        compiled = compile_folders(checked)
        faults = [fault for kind in ("signatures", "formats") for fault in proof.faults(compiled[kind])]
    for fault in faults:
        show(safe(f"error: {fault.what}\n  --> {fault.where}\n  mend: {fault.mend}") + "\n")
    if faults:
        raise PatternError(f"{len(faults)} faults", ", ".join(map(str, checked)), "mend them and check again")
    count = sum(len(compiled[kind]) for kind in ("signatures", "causes", "fixes", "advisories", "formats"))
    show(f"{count} rules, all well formed and proved on their examples\n")
    return 0


@command.command("list")
@click.option("--patterns", "patterns", multiple=True, type=FOLDER, envvar="POSTMORTEM_PATTERNS")
@click.option("--lang", "language", type=click.Choice(("en", "zh")), default="en")
def list_(patterns: tuple[Path, ...], language: str) -> None:
    """List all signatures: id, role, the causes they suggest, title."""
    show("".join(safe(f"{rule.id:48} {rule.role:12} {', '.join(rule.suggests) or '-':60} {rule.title(language)}") + "\n" for rule in load(patterns).signatures))
