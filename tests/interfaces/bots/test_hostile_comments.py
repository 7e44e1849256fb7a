"""Whatever a log, a name of a file or of a job says, a comment does nothing but show it.

Comments are rendered by GitHub's own renderer of Markdown. What it leaves to the site around it
(mentions, references, addresses, commits) is looked for in the text that is no code.
"""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from cmarkgfm import github_flavored_markdown_to_html
from cmarkgfm.cmark import Options

from postmortem.core.message import quote
from postmortem.interfaces.bots.bot_settings import BotSettings
from postmortem.interfaces.bots.issue_text import GatheredLogs, build_log_label
from postmortem.interfaces.bots.verdict_finder import (
    ROOM,
    VerdictFinder,
    build_no_log_comment,
    build_unknown_id_comment,
    build_unreadable_log_comment,
    report_comment,
    run_comment,
)
from postmortem.interfaces.trackers.bot_comment import mark_of
from postmortem.interfaces.trackers.tracker_protocol import NamedLog
from postmortem.report.manual.articles import render_article
from postmortem.report.manual.entries import iter_entries
from postmortem.report.markdown_text import count_utf16_units
from postmortem.rules.base import load_compiled_rules
from tests.hostile_texts import TEXTS
from tests.interfaces.bots.conftest import Bot, HereJudge
from tests.interfaces.bots.deliveries import OOM, opened
from tests.interfaces.bots.standin_github import PROJECT, StandIn

ATTACKS = {
    **TEXTS,
    "fixes": "fixes #1, closes: acme/train#2 and resolves https://github.com/acme/train/issues/3",
    "team": "cc @acme/all-hands @here",
    "mark": mark_of("verdict"),
    "camo": "![](https://evil.example/pixel.gif?issue=1)",
    "picture": '<picture><source srcset="https://evil.example/a"></picture>',
    "command": "\n@postmortem analyze\n",
    "suggestion": "```suggestion\nrm -rf /\n```",
    "mermaid": '```mermaid\ngraph TD; A-->B; click A href "https://evil.example"\n```',
    "permalink": "https://github.com/acme/train/blob/0c1f9ab4d2e70c1f9ab4d2e70c1f9ab4d2e7ab12/a.py#L1-L9",
    "advisory": "GHSA-xxxx-yyyy-zzzz CVE-2024-1234",
    "pr": "acme/train!5 acme/train@0c1f9ab4d2e70c1f9ab4d2e70c1f9ab4d2e7ab12",
}
TAGS = {
    *("h1", "h2", "h3", "p", "ul", "ol", "li", "strong", "em", "code", "pre", "br", "sub"),
    *("details", "summary", "blockquote"),
}
ACTIVE = re.compile(
    r"@[A-Za-z0-9]|#\d|\bGH-\d|https?://|\bwww\.\w|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b"
    r"|(?<!\w):(?=[0-9_-]*[a-z+])[a-z0-9_+-]+:(?!\w)|mailto:|[\w.+-]+@[\w-]+\.\w",
    re.IGNORECASE,
)
SETTINGS = BotSettings.model_validate({"trackers": {"github": {"projects": [PROJECT]}}})


class Shown(HTMLParser):
    """What a reader gets: the tags, and the text that is no code."""

    def __init__(self, text: str) -> None:
        """Read a page."""
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.comments: list[str] = []
        self.prose = ""
        self._code = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self._code += tag in {"code", "pre"}

    def handle_endtag(self, tag: str) -> None:
        """Leave code."""
        self._code -= tag in {"code", "pre"}

    def handle_comment(self, data: str) -> None:
        """Note a comment."""
        self.comments.append(data)

    def handle_data(self, data: str) -> None:
        """Keep what is no code."""
        self.prose += data if not self._code else ""


def dangers(comment: str) -> list[str]:
    """What is wrong with a comment."""
    shown = Shown(github_flavored_markdown_to_html(comment, Options.CMARK_OPT_UNSAFE))
    found = [*sorted(shown.tags - TAGS), *sorted(shown.attributes - {"lang", "start"})]
    found += [match[0] for match in ACTIVE.finditer(shown.prose)]
    found += shown.comments
    return found if count_utf16_units(comment) <= 65_536 - 100 else [*found, "too long"]


def log_with(attack: str) -> bytes:
    """A log that fails, with an attack wherever a report takes words from."""
    text = OOM.replace("/home/ada/train.py", f"/home/{attack}/train.py")
    text = text.replace("trainer.train()", f"trainer.train()  # {attack}")
    text = text.replace("CUDA out of memory.", f"CUDA out of memory. {attack}")
    return f"{attack}\nWARNING {attack}\n{{'{attack}': 1.0, 'loss': 1.9}}\n{text}\nValueError: {attack}\n".encode(
        "utf-8", "replace"
    )


@pytest.mark.parametrize("spoken", ["en", "zh"])
def test_a_hostile_log_is_shown_and_nothing_more(bot: Bot, spoken: str) -> None:
    """In every place of it."""
    finder = VerdictFinder(HereJudge(), SETTINGS)
    found = {}
    for name, attack in ATTACKS.items():
        logs = (NamedLog(build_log_label(attack), log_with(attack)),)
        gathered = GatheredLogs(logs, (quote(attack),), is_chinese=False)
        said = finder.judge_issue(bot.tracker, gathered, spoken)
        if wrong := dangers(said.text):
            found[name] = wrong
    assert found == {}


@pytest.mark.parametrize("spoken", ["en", "zh"])
def test_hostile_names_and_reasons_are_shown_and_nothing_more(spoken: str) -> None:
    """Of jobs, files, ids, and what a server says of an error."""
    judged = HereJudge().judge([NamedLog("log", OOM.encode())], spoken, 60_000)
    found = {}
    for name, attack in ATTACKS.items():
        for comment in (
            run_comment([(attack, judged), (attack, judged)], spoken),
            build_no_log_comment([quote(attack)], "@postmortem", spoken),
            build_unreadable_log_comment(quote(attack), spoken),
            build_unknown_id_comment(attack, spoken),
        ):
            if wrong := dangers(comment):
                found[name] = wrong
    assert found == {}


def test_every_article_is_harmless() -> None:
    """The rules' own pages may link to what they rest on, and do nothing else."""
    for name in ("memory.cuda-oom", "numerics.fp16-overflow", "text-model"):
        for spoken in ("en", "zh"):
            text = HereJudge().explain(name, spoken)
            assert text is not None
            shown = Shown(github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE))
            assert shown.tags <= {*TAGS, "a"}
            assert not re.search(r"@\w|#\d", shown.prose)


def test_a_log_that_forges_the_mark_gets_one_comment(bot: Bot, standin: StandIn) -> None:
    """The mark counts in the first line alone, and that is the bot's own."""
    forged = f"{mark_of('verdict')}\n{mark_of('explain:1')}\n{OOM}"
    number = standin.open_issue(f"{mark_of('verdict')}\n```\n{forged}```")
    for action in ("opened", "edited"):
        bot.told("issues", opened(standin, number, action))
    (text,) = standin.own(number)
    assert text.count(mark_of("verdict")) <= 2
    assert text.startswith(f"{mark_of('verdict')}\n### ")


@pytest.mark.parametrize("spoken", ["en", "zh"])
def test_the_longest_comment_fits(bot: Bot, spoken: str) -> None:
    """All that may stand around a report stands there, at its longest, and so is the report."""
    longest = bot.tracker.longest - ROOM
    log = "".join(log_with(attack * 50).decode() for attack in ("🜂", "&", "<b>", "`"))
    judged = HereJudge().judge([NamedLog("log", log.encode())], spoken, longest)
    assert count_utf16_units(judged.report) <= longest
    full = replace(judged, report="x" * longest, title="&" * 500)
    for worst in ("🜂" * 400, "&" * 400, "`" * 400, "#1 " * 200):
        jobs = run_comment([(worst, full)] * 10, spoken)
        told = report_comment(full, [quote(worst)] * 10, spoken)
        assert max(count_utf16_units(jobs), count_utf16_units(told)) < bot.tracker.longest - 100


def test_every_article_fits() -> None:
    """Of all that the rules know."""
    rules = load_compiled_rules(())
    sizes = {
        one.id: count_utf16_units(render_article(one, rules, spoken))
        for one in iter_entries(rules)
        for spoken in ("en", "zh")
    }
    assert max(sizes.values()) < 65_000
