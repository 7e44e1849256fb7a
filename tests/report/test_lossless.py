"""An analysis as JSON and back: nothing is lost, and what is no analysis is refused in words."""

import dataclasses
import itertools
import json
import shutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
import samples
from hypothesis import given
from hypothesis import strategies as st

import postmortem
from postmortem.errors import InputError
from postmortem.model.lines import Where
from postmortem.model.said import Said
from postmortem.model.shown import SeriesView
from postmortem.report import FORMS, render
from postmortem.report.lossless import from_json, to_json
from tests.report.samples import abstaining, hostile, lifted, rich

LABELS = samples.labels_in(samples.ROOT / "sample_logs")
ANALYSIS = lifted(rich())


def lost(label: Path, folder: Path, language: str) -> list[str]:
    """What of a sample is not the same behind the way through JSON, where its log is gone."""
    source, dump = samples.input_of(label), label.with_suffix(".env")
    copy = folder / label.stem / source.name
    copy.parent.mkdir()
    (shutil.copytree if source.is_dir() else shutil.copy)(source, copy)
    analysis = postmortem.analyze(copy, env=[dump] if dump.exists() else []).analysis
    before = {form: render(analysis, form, language=language) for form in FORMS}
    shutil.rmtree(copy.parent)
    read = from_json(before["analysis"])
    found = [form for form, text in before.items() if render(read, form, language=language) != text]
    return [
        f"{label.stem}: {what}" for what in [*found, *["value"] * (repr(read) != repr(analysis))]
    ]


def test_every_sample_is_the_same_in_every_form_without_its_log(tmp_path: Path) -> None:
    """The value comes back as it was, and rendering looks into no file."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        languages = [("en", "zh")[number % 2] for number in range(len(LABELS))]
        found = pool.map(lost, LABELS, [tmp_path] * len(LABELS), languages, chunksize=8)
        assert [*itertools.chain(*found)] == []


@pytest.mark.parametrize(
    "analysis",
    [lifted(rich("zh")), lifted(abstaining()), lifted(hostile()), ANALYSIS],
    ids=["Chinese", "abstaining", "hostile", "rich"],
)
def test_made_ones_come_back(analysis: postmortem.Analysis) -> None:
    """With something in every field, with nothing in most, with texts that attack."""
    assert repr(from_json(to_json(analysis))) == repr(analysis)


numbers = st.floats() | st.integers(-(10**15), 10**15)
steps = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**15), 10**15)
ranks = st.integers(0, 1 << 40)
texts = st.text(st.characters(), max_size=20)


@given(
    said=st.tuples(texts, texts).map(lambda both: Said(*both)),
    path=texts,
    point=st.tuples(st.none() | steps, numbers, st.integers(1, 1 << 40)),
    where=st.builds(Where, st.none() | ranks, st.none(), st.none() | texts, st.none()),
)
def test_any_text_and_number_comes_back(
    said: Said, path: str, point: tuple[float | None, float, int], where: Where
) -> None:
    """Halves of characters, braces, NaN, infinities, whole numbers as whole numbers."""
    series = SeriesView(
        path, "x", 0, where, "", 1, 0, point[:2], point[:2], None, None, None, False, (point,)
    )  # fmt: skip
    analysis = dataclasses.replace(ANALYSIS, warnings=(said,), series=(series,), given=(path,))
    read = from_json(to_json(analysis))
    assert repr(read) == repr(analysis)
    assert json.loads(to_json(analysis))["schema"] == "postmortem.analysis/1"


def test_a_text_of_one_wording_is_a_string_and_braces_stand_for_themselves() -> None:
    """Two wordings are an object; neither is ever taken for a template."""
    said = (Said("{x}", "{x}"), Said("a {b}", "甲 {b}"))
    value = json.loads(to_json(dataclasses.replace(ANALYSIS, warnings=said)))
    assert value["warnings"] == ["{x}", {"en": "a {b}", "zh": "甲 {b}"}]


def changed(**fields: object) -> str:
    """An analysis with other fields, as JSON."""
    return json.dumps(json.loads(to_json(ANALYSIS)) | fields)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("no json", "no JSON", id="no JSON"),
        pytest.param("[" * 100_000, "no JSON", id="depth"),
        pytest.param("[1]", "it names no schema", id="a list"),
        pytest.param('{"schema": "postmortem.report/1"}', "its schema is 'postmortem.report/1'", id="a report"),
        pytest.param(changed(extra=1), "extra", id="a field that is none of ours"),
        pytest.param(changed(outcome=1), "analysis.outcome", id="a number for a text"),
        pytest.param(changed(warnings=[{"en": "x"}]), "analysis.warnings", id="one language"),
        pytest.param(changed(events_left=True), "analysis.events_left", id="a truth for a number"),
        pytest.param('{"schema": "postmortem.analysis/1"}', "missing", id="nothing in it"),
    ],
)  # fmt: skip
def test_what_is_no_analysis_is_refused(text: str, said: str) -> None:
    """The error names the file, what is wrong and where, and how to get one that is right."""
    with pytest.raises(InputError, match=said.replace("[", r"\[")) as error:
        from_json(text, "a.json")
    assert "a.json" in str(error.value)
    assert "--format analysis" in str(error.value)
