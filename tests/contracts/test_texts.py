"""The catalogue of texts fits the code: English there, Chinese in `postmortem/locale`."""

import ast
import os
import re
import string
import subprocess
import sys
from pathlib import Path

import pytest
import texts
from babel.messages.catalog import Message

from postmortem.core import catalogue

ROOT = Path(__file__).resolve().parents[2]
CODE = sorted((ROOT / "postmortem").rglob("*.py"))
CHINESE = re.compile("[\u4e00-\u9fff]")
IN_CODE = texts.extract_messages()
CATALOGUE = texts.read_catalogue()


def forms(value: object) -> list[str]:
    """The texts of a message: one, or one for each plural form."""
    return [value] if isinstance(value, str) else [*value] if isinstance(value, tuple) else []


def key_of(message: Message) -> tuple[str, str | tuple[str, ...]]:
    """What tells a message from others."""
    return message.context or "", message.id if isinstance(message.id, str) else tuple(message.id)


def places(template: str) -> list[tuple[str, str, str]]:
    """The places of a template: name, form and conversion."""
    return sorted(
        (name, form or "", conversion or "")
        for _, name, form, conversion in string.Formatter().parse(template)
        if name is not None
    )


def test_catalogue_and_code_have_the_same_messages() -> None:
    """After a change of a text: `python tools/texts.py`, then the Chinese of what is new."""
    known = {key_of(message) for message in CATALOGUE if message.id}
    assert known == {key_of(message) for message in IN_CODE if message.id}
    assert not CATALOGUE.obsolete


def test_each_message_has_its_chinese() -> None:
    """With the same places for values; it is not a guess of a program."""
    faults = []
    for message in CATALOGUE:
        *_, english = forms(message.id)
        chinese = forms(message.string)
        is_sound = all(chinese) and {*map(tuple, map(places, chinese))} == {tuple(places(english))}
        if english and (message.fuzzy or not is_sound):
            faults.append((english, chinese))
    assert faults == []


def test_a_context_stands_only_where_two_wordings_need_it() -> None:
    """One English text has several Chinese ones."""
    wordings: dict[str, set[str]] = {}
    for message in CATALOGUE:
        wordings.setdefault(forms(message.id)[-1], set()).update(forms(message.string))
    needless = [one.id for one in CATALOGUE if one.context and len(wordings[forms(one.id)[-1]]) < 2]
    assert needless == []


def test_a_message_is_written_where_it_is_worded() -> None:
    """As a text itself: what stands in a variable is found by no extraction."""
    found = [
        (path.relative_to(ROOT), node.lineno)
        for path in CODE
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") in texts.KEYWORDS
        and {getattr(argument, "value", None).__class__ for argument in node.args} != {str}
    ]
    assert found == []


def test_code_holds_no_chinese() -> None:
    """Texts stand in the catalogue, knowledge in `patterns/`."""
    found = [
        (path.relative_to(ROOT), line)
        for path in CODE
        for line in path.read_text(encoding="utf-8").splitlines()
        if CHINESE.search(line)
    ]
    assert found == []


def test_both_forms_of_the_catalogue_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiled one of a wheel, the one that a checkout falls back to, and Babel's reading."""
    found = {}
    for suffix in (".po", ".mo"):
        folder = tmp_path / suffix
        folder.mkdir()
        texts.write_catalogue(CATALOGUE, folder / "postmortem.po")
        for other in folder.glob("*"):
            if other.suffix != suffix:
                other.unlink()
        monkeypatch.setattr(catalogue, "FOLDER", folder)
        catalogue.load_catalogue.cache_clear()
        found[suffix] = {
            key_of(message): catalogue.find_translation(forms(message.id)[0], message.context or "")
            for message in CATALOGUE
            if message.id
        }
    catalogue.load_catalogue.cache_clear()
    assert found[".po"] == found[".mo"]
    assert found[".po"] == {
        key_of(message): forms(message.string)[0] for message in CATALOGUE if message.id
    }


@pytest.mark.parametrize(
    ("source", "compiled", "wanted"),
    [
        pytest.param(None, None, "failed", id="none"),
        pytest.param(2, None, "source", id="a checkout"),
        pytest.param(None, 1, "失败", id="a wheel"),
        pytest.param(2, 1, "source", id="compiled before a change"),
        pytest.param(1, 2, "失败", id="compiled after it"),
    ],
)
def test_the_newer_catalogue_is_read(
    source: int | None,
    compiled: int | None,
    wanted: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the times of its files; without any, the text is English."""
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    texts.write_catalogue(CATALOGUE, tmp_path / "postmortem.po")
    (tmp_path / "postmortem.po").write_text('msgid "failed"\nmsgstr "source"\n', encoding="utf-8")
    for suffix, time in ((".po", source), (".mo", compiled)):
        path = tmp_path / f"postmortem{suffix}"
        os.utime(path, (time, time)) if time else path.unlink()
    catalogue.load_catalogue.cache_clear()
    assert catalogue.find_translation("failed") == wanted
    catalogue.load_catalogue.cache_clear()


def test_a_start_reads_no_catalogue() -> None:
    """Not even where modules keep messages as constants."""
    script = (
        "import postmortem.core.catalogue as catalogue\n"
        "import postmortem.interfaces.cli, postmortem.report.words, postmortem.pipeline\n"
        "import postmortem.report.manual.entries, postmortem.diagnosis.story.notes\n"
        "assert catalogue.load_catalogue.cache_info().misses == 0"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)
