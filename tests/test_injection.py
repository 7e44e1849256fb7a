"""Hostile text is inert in every form.

A page runs nothing of it, a terminal obeys nothing, a comment links and notifies nobody, a runner
takes no command from it.

Each text of `hostile_texts` stands in every free field of a diagnosis, and in a log and its names
wherever a log can say something. What is written is read back by parsers: html.parser, GitHub's own
cmark-gfm, json. There is no form of comma-separated values.
"""

import base64
import functools
import hashlib
import json
import os
import re
import shlex
import sys
import unicodedata
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from html.parser import HTMLParser
from pathlib import Path

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options

import postmortem
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.host.dump import build_environment_dump
from postmortem.interfaces import cli
from postmortem.interfaces.cli.report_output import ProgressLine
from postmortem.interfaces.compare import compare_runs
from postmortem.interfaces.share import build_minimal_excerpt
from postmortem.report import SHOWN_FORMS, render, side_by_side
from postmortem.report.markdown_text import escape_prose
from postmortem.report.wire import to_wire
from tests.hostile_texts import TEXTS
from tests.report.samples import hostile, rich

OUR_COLOURS = re.compile(r"\x1b\[(?:0|1|2|3[0-7]|7|1;3[0-7]|1;7;3[0-7]|1;3[0-7];7|7;3[0-7])m")
RUNNER = re.compile(
    r"^\s*::(?:add-mask|add-matcher|add-path|debug|echo|endgroup|error|group|internal-set-repo-path|notice|remove-matcher|save-state|set-env|set-output|stop-commands|warning)(?: |::)"
    r"|##(?:\[|vso\[|teamcity\[)", re.IGNORECASE | re.MULTILINE,
)  # fmt: skip
COMMAND = re.compile(
    r"::(?:error|warning|notice) [a-z]+=[^:,\r\n]*(?:,[a-z]+=[^:,\r\n]*)*::[^\r\n]*"
)
EMOJI = re.compile("(?<=[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d")
UNSEEN_LETTERS = frozenset("\u034f\u115f\u1160\u3164\uffa0")
COMMENT_TAGS = frozenset(
    {
        "h3",
        "p",
        "strong",
        "em",
        "br",
        "code",
        "pre",
        "ol",
        "ul",
        "li",
        "details",
        "summary",
        "blockquote",
        "sub",
    }
)
REFERENCE = re.compile(
    r"@\w|#\d|\bGH-\d|://|\bwww\.\w|\b(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,40}\b", re.IGNORECASE
)


def steering(text: str, allowed: str = "\n") -> list[str]:
    """The characters that a terminal obeys, that reorder or break lines, or that nobody sees."""
    left = EMOJI.sub("", text)
    return [
        hex(ord(char))
        for char in left
        if char not in allowed
        and (
            unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
            or char in UNSEEN_LETTERS
            or ord(char) & 0xFFFE == 0xFFFE
            or 0xFDD0 <= ord(char) <= 0xFDEF
        )
    ]


def check_terminal(text: str, *, color: bool = False) -> None:
    """Nothing but text, line breaks and our own colours; no line is a runner's command."""
    bare = OUR_COLOURS.sub("", text) if color else text
    assert steering(bare) == []
    assert RUNNER.findall(bare) == []


class Elements(HTMLParser):
    """The elements of a page or comment, and the text outside code."""

    def __init__(self, text: str) -> None:
        """Read it."""
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.others: list[str] = []
        self.ends: list[str] = []
        self.prose = ""
        self._code = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self._code += tag in {"code", "pre", "script", "style"}

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that closes itself."""
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        """Leave code."""
        self.ends.append(tag)
        self._code -= tag in {"code", "pre", "script", "style"}

    def handle_data(self, data: str) -> None:
        """Note text outside code."""
        self.prose += "\x01" if self._code else data

    def handle_comment(self, data: str) -> None:
        """Note what is no element."""
        self.others.append(data)

    handle_pi = unknown_decl = handle_comment

    @property
    def kinds(self) -> set[tuple[str, str]]:
        """Each element with each of its attributes."""
        return {(tag, name) for tag, attrs in self.tags for name in ("", *attrs)}


@pytest.fixture(scope="module")
def own() -> set[tuple[str, str]]:
    """The elements and attributes of pages that hold nothing hostile.

    A list that goes on has a start.
    """
    return {("ol", "start")} | {
        kind
        for one in (rich(), rich("zh"), hostile("plain"), hostile("plain", "zh"))
        for kind in Elements(render(one, "html")).kinds
    }


def check_page(text: str, own: AbstractSet[tuple[str, str]], references: set[str]) -> None:
    """Only our own elements and attributes, and one script that runs, which the policy names.

    Links lead within the page or to references of the knowledge base.
    """
    page = Elements(text)
    assert page.kinds - own == set()
    assert page.others == []
    assert [attrs.get("type") for tag, attrs in page.tags if tag == "script"] in (
        [None],
        ["application/json", None],
    )
    policy = next(
        attrs["content"]
        for _, attrs in page.tags
        if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    for tag in ("script", "style"):
        told = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert [
            f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'" in policy
            for one in told
        ] == [True]
    for data in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL):
        json.loads(data)
    links = {attrs["href"] for _, attrs in page.tags if "href" in attrs}
    assert {link for link in links if not link.startswith("#")} <= {
        link for link in references if link.startswith("https://")
    }
    assert steering(text) == []


def check_comment(text: str) -> None:
    """Only our own elements, no link, no picture.

    Outside code nothing that GitHub makes a reference of.
    """
    comment = Elements(
        cmarkgfm.github_flavored_markdown_to_html(
            text, Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_HARDBREAKS
        )
    )
    assert {tag for tag, _ in comment.tags} <= COMMENT_TAGS
    assert {name for _, attrs in comment.tags for name in attrs} <= {"lang", "start"}
    assert comment.others == []
    assert [tag for tag, _ in comment.tags].count("details") == comment.ends.count("details")
    assert REFERENCE.findall(comment.prose) == []
    assert steering(text, "\n\u200b") == []
    assert RUNNER.findall(text) == []


def check_json(text: str) -> object:
    """Strict, and nothing in it steers what shows it."""
    assert steering(text) == []
    assert RUNNER.findall(text) == []
    return json.loads(text, parse_constant=pytest.fail)


def messages(value: object) -> Iterator[str]:
    """The texts of SARIF that a viewer reads for links and placeholders."""
    if isinstance(value, dict):
        yield from (
            one["text"] for name, one in value.items() if name == "message" and "text" in one
        )
        yield from (said for one in value.values() for said in messages(one))
    elif isinstance(value, list):
        yield from (said for one in value for said in messages(one))


def check(
    form: str, diagnosis: Diagnosis, own: set[tuple[str, str]], hidden: tuple[bool, ...] = (False,)
) -> None:
    """Render one form and read it back."""
    for redact in hidden:
        text = render(diagnosis, form, redact=redact)
        if form == "html":
            check_page(
                text,
                own,
                {
                    reference
                    for cause in diagnosis.causes
                    for fix in cause.fixes
                    for reference in fix.references
                },
            )
        elif form == "markdown":
            check_comment(text)
        elif form == "github":
            assert all(COMMAND.fullmatch(line) for line in text.removesuffix("\n").split("\n"))
            assert len(text.split("\n")) <= 4
            assert steering(text) == []
        elif form in {"json", "jsonl"}:
            found = check_json(text)
            assert redact or found == json.loads(json.dumps(to_wire(diagnosis)))
            assert form == "json" or text.count("\n") == 1
        elif form == "sarif":
            check_json(text)
            assert [
                said
                for said in messages(json.loads(text))
                if "](" in said or re.search(r"(?<!\{)\{\d+\}", said)
            ] == []
        else:
            check_terminal(text)
            check_terminal(
                render(diagnosis, form, width=40, full=True, color=True, redact=redact), color=True
            )


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("form", ["terminal", "html", "json", "sarif", "github", "markdown"])
def test_a_hostile_field_is_text(form: str, name: str, own: set[tuple[str, str]]) -> None:
    """Whatever field of a diagnosis it stands in, in every form."""
    check(form, hostile(TEXTS[name], "zh" if len(name) % 2 else "en"), own)


@pytest.mark.parametrize(
    "name",
    ["handler", "link", "late error", "image", "commit", "override", "surrogate", "fence lines"],
)
@pytest.mark.parametrize("form", SHOWN_FORMS)
def test_it_is_text_where_secrets_are_hidden(
    form: str, name: str, own: set[tuple[str, str]]
) -> None:
    """Hiding gives nothing its power back."""
    check(form, hostile(TEXTS[name]), own, (True,))


def planted(text: str) -> str:
    """A log in which a text stands wherever a log can say something."""
    return (
        "\n".join(
            (
                text,
                f"[rank0]: {text}",
                f"[default1]:{text}",
                f"worker-{text}: hello",
                f"3: {text}",
                f"2026-01-02 03:04:05,678 - {text} - INFO - {text}",
                f"[2026-01-02 03:04:05,678] [INFO] [{text}:1:{text}] {text}",
                f"python train.py --run_name {text} --output_dir {text} --{text} 3 --fp16 True",
                f"run_name: {text}",
                f"{text}: 3",
                f"{text}={text}",
                f"[pip3] torch=={text}",
                f"[pip3] {text}==1.0",
                f"transformers version: {text}",
                f"GPU 0: {text} (UUID: GPU-1)",
                f"HF_HOME={text}",
                f"MASTER_ADDR={text}",
                f"host: {text}",
                f"Saving model checkpoint to {text}/checkpoint-5",
                f"Saving checkpoint at {text} iterations",
                *(
                    f"{{'loss': {2.5 - step / 10}, '{text}': {step}.5, 'learning_rate': 1e-05, 'epoch': 0.{step}}}"
                    for step in range(1, 8)
                ),
                f"step: 8 {text}: 1.5 loss: nan",
                "{'loss': nan, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.9}",
                "Traceback (most recent call last):",
                f'  File "{text}", line 3, in {text}',
                f"    {text}",
                f"ModuleNotFoundError: No module named '{text}'",
                f"FileNotFoundError: [Errno 2] No such file or directory: '{text}'",
                f"KeyError: '{text}'",
                f"RuntimeError: CUDA error: an illegal memory access was encountered {text}",
                f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. {text}",
                f"{text}Error: {text}",
                text,
            )
        )
        + "\n"
    )


def bytes_of(text: str) -> bytes:
    """UTF-8, lone surrogates as the bytes that make no text."""
    return text.encode("utf-8", "surrogatepass")


def name_of(text: str) -> str:
    """As much of a text as a file name can hold."""
    return os.fsdecode(bytes_of(text.replace("/", "_").replace("\0", "_"))[:60]) or "_"


@pytest.mark.parametrize("name", TEXTS)
def test_a_hostile_log_is_text(name: str, own: set[tuple[str, str]], tmp_path: Path) -> None:
    """In every part of a log, and in the names of file and folder.

    Lines, exceptions, settings, versions, metrics, checkpoints, prefixes; no snippet holds what a
    shell would act on.
    """
    text = TEXTS[name][:400]
    folder = tmp_path / f"d{name_of(text)}"
    folder.mkdir()
    log, dump = folder / f"r{name_of(text)}.log", folder / f"e{name_of(text)}.txt"
    log.write_bytes(bytes_of(planted(text)))
    dump.write_bytes(
        bytes_of(
            f"PyTorch version: {text}\nPython version: {text}\nOS: {text}\nGPU 0: {text}\n[pip3] torch=={text}\nNvidia driver version: {text}\n"
            + "CUDA used to build PyTorch: 12.1\n" * 60
        )
    )
    report = postmortem.analyze(log, env=[dump])
    diagnosis = report.in_language("zh" if len(name) % 2 else "en").diagnosis
    for form in ("terminal", "html", "json", "sarif", "github", "markdown"):
        check(form, diagnosis, own)
    check_commands(diagnosis, text)


def check_commands(diagnosis: Diagnosis, text: str) -> None:
    """A snippet holds nothing of the log but plain words: what a shell acts on in it is our own."""
    commands = [fix.snippet for cause in diagnosis.causes for fix in cause.fixes] + [
        need.command for need in diagnosis.verdict.need
    ]
    for word in {text, text.strip(), *text.split()}:
        if not re.fullmatch(r"[\w./~:=+,@-]*", word) or word.startswith("-"):
            assert [command for command in commands if word in command and len(word) > 3] == []
    assert [command for command in commands if steering(command)] == []


HOSTILE_LINES = "\n".join(planted(text[:300]) for text in TEXTS.values())


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A good log of one hostile name, a bad one that holds everything."""
    folder = tmp_path_factory.mktemp("pair")
    good, bad = (
        folder / "![x](y)\x1b]0;z\x07\n::error::x ```.log",
        folder / "<script>alert(1)</script> @alice\u202e.log".replace("/", "_"),
    )
    good.write_text(
        "{'loss': 2.5, 'learning_rate': 1e-05, 'epoch': 0.1}\nlearning_rate: 3\nall is well\n" * 3,
        encoding="utf-8",
    )
    bad.write_bytes(bytes_of(HOSTILE_LINES))
    return good, bad


@pytest.mark.parametrize("form", side_by_side.FORMS)
def test_a_hostile_comparison_is_text(form: str, pair: tuple[Path, Path]) -> None:
    """Names, settings, packages and lines of either run."""
    checks = {"terminal": check_terminal, "markdown": check_comment, "json": check_json}
    for one in (compare_runs([pair[0]], [pair[1]]), compare_runs([pair[1]], [pair[0]])):
        for redact in (True, False):
            text = side_by_side.render(one, form, redact=redact)
            if form == "html":
                check_page(text, elements_of_a_comparison(pair[0]), set())
            else:
                checks[form](text)


@functools.cache
def elements_of_a_comparison(good: Path) -> frozenset[tuple[str, str]]:
    """The elements of a comparison of two harmless runs that differ in all that can."""
    other = good.with_name("other.log")
    lines = [f"{{'loss': {9 - n}, 'learning_rate': 1e-04, 'epoch': {n / 10}}}\n" for n in range(20)]
    other.write_text(
        "".join(lines) + "learning_rate: 4\nRuntimeError: all is lost\n", encoding="utf-8"
    )
    pairs = ((good, other), (other, good), (good, good))
    pages = (side_by_side.render(compare_runs([a], [b]), "html") for a, b in pairs)
    return frozenset(kind for page in pages for kind in Elements(page).kinds)


@pytest.mark.parametrize(
    "name",
    [
        "script",
        "clear",
        "error",
        "old",
        "fence lines",
        "long fence",
        "image",
        "mention",
        "override",
        "undecodable",
        "details",
    ],
)
def test_what_is_shared_is_text(name: str, tmp_path: Path) -> None:
    """The log's lines stand in fences that they cannot leave."""
    log = tmp_path / f"r{name_of(TEXTS[name])}.log"
    log.write_bytes(bytes_of(planted(TEXTS[name])))
    check_comment(build_minimal_excerpt([log]).text)


def arguments(text: str, folder: Path) -> Iterator[list[str]]:
    """Calls that end in an error whose message names a text."""
    word = text.replace("\0", "")
    yield ["analyze", f"./{word}"]
    yield ["analyze", "--format", word, "x"]
    yield ["analyze", f"--{word}"]
    yield ["analyze", __file__, "-o", f"missing/{word}"]
    yield ["analyze", __file__, "-o", f"x.{word.replace('/', '_')}"]
    yield ["analyze", "--patterns", f"./{word}", __file__]
    yield ["compare", f"./{word}", f"./{word}"]
    yield ["share", f"./{word}"]
    yield ["run", "--", f"./{word}"]
    yield [f"x{word}"]
    bad = folder / "rules" / "signatures"
    bad.mkdir(parents=True, exist_ok=True)
    (bad / "x.yaml").write_text(
        json.dumps({"id": word, word: word}), encoding="utf-8", errors="replace"
    )
    yield ["analyze", "--patterns", str(folder / "rules"), __file__]
    yield ["patterns", "check", str(folder / "rules")]


@pytest.mark.parametrize(
    "name",
    [
        "colour",
        "clear",
        "link",
        "clipboard",
        "c1",
        "return",
        "newline",
        "error",
        "old",
        "override",
        "breaks",
        "zero width",
        "surrogate",
        "undecodable",
        "backspace",
        "long",
    ],
)
def test_a_message_is_one_line_of_text(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that quotes an argument, a path or a rule."""
    monkeypatch.chdir(tmp_path)
    for call in arguments(TEXTS[name], tmp_path):
        with pytest.raises(SystemExit) as done:
            cli.main(call)
        assert done.value.code == 2, call
        told = capfd.readouterr()
        check_terminal(told.out)
        check_terminal(told.err)
        assert told.err.startswith("postmortem: "), told.err
        assert told.err.count("\n") == 1


@pytest.mark.parametrize(
    "name", ["colour", "clear", "link", "return", "newline", "error", "override", "undecodable"]
)
def test_what_run_says_is_text(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name of the log and the report.

    What the command itself prints is passed through as it is.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fails.py").write_text(
        f"import pathlib\nraise KeyError({TEXTS[name].encode('utf-8', 'replace').decode()!a})\n"
    )
    with pytest.raises(SystemExit) as done:
        cli.main(["run", "--log", f"{name_of(TEXTS[name])}.log", "--", sys.executable, "fails.py"])
    assert done.value.code == 1
    told = capfd.readouterr().err
    check_terminal(told[told.index("postmortem: ") :])


def test_what_is_drawn_while_reading_is_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line of progress returns to its own start and does nothing else."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("postmortem.interfaces.cli.report_output._FIRST_AFTER", -1.0)
    monkeypatch.setattr("postmortem.interfaces.cli.report_output._EVERY", -1.0)
    progress = ProgressLine()
    for text in TEXTS.values():
        progress(text, 10**9, 10**6)
    told = capsys.readouterr().err
    assert steering(told, "\r") == []
    assert max(len(line) for line in told.split("\r")) < 80


def test_an_environment_dump_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable moves no cursor, and brings no password.

    It adds no line that another variable could have written.
    """
    for number, text in enumerate(TEXTS.values()):
        monkeypatch.setenv(
            f"NCCL_X{number}", text.replace("\0", "").encode("utf-8", "replace").decode()
        )
    monkeypatch.setenv("HF_ENDPOINT", "https://bob:s3cr3t@mirror.example")
    before = build_environment_dump()
    monkeypatch.setenv("NCCL_FORGED", "x\nPyTorch version: 9.9\r[pip3] torch==9.9")
    dump = build_environment_dump()
    check_terminal(dump)
    assert len(dump.split("\n")) == len(before.split("\n")) + 1
    assert "s3cr3t" not in dump


def test_prose_never_turns_into_anything() -> None:
    """Alone on a line, as an item, in a quotation, in a heading, after a word."""
    for text in TEXTS.values():
        for frame in ("{}", "- {}", "> {}", "### {}", "1. **{}**", "word {}", "{} word"):
            if not escape_prose(text):
                continue
            html = cmarkgfm.github_flavored_markdown_to_html(
                frame.replace("{}", escape_prose(text)), Options.CMARK_OPT_UNSAFE
            )
            assert {tag for tag, _ in Elements(html).tags} <= {
                "p",
                "ul",
                "ol",
                "li",
                "blockquote",
                "h3",
                "strong",
            }, (frame, text)


def test_commands_for_a_path_of_any_kind_can_be_parsed(tmp_path: Path) -> None:
    """A folder with a blank, a quote and a dollar sign in its name breaks no command.

    A shell reads as words what the commands name.
    """
    for folder in ("a b", "it's", "$(id)", "-rf", "a\nb", 'x"y', "`id`"):
        log = tmp_path / folder / "train.log"
        log.parent.mkdir()
        log.write_text(
            f"[pip3] torch==2.4.0\nSaving model checkpoint to {log.parent}/checkpoint-5\n"
            + planted("x")
        )
        for fix in (
            fix
            for cause in postmortem.analyze(log).causes
            for fix in cause.fixes
            if fix.language in {"sh", "shell", "bash"}
        ):
            assert folder not in fix.snippet
            for line in fix.snippet.split("\n"):
                if (
                    "<<" not in fix.snippet
                    and not line.endswith("\\")
                    and line.count("'") % 2 == 0
                    and line.count('"') % 2 == 0
                ):
                    shlex.split(line, comments=True)
