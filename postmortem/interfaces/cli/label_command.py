"""`postmortem label LOG CAUSE`."""

import shlex
from pathlib import Path

import click

from postmortem.interfaces.cli.messages import print_message
from postmortem.interfaces.cli.options import FOLDER, PATTERNS
from postmortem.learn.labelled_logs import get_labels_folder, record
from postmortem.rules.base import load


@click.command("label")
@click.argument("log", type=FOLDER)
@click.argument("cause")
@click.option("--also", multiple=True, help="Another cause that would be right as well.")
@click.option("--note", default="", help="Why, for whoever reads the label later.")
@click.option(
    "--to", "folder", type=FOLDER, help="Where labels are kept (default: your data folder)."
)
@click.option(
    "--reference", is_flag=True, help="Point to the log where it lies, in place of a copy."
)
@PATTERNS
def command(
    log: Path,
    cause: str,
    *,
    also: tuple[str, ...],
    note: str,
    folder: Path | None,
    reference: bool,
    patterns: tuple[Path, ...],
) -> int:
    """Record what a run really died of: the id of a CAUSE that `postmortem explain` lists.

    `postmortem train --add FOLDER -o MODEL` learns from it. Labelled again, the last label of a log
    stands. The log is kept as it is, unredacted; of its words a model holds hashes only.
    """
    kept, known = folder or get_labels_folder(), load(patterns).causes
    path = record(log, cause, known, folder=kept, also=also, note=note, is_copied=not reference)
    rules = "".join(f" --patterns {shlex.quote(str(pattern))}" for pattern in patterns)
    learn = f"postmortem train --add {shlex.quote(str(kept))}{rules} -o own.safetensors"
    print_message(f"{path} says: {cause}; to learn from it: {learn}")
    return 0
