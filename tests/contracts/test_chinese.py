"""A report in Chinese is Chinese: no English sentence of ours stands in it, in any form, and nothing is lost on the way from one language to the other.

What the log says, names, commands and code stay as they are. English is told by its small words: no term of the field, name or setting holds one.
"""

import ast
import html
import re
import string
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest
import samples

from postmortem.knowledge import snippets
from postmortem.knowledge.compile import entries
from postmortem.model.diagnosis import Diagnosis
from postmortem.pipeline import analyze
from postmortem.report import render
from postmortem.report.plain import safe

ROOT = Path(__file__).resolve().parents[2]
LABELS = samples.labels_in(ROOT / "sample_logs")
FORMS = ("json", "html", "markdown", "terminal")
CHINESE = re.compile("[\u4e00-\u9fff]")
RUN = re.compile(r"[A-Za-z][A-Za-z'-]*(?:[,;:]? [A-Za-z][A-Za-z'-]*)+")
"""Words of the Latin alphabet behind one another."""
SMALL = frozenset(
    "the a an of is are was were it its this that these those which who what with from by to at in on over after before behind than only and or not no but if as be been has have had does did than then so still "
    "there here when where while beside between within without each every all any one two most more less up down out into onto".split(),
)
QUOTED = re.compile("“[^”]*”|\"[^\"\n]*\"|`[^`]*`|'[^'\n]*'|「[^」]*」|（[A-Za-z][^（）\u4e00-\u9fff]*）")
"""What a text of ours quotes: messages, names, code."""
COMMENT = re.compile(r"(?:^|(?<=\s))#+\s?(.*)$", re.MULTILINE)
CODE = re.compile(r"[=(){}\[\]/|$]|^(?:-|m |from |import |export |kill |lsof |pip |python |nvidia-smi|torchrun |srun |BSUB |PBS |SBATCH )")


def prose(text: str, log: str = "") -> list[str]:
    """The English sentences and parts of sentences in a text that do not stand in the log."""
    runs = [" ".join(match[0].split()) for match in RUN.finditer(QUOTED.sub(" · ", text))]
    return [run for run in runs if run not in log and sum(word.strip(",;:'").lower() in SMALL for word in run.split()) >= 1]


def bare(diagnosis: Diagnosis) -> Diagnosis:
    """A diagnosis without what is no text of ours: the code of snippets (comments stay), commands, settings, the excerpt."""
    causes = tuple(replace(cause, fixes=tuple(replace(fix, snippet="\n".join(COMMENT.findall(fix.snippet))) for fix in cause.fixes)) for cause in diagnosis.causes)
    need = tuple(replace(one, command="") for one in diagnosis.verdict.need)
    return replace(diagnosis, causes=causes, verdict=replace(diagnosis.verdict, need=need), settings={}, excerpt=None)


def read_text(form: str, rendered: str) -> list[str]:
    """The texts that a reader of a form sees."""
    if form == "html":
        rendered = html.unescape(re.sub(r"<[^>]+>", "\n", re.sub(r"(?s)<(script|style).*?</\1>", "", rendered)))
    return [line for line in rendered.replace("\\n", "\n").replace('\\"', '"').split("\n") if not CODE.search(line.strip())] if form == "html" else rendered.replace("\\n", "\n").replace('\\"', '"').split("\n")


def english_in(label: Path) -> set[str]:
    """What of a sample's Chinese report is English, as `form: text`."""
    source, dump = samples.input_of(label), label.with_suffix(".env")
    files = [path for path in ([source] if source.is_file() else source.rglob("*")) if path.is_file()] + [dump] * dump.exists()
    log = " ".join(safe("\n".join([str(source), *(path.read_text("utf-8", "replace") for path in files)])).split())
    diagnosis = bare(analyze([str(source)], env_files=[str(dump)] if dump.exists() else [], language="zh"))
    return {f"{form}: {run}" for form in FORMS for line in read_text(form, render(diagnosis, form, redact=False, **({"width": 10_000} if form == "terminal" else {}))) for run in prose(line, log)}


def test_no_report_in_chinese_holds_english() -> None:
    """Over all samples and all forms."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = set().union(*pool.map(english_in, LABELS, chunksize=8))
    assert sorted(found) == []
