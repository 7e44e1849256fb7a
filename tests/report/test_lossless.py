"""An analysis as JSON and back: nothing is lost, and what is no analysis is refused in words."""

import dataclasses
import itertools
import json
import math
import random
import shutil
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
import samples
from hypothesis import given
from hypothesis import strategies as st

import postmortem
from postmortem.core.answer import SeriesView
from postmortem.core.errors import InputError
from postmortem.core.findings import ProcessId
from postmortem.core.message import Message
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
    said=st.tuples(texts, texts).map(lambda both: Message(*both)),
    path=texts,
    point=st.tuples(st.none() | steps, numbers, st.integers(1, 1 << 40)),
    where=st.builds(ProcessId, st.none() | ranks, st.none(), st.none() | texts, st.none()),
)
def test_any_text_and_number_comes_back(
    said: Message, path: str, point: tuple[float | None, float, int], where: ProcessId
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
    said = (Message("{x}", "{x}"), Message("a {b}", "甲 {b}"))
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


Place = tuple[str | int, ...]
HOSTILE: dict[type, tuple[object, ...]] = {
    int: (-1, 1 << 31, 1 << 63, 10**400, "NaN", 0.5, None),
    float: ("NaN", "Infinity", "-Infinity", -1e308, 10**400, None),
    str: ("", "\ud800", "\0\x1b[31m\n", "{x}", "{0.x}", None),
    list: ([], None, [None]),
    dict: ({}, None),
    bool: (1, None),
    type(None): (0, -1, 1 << 31, "NaN", "{x}", [], {}),
}


def mutations(analysis: postmortem.Analysis) -> list[tuple[Place, object]]:
    """Each place of an analysis, one of each list, with what may stand there instead."""

    def places(value: Any, path: Place) -> Iterator[tuple[Place, Any]]:
        yield path, value
        if isinstance(value, dict):
            for key, held in value.items():
                yield from places(held, (*path, key))
        elif isinstance(value, list) and value:
            yield from places(value[-1], (*path, len(value) - 1))

    stored = json.loads(to_json(analysis))
    stored.pop("schema")
    return [
        (path, instead)
        for path, value in places(stored, ())
        if path
        for instead in HOSTILE[type(value)]
    ]


def mutated(analysis: postmortem.Analysis, path: Place, instead: object) -> str:
    """A stored analysis with something else in one place."""
    stored = place = json.loads(to_json(analysis))
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = instead
    return json.dumps(stored)


@pytest.fixture(scope="module")
def analysed() -> postmortem.Analysis:
    """A real one."""
    return postmortem.analyze(samples.input_of(LABELS[0])).analysis


@pytest.mark.parametrize("source", ["a real one", "with something in every field"])
def test_a_changed_analysis_is_rendered_or_refused(
    source: str, analysed: postmortem.Analysis
) -> None:
    """In every form; each run tries other places."""
    analysis = analysed if source == "a real one" else ANALYSIS
    accepted = 0
    chosen = random.sample(mutations(analysis), 60)
    for path, instead in chosen:
        try:
            read = from_json(mutated(analysis, path, instead), "a.json")
        except InputError:
            continue
        accepted += 1
        for form in FORMS:
            try:
                render(read, form, language="en")
            except Exception as error:
                raise AssertionError((form, path, instead)) from error
    assert 0 < accepted < len(chosen)


MARK = {"kind": "crash", "source": 0, "where": [0, None, None, None], "count": 1, "places": [[1, "NaN"]]}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "instead", "said"),
    [
        (("marks",), [MARK], r"not finite @ analysis\.marks\[0\]\.places"),
        (("first_failure", "source"), 99, r"no source 99 @ analysis\.first_failure\.source"),
        (("timeline", 0, "source"), 99, "no source 99"),
        (("quotes", 0, "source"), -1, r"invalid value.*analysis"),
        (("causes", 0, "evidence", 0, "source"), 1 << 31, "no source"),
        (("first_failure", "line"), -1, r"invalid value.*analysis"),
        (("sources", 0, "where", 0), -1, r"invalid value.*analysis"),
        (("sources",), [], "no source"),
        (("series", 0, "samples", 0, 0), "Infinity", "not finite"),
        (("series", 0, "max"), 10**400, r"invalid value.*analysis"),
        (("progress", "seconds_after_failure"), "NaN", "no duration"),
        (("progress", "seconds_after_failure"), 1e308, "no duration"),
        (("progress", "checkpoint_before_first_bad"), "{x}", "is none of no, unknown, yes"),
        (("verdict", "probability"), 1.5, "no share"),
        (("causes", 0, "id"), "\ud800", "no name"),
    ],
)
def test_what_does_not_fit_is_refused(path: Place, instead: object, said: str) -> None:
    """With the place, and how to get an analysis that is right."""
    with pytest.raises(InputError, match=said) as error:
        from_json(mutated(ANALYSIS, path, instead), "a.json")
    assert "a.json" in str(error.value)


def test_a_value_of_a_curve_may_be_no_number() -> None:
    """That is what many logs are about."""
    text = mutated(ANALYSIS, ("series", 0, "samples", 0, 1), "NaN")
    assert math.isnan(from_json(text).series[0].samples[0][1])
