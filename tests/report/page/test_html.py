"""The page."""

import base64
import hashlib
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from postmortem.core.answer import Verdict
from postmortem.core.diagnosis import Diagnosis
from postmortem.report.page.html import render_html
from tests.report.samples import TOKEN, a_series, abstaining, hostile, rich

VOID = {"meta", "br", "line", "circle", "path", "polyline", "rect", "input"}


class Page(HTMLParser):
    """Reads a page and complains of what is not closed."""

    def __init__(self, text: str) -> None:
        """Read the page."""
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag that closes itself."""
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        """Close the tag that is open."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note text that is no style."""
        if self.open and self.open[-1] not in {"style", "script"}:
            self.text += data

    def of(self, name: str) -> list[str]:
        """Give all values of an attribute."""
        return [attrs[name] for _, attrs in self.tags if name in attrs]


PAGES = [
    pytest.param(rich(), id="rich"),
    pytest.param(rich("zh"), id="Chinese"),
    pytest.param(abstaining(), id="abstaining"),
    pytest.param(hostile(), id="hostile"),
    pytest.param(
        replace(
            abstaining(),
            verdict=Verdict("healthy.completed", 1.0, "established", "", "unknown", "unknown"),
            sources=(),
            causes=(),
        ),
        id="nearly empty",
    ),
]


@pytest.mark.parametrize("one", PAGES)
def test_a_page_is_whole_and_needs_nothing_else(one: Diagnosis) -> None:
    """Every tag is closed, ids are unique, links within the page arrive, nothing is loaded.

    Nothing runs but the script that the policy names by its hash.
    """
    text = render_html(one, translations=[rich("zh")] if one.language == "en" else [])
    page = Page(text)
    ids = page.of("id")
    assert [name for name, count in Counter(ids).items() if count > 1] == []
    links = page.of("href")
    assert [
        link
        for link in links
        if not (link.startswith("https://") or (link[:1] == "#" and link[1:] in ids))
    ] == []
    assert page.of("src") == []
    assert {tag for tag, _ in page.tags} & {
        "link",
        "img",
        "iframe",
        "object",
        "base",
        "form",
    } == set()
    assert [name for _, attrs in page.tags for name in attrs if name.startswith("on")] == []
    policy = next(
        attrs["content"]
        for tag, attrs in page.tags
        if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    # numbers, which nothing runs, and the script
    assert [attrs.get("type") for tag, attrs in page.tags if tag == "script"] in (
        [None],
        ["application/json", None],
    )
    assert [tag for tag, _ in page.tags].count("style") == 1
    script, style = (
        hashed(re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)) for tag in ("script", "style")
    )
    assert policy.startswith(
        f"default-src 'none'; style-src '{style}'; script-src '{script}'; img-src data:"
    )
    assert page.of("style") == []
    assert "url(" not in text.split("</style>")[0]


def hashed(texts: list[str]) -> str:
    """Name the only text as a policy does."""
    (text,) = texts
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@pytest.mark.parametrize(("language", "tag"), [("en", "en"), ("zh", "zh-CN")])
def test_a_page_says_its_language(language: str, tag: str) -> None:
    """The html element names the language in which the page opens."""
    page = Page(render_html(rich(language)))
    assert dict(page.tags)["html"] == {"lang": tag}


def test_a_page_holds_every_language_and_opens_in_the_first() -> None:
    """Each language is an article, whole, with a switch of which the first is thrown.

    A name has one pseudonym in all.
    """
    text = render_html(rich("zh"), translations=[rich("en")])
    page = Page(text)
    articles = [attrs for tag, attrs in page.tags if tag == "article"]
    assert [one["lang"] for one in articles] == ["zh-CN", "en"]
    assert [attrs["id"] for tag, attrs in page.tags if tag == "input" and "checked" in attrs] == [
        "language-zh",
        "theme-auto",
    ]
    first, second = (set(re.findall(r"host-\d+", part)) for part in text.split("<article ")[1:])
    assert first == second != set()
    assert Counter(
        one.partition("-")[2] for one in page.of("id") if one.startswith("en-")
    ) == Counter(one.partition("-")[2] for one in page.of("id") if one.startswith("zh-"))


def test_a_page_of_one_language_has_no_switch() -> None:
    """What cannot be switched is not offered."""
    assert "language-en" not in Page(render_html(rich())).of("id")


def test_evidence_links_to_the_line_of_the_excerpt_and_back() -> None:
    """A place that the page quotes is a link to its raw line, which names the evidence.

    Another one is text.
    """
    page = Page(render_html(rich()))
    assert {"en-0-L1828", "en-e2"} <= set(page.of("id"))
    assert {"#en-0-L1832", "#en-e2"} <= set(page.of("href"))
    assert "#en-0-L45" not in page.of("href")
    assert [attrs for _, attrs in page.tags if attrs.get("class") == "marked"] == [
        {"id": "en-0-L1832", "class": "marked"}
    ]


@pytest.mark.parametrize(
    "words",
    [
        "Values left the range of float16", "established|supported", "93%", "Evidence", r"\+4\.0", "What to do", "Do this first", "register_forward_hook", "Curves", "grad_norm", "The log around the failure",
        "Timeline", "Other causes that were weighed", "22%", "Looks alarming, is not the cause", "Checkpoint", "Last good step", "How it was weighed", "Environment", "Tesla V100", "deepspeed", "learning_rate",
        "Not checked", "What would change this verdict", "Sources", "Attempts", "lines 1-240", "Warnings", "Hidden:", "knowledge base 2026-11-20",
    ],
)  # fmt: skip
def test_a_page_shows(words: str) -> None:
    """Every section is there."""
    assert re.search(words, Page(render_html(rich())).text)


def test_the_explanation_stands_above_the_evidence_and_warnings_above_all() -> None:
    """What to do comes before why, and the reader is warned first."""
    text = render_html(rich())
    body = text[text.index("<main>") :]
    order = [
        body.index(part)
        for part in (
            "18 lines were longer",
            "<h1>",
            "The V100 has no bfloat16",
            *(
                f'id="en-{name}"'
                for name in (
                    "fixes",
                    "evidence",
                    "curves",
                    "timeline",
                    "excerpt",
                    "environment",
                    "harmless",
                    "others",
                )
            ),
        )
    ]
    assert order == sorted(order)


def test_nothing_is_said_to_speak_against_a_cause_that_has_evidence_against_it() -> None:
    """The status word means what the evidence below it shows."""
    one = replace(rich(), verdict=replace(rich().verdict, status="supported"))
    assert min(item.weight for item in one.causes[0].evidence) < 0
    assert "more for it than against" in Page(render_html(one)).text
    kept = replace(
        one.causes[0], evidence=tuple(item for item in one.causes[0].evidence if item.weight > 0)
    )
    assert (
        "evidence for it and none against"
        in Page(render_html(replace(one, causes=(kept, *one.causes[1:])))).text
    )


def test_what_our_texts_put_between_backticks_is_code() -> None:
    """In prose of ours only, and only in pairs; what a log puts there stays as it is."""
    one = rich()
    fix = replace(one.causes[0].fixes[0], why="Run `pip <check>` first, `then` not `this")
    text = render_html(
        replace(
            one,
            causes=(
                replace(one.causes[0], fixes=(fix, replace(fix, why="Run `pip <check>` first."))),
                *one.causes[1:],
            ),
        )
    )
    assert "Run <code>pip &lt;check&gt;</code> first." in text
    assert "Run `pip &lt;check&gt;` first, `then` not `this" in text


def test_one_point_is_a_line_of_text_and_an_edge_gets_a_detail() -> None:
    """A chart of one point is not drawn; a NaN at the end of a long curve is drawn twice."""
    page = Page(render_html(replace(rich(), series=(a_series("loss", [5.0], [2.5]),))))
    assert "loss: 2.5 at step 5, line 1425, a single point" in page.text
    assert "chart" not in page.of("class")
    long = a_series("loss", [float(step) for step in range(400)], [1.0] * 398 + [float("nan")] * 2)
    page = Page(render_html(replace(rich(), series=(long,))))
    assert page.of("class").count("chart") == 2
    assert "loss, around the failure" in page.text


def test_an_abstaining_page_asks_for_what_it_needs() -> None:
    """Need comes before the candidates.

    There is neither evidence nor a fix for a cause that was not named.
    """
    text = Page(render_html(abstaining())).text
    assert text.index("What would decide") < text.index("What it could be")
    assert "What to do" not in text


def test_a_page_is_redacted_by_default() -> None:
    """Names and tokens are gone from every part, the excerpt included, unless asked for."""
    text = render_html(rich())
    assert [secret for secret in (TOKEN, "alice", "gpu-a17", "10.0.0.5") if secret in text] == []
    assert TOKEN in render_html(rich(), redact=False)


def test_hostile_text_is_shown_as_text() -> None:
    """Tags and templates of a log are text, control characters are pictures.

    A script address is no link.
    """
    text = render_html(hostile(), redact=False)
    page = Page(text)
    assert "<script>alert(1)</script> [red]x[/red] red" in page.text
    assert "{{ 7*7 }}" in page.text
    assert "javascript:alert(1)" in page.text
    assert [link for link in page.of("href") if "javascript" in link] == []
    assert [
        char
        for char in text
        if (ord(char) < 0x20 and char != "\n") or 0x202A <= ord(char) <= 0x202E
    ] == []
