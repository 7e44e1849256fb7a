"""`postmortem label LOG CAUSE`, `train DIR...`, `evaluate DIR...`: labels, training, measuring.

In: labelled logs, options. Out: a label, a model's file, figures. Not here: the work (`learn`).
"""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from postmortem.core.errors import MissingExtra, UsageError, install_hint
from postmortem.core.host.files import replace
from postmortem.core.names import SHIPPED
from postmortem.diagnosis.classifier.models import TextModel
from postmortem.interfaces.cli.messages import print_message, show
from postmortem.interfaces.cli.options import FOLDER, LANGUAGE, OUTPUT, PATTERNS, add_model_options
from postmortem.interfaces.cli.report_output import require_folder, write
from postmortem.learn.evaluating import JudgedCase, evaluate_cases
from postmortem.learn.labelled_logs import get_labels_folder, list_labelled_cases, record
from postmortem.learn.metrics import build_evaluation
from postmortem.learn.samples import SampledLog, read_samples
from postmortem.pipeline import get_matcher, open_model
from postmortem.report.page.metrics_page import render_evaluation
from postmortem.report.terminal.summary_tables import render_evaluation_text
from postmortem.report.wire import get_tool_version
from postmortem.rules.base import load

if TYPE_CHECKING:
    from postmortem.learn.training import Trained


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
def label_command(
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
def train_command(
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


_SUFFIXES: Final = {".html": "page", ".htm": "page", ".json": "JSON", ".txt": "text", "": "text"}


@click.command("evaluate")
@click.argument("folders", nargs=-1, required=True, type=FOLDER, metavar="DIR...")
@click.option(
    "--train",
    "train",
    multiple=True,
    type=FOLDER,
    help="Train on these folders, each case judged by a model that has not seen its origin.",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=OUTPUT,
    help="Write a page (.html), all figures (.json) or the tables (.txt) to a file; repeatable.",
)
@LANGUAGE
@add_model_options
@PATTERNS
def evaluate_command(
    folders: tuple[Path, ...],
    *,
    train: tuple[Path, ...],
    outputs: tuple[Path, ...],
    language: str,
    model: Path | None,
    patterns: tuple[Path, ...],
) -> int:
    """Say how good rules, text classifier and both are on folders of labelled logs.

    A label is NAME.yaml beside NAME.log, with the id of its `cause`. Beside them stand what grep
    and the last error line alone would say.
    """
    for output in outputs:
        _check(output)
    knowledge = get_matcher(patterns).knowledge
    chosen = None if train else open_model(model or SHIPPED)
    wanted = read_samples(list_labelled_cases(folders, knowledge.causes), patterns)
    if train:
        rows = _run_cross_fit(wanted, train, patterns)
    else:
        rows = list(evaluate_cases(((sample, chosen) for sample in wanted), knowledge))
    if not rows:
        raise UsageError(
            "there is nothing to judge: no log decides its cause alone",
            ", ".join(map(str, folders)),
            "label logs that do",
        )
    tool = {"version": get_tool_version(), "knowledge_base": knowledge.version}
    value = build_evaluation(
        rows, tool | {"classifier": chosen.digest if chosen else None}, is_unseen=bool(train)
    )
    show(render_evaluation_text(value, language=language))
    for output in outputs:
        write(_render_evaluation(value, output, language), output, "evaluation")
    return 0


def _check(output: Path) -> None:
    """Refuse early what could not be written.

    Raises:
        UsageError: its suffix names no form, or its folder is missing.
    """
    if output.suffix.lower() not in _SUFFIXES:
        known = ", ".join(filter(None, _SUFFIXES))
        raise UsageError(f"the suffix {output.suffix!r} names no form", output, f"one of {known}")
    require_folder(output, "evaluation")


def _run_cross_fit(
    wanted: list[SampledLog], train: tuple[Path, ...], patterns: tuple[Path, ...]
) -> list[JudgedCase]:
    try:
        from postmortem.learn.training import fit_across_folds  # noqa: PLC0415 -- an extra
    except ImportError as error:
        raise MissingExtra(f"training needs {error.name}", "", install_hint("train")) from error
    pairs = fit_across_folds(train, wanted, patterns=patterns)
    return list(evaluate_cases(pairs, get_matcher(patterns).knowledge))


def _render_evaluation(value: dict[str, Any], output: Path, language: str) -> str:
    form = _SUFFIXES[output.suffix.lower()]
    if form == "page":
        return render_evaluation(value, language=language)
    if form == "JSON":
        return json.dumps(value, indent=1) + "\n"
    return render_evaluation_text(value, language=language)
