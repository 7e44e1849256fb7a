"""A report in Chinese is Chinese.

No English sentence of ours stands in it, in any form, and nothing is lost on the way from one
language to the other.

What the log says, names, commands and code stay as they are. English is told by its small words: no
term of the field, name or setting holds one.
"""

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
import texts as texts_of_code

from postmortem.core.diagnosis import Analysis
from postmortem.core.log_text import escape_control_characters
from postmortem.pipeline import run_pipeline
from postmortem.reading.opener import open_log
from postmortem.reading.prefixes import clean
from postmortem.reading.sources import fill
from postmortem.report import render
from postmortem.report.display import translate_analysis
from postmortem.report.page.html import render_html
from postmortem.rules import cause_rules
from postmortem.rules.compile import iter_rules, read_yaml

ROOT = Path(__file__).resolve().parents[2]
LABELS = samples.labels_in(ROOT / "sample_logs")
FORMS = ("json", "markdown", "terminal")
PAGES = frozenset(LABELS[::5])
"""Samples whose page is read too: it is slow to make, and its own words are the same in all."""
KINDS = ("taxonomy", "signatures", "exceptions", "conditions", "causes", "fixes", "advisories")
CHINESE = re.compile("[\u4e00-\u9fff]")
RUN = re.compile(r"[A-Za-z][A-Za-z'-]*(?:[,;:]? [A-Za-z][A-Za-z'-]*)+")
"""Words of the Latin alphabet behind one another."""
SMALL = re.compile(
    r"\b(?:the|an?|of|is|are|was|were|it|its|this|that|these|those|which|who|what|with|from|by|to|at|in|on|over|after|before|behind|than|only|and|or|not|no|but|if|as|be|been|has|have|had|does|did|then|so|still|there|"
    r"here|when|where|while|beside|between|within|without|each|every|all|any|one|two|most|more|less|up|down|out|into|onto)\b",
    re.IGNORECASE,
)
QUOTED = re.compile(
    "“[^”]*”|\"[^\"\n]*\"|`[^`]*`|'[^'\n]*'|if \\w+ ==|（[A-Za-z][^（）\u4e00-\u9fff]*）"
)
"""What a text of ours quotes: messages, names, code."""
COMMENT = re.compile(r"(?:^|(?<=\s))#+\s?(.*)$", re.MULTILINE)
CODE = re.compile(r"\{[^}]*\}|\([^)]*\)|^(?:from|import|pip|python|kill|BSUB|PBS|SBATCH) .*")
"""What of a comment is code or a command again."""


def prose(text: str, log: str = "") -> list[str]:
    """The English sentences and parts of sentences in a text that do not stand in the log."""
    runs = [" ".join(match[0].split()) for match in RUN.finditer(QUOTED.sub(" · ", text))]
    return [run for run in runs if run not in log and SMALL.search(run)]


def bare(diagnosis: Analysis) -> Analysis:
    """A diagnosis without what is no text of ours.

    The code of snippets (comments stay), commands, settings, the excerpt.
    """
    causes = tuple(
        replace(
            cause,
            fixes=tuple(
                replace(fix, snippet=fix.snippet.settled(lambda code: "\n".join(comments(code))))
                for fix in cause.fixes
            ),
        )
        for cause in diagnosis.causes
    )
    need = tuple(replace(one, command="") for one in diagnosis.verdict.need)
    return replace(
        diagnosis,
        causes=causes,
        verdict=replace(diagnosis.verdict, need=need),
        settings={},
        excerpt=None,
        quotes=(),
    )


def comments(code: str) -> list[str]:
    """The comments of a snippet, without the code in them."""
    return [CODE.sub("", comment) for comment in COMMENT.findall(code)]


def lines_of(rendered: str, form: str) -> list[str]:
    """The lines that a reader of a form sees."""
    if form in {"html", "markdown"}:
        rendered = html.unescape(
            re.sub(
                r"<[^>]+>",
                "\n",
                re.sub(r"</?code>", "`", re.sub(r"(?s)<(script|style).*?</\1>", "", rendered)),
            )
        )
    return unescaped(rendered).split("\n")


def unescaped(text: str) -> str:
    """A text of a JSON string as it reads."""
    return text.replace("\\n", "\n").replace('\\"', '"')


def english_in(label: Path) -> set[str]:
    """What of a sample's Chinese report is English, as `form: text`.

    Reports quote lines of a log without the labels that stand before them.
    """
    source, dump = samples.input_of(label), label.with_suffix(".env")
    files = [
        path
        for path in ([source] if source.is_file() else sorted(source.rglob("*")))
        if path.is_file()
    ] + [dump] * dump.exists()
    read = escape_control_characters(
        "\n".join(
            [
                str(source),
                *(fill(open_log(str(path)), 1 << 24).decode("utf-8", "replace") for path in files),
            ]
        )
    )
    quoted = "\n".join(f"{row.level} {row.text}" for row in map(clean, read.split("\n")))
    plain = quoted.replace("`", "'")  # between marks of code a message has no such marks
    log = " ".join(f"{read}\n{unescaped(read)}\n{quoted}\n{plain}".split())
    analysis = bare(run_pipeline([str(source)], env_files=[str(dump)] if dump.exists() else []))
    rendered = {
        form: render(
            analysis,
            form,
            language="zh",
            redact=False,
            **({"width": 10_000} if form == "terminal" else {}),
        )
        for form in FORMS
    }
    if label in PAGES:
        rendered["html"] = render_html(translate_analysis(analysis, "zh"), redact=False)
    return {
        f"{form}: {run}"
        for form, text in rendered.items()
        for line in lines_of(text, form)
        for run in prose(line, log)
    }


def test_no_report_in_chinese_holds_english() -> None:
    """Over all samples."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = set().union(*pool.map(english_in, LABELS, chunksize=8))
    assert sorted(found) == []


def wordings() -> Iterator[tuple[str, str, str]]:
    """Every sentence that the program words itself, with its context and its Chinese wording.

    A count of one has an English wording of its own, with the same Chinese.
    """
    for message in texts_of_code.read_catalogue():
        *_, english = [message.id] if isinstance(message.id, str) else message.id
        *_, chinese = [message.string] if isinstance(message.string, str) else message.string
        if english:
            yield f"{message.context or ''}:{english[:60]}", english, chinese


SHORT = ("GPU", "NaN/inf", "{value}")
"""What says in Chinese without a word what English says with some."""


def parts(template: str) -> tuple[str, list[tuple[str, str, str]]]:
    """The words of a template, and what fills it in which form."""
    parsed = list(string.Formatter().parse(template))
    return " ".join(words for words, _, _, _ in parsed), sorted(
        (name, form or "", conversion or "") for _, name, form, conversion in parsed if name
    )


@pytest.mark.parametrize(
    ("en", "zh"), [pytest.param(en, zh, id=place) for place, en, zh in wordings()]
)
def test_a_sentence_says_the_same_in_both_languages(en: str, zh: str) -> None:
    """The same figures in the same form fill both.

    Where there are words between them, there are Chinese ones.
    """
    (said, fields), (_, others) = (parts(en), parts(zh))
    assert fields == others
    assert CHINESE.search(zh) or zh in {en, *SHORT} or not re.search("[A-Za-z]{3}", said)
    assert prose(zh) == []


def texts(value: object) -> Iterator[tuple[str, str]]:
    """Every text for people in a rule."""
    if isinstance(value, dict) and isinstance(value.get("en"), str) and "zh" in value:
        yield value["en"], value["zh"]
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts(part)


def said_by(kind: str) -> list[tuple[str, str]]:
    """The Chinese texts of one kind of rules, each with the id of its rule."""
    if kind == "taxonomy":
        return [
            (name, zh)
            for name, entry in read_yaml(ROOT / "patterns" / "taxonomy.yaml")["causes"].items()
            for _, zh in texts(entry)
        ]
    return [
        (entry["id"], zh)
        for _, entry in iter_rules(ROOT / "patterns" / kind)
        for _, zh in texts(entry)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_every_text_of_a_rule_is_chinese(kind: str) -> None:
    """A text of the knowledge base has Chinese words and no English sentence."""
    found = said_by(kind)
    assert len(found) > 10
    assert [one for one in found if not CHINESE.search(one[1]) or prose(one[1])] == []


OTHER_WORDS = re.compile(
    r"批次|批量(?!生成)|批大小|回溯|嵌入|轮子|底座|分词器|损失(?!函数|缩放)|其它|核函数|非有限|套接字|坍缩|断点(?!（frozen)|通信组|尖峰|缩放系数|比特|本地代码"
    r"|(?<!universal )(?<![\w./=_-])checkpoint(?:ing)?(?![\w./=_-])|(?<![\w-])(?:compute capability|chat template|padding)(?![\w-])",
)
"""What the glossary of patterns/README.md says otherwise."""
MARKS = re.compile(
    "[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9%][\u4e00-\u9fff]|[\u4e00-\u9fff] ?[,;:!?]|[,;!?] ?[\u4e00-\u9fff]|[\u4e00-\u9fff] [\u4e00-\u9fff]|[\u4e00-\u9fff]\\.(?: |$)| [，。；：！？、（）“”]|[，。；：！？、（）“] "
)
"""Half-width marks beside Chinese words, a missing space before Latin letters, a space beside a
full-width mark."""


@pytest.mark.parametrize("kind", KINDS)
def test_one_thing_has_one_word_and_marks_are_chinese(kind: str) -> None:
    """The glossary and the marks of patterns/README.md."""
    said = said_by(kind)
    words = [
        (name, wrong[0], zh)
        for name, zh in said
        if (wrong := OTHER_WORDS.search(re.sub(r"`[^`]*`|“[^”]*”|\$\{[^}]*\}", "x", zh)))
    ]
    marks = [(name, wrong[0], zh) for name, zh in said if (wrong := MARKS.search(zh))]
    assert (words, marks) == ([], [])


UNMENDED = (
    "请看损失",
    "趁还能运行",
    "验证损失不是",
    "损失从一开始",
    "损失不是有限数",
    "损失为 0",
    "损失正在发散",
)
"""Begins each phrase that still has another word than the glossary's: `loss`."""


def test_the_phrases_of_the_program_keep_to_the_glossary() -> None:
    """Labels of the reports and sentences that the program words itself."""
    phrases = {zh for _, _, zh in wordings()}
    lost = re.compile(
        "损失(?=的? ?(?:GPU 小时|\\{))|^损失$"
    )  # hours, not what a training minimises
    words = {phrase for phrase in phrases if OTHER_WORDS.search(lost.sub("x", phrase))}
    assert words == {phrase for phrase in words if phrase.startswith(UNMENDED)}
    assert {start for start in UNMENDED if any(one.startswith(start) for one in words)} == {
        *UNMENDED
    }
    assert [
        (wrong[0], phrase)
        for phrase in phrases
        if (wrong := MARKS.search(re.sub(r"\{[^}]*\}|(?<=即) (?=“)", "⬚", phrase)))
    ] == []


def test_every_comment_of_a_snippet_is_chinese() -> None:
    """A comment that says something in English says it in Chinese too."""
    found = [
        (entry["id"], comment)
        for _, entry in iter_rules(ROOT / "patterns" / "fixes")
        for snippet in (entry.get("snippets") or {}).values()
        for comment in comments(
            cause_rules.translate_comments(cause_rules.parse_snippet(snippet)).zh
        )
        if not CHINESE.search(comment)
        and (prose(comment) or re.fullmatch(r"[a-z]+(?:[ ,;]+[a-z]+)*", comment))
    ]
    assert found == []
