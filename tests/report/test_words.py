"""The fixed phrases: complete in both languages."""

import string

import pytest

from postmortem.core.answer import Evidence, Fix, Verdict
from postmortem.core.findings import Source
from postmortem.core.names import LANGUAGES, OUTCOMES, ROLES
from postmortem.report.redaction.redactor import KINDS
from postmortem.report.words import WORDS, Words


def test_both_languages_have_the_same_phrases() -> None:
    """No phrase exists in one language only, and none is empty.

    The languages are those of the program.
    """
    assert set(WORDS) == set(LANGUAGES)
    assert set(WORDS["en"]) == set(WORDS["zh"])
    assert all(
        phrase.strip()
        for language in LANGUAGES
        for phrase in WORDS[language].values()
        if phrase != ", "
    )


@pytest.mark.parametrize("key", sorted(WORDS["en"]))
def test_a_phrase_takes_the_same_values_in_both_languages(key: str) -> None:
    """A placeholder that one language fills, the other fills too."""
    fields = [
        {name for _, name, _, _ in string.Formatter().parse(WORDS[language][key]) if name}
        for language in ("en", "zh")
    ]
    assert fields[0] == fields[1]


@pytest.mark.parametrize(
    ("group", "values"),
    [
        pytest.param("outcome", OUTCOMES, id="outcomes"),
        pytest.param("role", ROLES, id="roles"),
        pytest.param(
            "status", ("established", "supported", "hypothesis", "unknown"), id="status words"
        ),
        pytest.param(
            "means", ("established", "supported", "hypothesis", "unknown"), id="what they mean"
        ),
        pytest.param(
            "whose",
            ("user", "data", "library", "platform", "hardware", "unknown"),
            id="whose problem",
        ),
        pytest.param("retry", ("as-is", "after-fix", "no", "unknown"), id="retry"),
        pytest.param("kind", ("check", "change", "prevent"), id="kinds of fixes"),
        pytest.param(
            "kind",
            ("log", "metrics", "environment", "scheduler", "kernel", "notebook", "ignored"),
            id="kinds of sources",
        ),
        pytest.param("safety", ("safe", "changes-results", "costly"), id="safety"),
        pytest.param(
            "by",
            (
                "signature",
                "shape",
                "environment",
                "setting",
                "traceback",
                "advisory",
                "classifier",
                "replay",
            ),
            id="kinds of evidence",
        ),
        pytest.param("progress.before", ("yes", "no", "unknown"), id="checkpoint"),
        pytest.param("hidden", KINDS, id="what was hidden"),
    ],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_of_the_contract_has_a_phrase(
    group: str, values: tuple[str, ...], language: str
) -> None:
    """A value that the JSON contract allows never reaches people untranslated."""
    assert [value for value in values if f"{group}.{value}" not in WORDS[language]] == []


def test_english_counts_one() -> None:
    """One point is no points; Chinese does not mind."""
    assert [Words("en")("curve.points", count=count) for count in (1, 2)] == ["1 point", "2 points"]
    assert Words("en")("curve.more", count=1).startswith("1 more series is ")
    assert Words("zh")("curve.points", count=1) == "1 个点"


def test_an_unknown_word_is_shown_as_it_is() -> None:
    """A value that a later version adds is no error, an unknown language is English."""
    assert Words("en").either("outcome", "new-word") == "new-word"
    assert Words("fr").language == "en"


def test_the_nouns_name_the_fields_that_the_tables_above_follow() -> None:
    """If a noun loses such a field, the tables above want another look."""
    assert "safety" in Fix.__slots__
    assert "kind" in Evidence.__slots__
    assert "kind" in Source.__slots__
    assert {"status", "whose", "retry"} <= set(Verdict.__slots__)
