"""`postmortem evaluate DIR...`."""

import json
from pathlib import Path
from typing import Any, Final

import click

from postmortem.core.errors import MissingExtra, UsageError, install_hint
from postmortem.core.names import SHIPPED
from postmortem.interfaces.cli.messages import show
from postmortem.interfaces.cli.options import FOLDER, LANGUAGE, OUTPUT, PATTERNS, add_model_options
from postmortem.interfaces.cli.report_output import require_folder, write
from postmortem.learn.evaluating import JudgedCase, evaluate_cases
from postmortem.learn.labelled_logs import list_labelled_cases
from postmortem.learn.metrics import build_evaluation
from postmortem.learn.samples import SampledLog, read_samples
from postmortem.pipeline import get_matcher, open_model
from postmortem.report.page.metrics_page import render_evaluation
from postmortem.report.terminal.summary_tables import render_evaluation_text
from postmortem.report.wire import get_tool_version

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
def command(
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
