"""`postmortem train DIR...`, `postmortem train --add DIR`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from postmortem.core.errors import MissingExtra, UsageError, install_hint
from postmortem.core.host.files import replace
from postmortem.core.names import SHIPPED
from postmortem.diagnosis.classifier.models import TextModel
from postmortem.interfaces.cli.messages import print_message
from postmortem.interfaces.cli.options import FOLDER, OUTPUT, PATTERNS
from postmortem.pipeline import open_model

if TYPE_CHECKING:
    from postmortem.learn.training import Trained


@click.command("train")
@click.argument("folders", nargs=-1, type=FOLDER, metavar="[DIR...]")
@click.option(
    "--add",
    "own",
    multiple=True,
    type=FOLDER,
    help="Labelled logs of your own: teach them to the model that there is. Repeatable.",
)
@click.option(
    "--model",
    "base",
    type=FOLDER,
    help="With --add: the model that is taught (default: POSTMORTEM_MODEL's, else the package's).",
)
@click.option("-o", "--output", required=True, type=OUTPUT, help="Where the model is written.")
@click.option(
    "--evidence",
    type=OUTPUT,
    help="With DIR...: where the evidence model is written; without it the package's own serves.",
)
@click.option("--seed", default=0, show_default=True, help="Same logs and seed, same bytes.")
@PATTERNS
def command(
    folders: tuple[Path, ...],
    *,
    own: tuple[Path, ...],
    base: Path | None,
    output: Path,
    evidence: Path | None,
    seed: int,
    patterns: tuple[Path, ...],
) -> int:
    """Teach the text classifier logs of your own, or train one on folders of labelled logs.

    `postmortem train --add DIR -o MODEL` adds your logs to what the model knows; with DIR... one is
    trained on these folders and on those of --add alone. A label is NAME.yaml beside NAME.log, with
    the id of its `cause`, as `postmortem label` writes it; causes of your own come with --patterns.
    Labels with `part: check` are left out. The model goes to `analyze --model`, or into
    POSTMORTEM_MODEL.
    """
    if not folders and not own:
        raise UsageError("there is nothing to learn from", "", "name a folder: --add DIR")
    try:
        from postmortem.learn.training import (  # noqa: PLC0415 -- an extra
            train_incrementally,
            train_model,
        )
    except ImportError as error:
        raise MissingExtra(f"training needs {error.name}", "", install_hint("train")) from error
    if folders:
        made = train_model([*folders, *own], patterns=patterns, seed=seed)
    else:
        made = train_incrementally(_open_base_model(base), own, patterns=patterns, seed=seed)
    for path, content in ((output, made.content), (evidence, made.evidence)):
        if path is not None and content:
            replace(path, content)
    _print_training_summary(made, output)
    return 0


def _open_base_model(named: Path | None) -> TextModel:
    """Open the model that is taught.

    Raises:
        UsageError: there is none.
    """
    model = open_model(named or SHIPPED)
    if model is None:
        raise UsageError("there is no model to add to", "--add", "name one with --model")
    return model


def _print_training_summary(made: "Trained", output: Path) -> None:
    print_message(
        f"{output}: {len(made.content) / 1e6:.1f} MB from {made.cases} logs of {made.causes} causes"
        f" and {made.groups} origins"
    )
    if made.named is not None:
        print_message(
            f"left out in turn, {made.named} of {made.cases} logs have their cause named first"
        )
