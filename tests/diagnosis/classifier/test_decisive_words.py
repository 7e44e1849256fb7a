"""The words that carry a model's say are found again in the log, and hide what a line hides."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import postmortem
from postmortem.diagnosis.classifier.models import load_text_model, parse_text_model
from postmortem.diagnosis.classifier.opinion import find_decisive_words
from postmortem.diagnosis.classifier.text_features import TextPassage, compute_buckets
from postmortem.report import render
from tests.diagnosis.classifier.made_models import made, written
from tests.hostile_texts import TEXTS

GRAMS = {"walrus": "io.storage", "walrus service": "io.storage", "shard": "io.storage"}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        pytest.param("the walrus service is gone", ("walrus service",), id="side by side"),
        pytest.param("WALRUS-Service lost a shard", ("WALRUS-Service", "shard"), id="as it stands"),
        pytest.param("a shard of 12 GB", ("shard",), id="one word"),
        pytest.param("all is well", (), id="none"),
    ],
)
def test_terms_stand_in_the_log(tmp_path: Path, text: str, terms: tuple[str, ...]) -> None:
    """As they are written there, the weightiest first."""
    model = load_text_model(written(tmp_path, GRAMS))
    filled = compute_buckets([TextPassage("last", text, 0, line=7)])
    found = find_decisive_words(model, "io.storage", filled)
    assert [one.terms for one in found] == ([terms] if terms else [])
    assert all((one.line, one.text) == (7, text) for one in found)


@given(st.lists(st.text(max_size=120), max_size=8))
def test_of_any_text_the_terms_stand_in_it(texts: list[str]) -> None:
    """Whatever stands in a log; shares are parts of a whole."""
    model = parse_text_model(
        made({"a": "io.storage", "the": "io.storage", "0": "io.storage"}), Path("x")
    )
    filled = compute_buckets(TextPassage("telling", text, 0, line=1) for text in texts)
    found = find_decisive_words(model, "io.storage", filled)
    assert all(term in one.text for one in found for term in one.terms)
    assert sum(one.share for one in found) <= 1.01


@pytest.mark.parametrize("form", ["terminal", "html", "markdown", "json"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_form_names_them(tmp_path: Path, form: str, language: str) -> None:
    """With the line; a secret that the line hides is no term."""
    log = tmp_path / "run.log"
    log.write_text("epoch 1\nthe walrus service says password=walrusshard\n")
    model = written(tmp_path, {**GRAMS, "walrusshard": "io.storage", "password": "io.storage"})
    analysis = postmortem.analyze(str(log), model=model).analysis
    text = render(analysis, form, language=language, redact=True, full=True)
    assert "walrus service" in text
    assert "walrusshard" not in text
    if form == "json":
        evidence = json.loads(text)["causes"][0]["evidence"]
        (carried,) = [one for item in evidence for one in item.get("carried", ())]
        assert carried["line"] == 2
    else:
        assert ("words that carry it" if language == "en" else "起作用的词") in text


@pytest.mark.parametrize("form", ["terminal", "html", "markdown", "json", "sarif"])
def test_hostile_words_are_inert(tmp_path: Path, form: str) -> None:
    """They pass the escaping that every other text of a log passes."""
    log = tmp_path / "run.log"
    hostile = [text.replace("\n", " ")[:150] for text in TEXTS.values()]
    said = "\n".join(f"walrus {text} walrus service" for text in hostile)
    log.write_bytes(said.encode("utf-8", "replace"))
    model = written(tmp_path, GRAMS)
    analysis = postmortem.analyze(str(log), model=model).analysis
    assert any(item.carried for item in analysis.causes[0].evidence)
    text = render(analysis, form, language="en", redact=False, full=True)
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & {*text}
    if form in {"html", "markdown"}:
        assert not any(tag in text for tag in ("<script>alert", "<img src=x", "<iframe"))
