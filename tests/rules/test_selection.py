"""A path of rules is checked alone, against all rules of the folder that it belongs to."""

from pathlib import Path

import pytest

from postmortem.core.errors import UsageError
from postmortem.rules.check import find_faults, select_rules

SIGNATURE = """\
id: {name}
title: {{en: one, zh: 一个}}
anchors: ['plinth: volume']
match: 'plinth: volume \\w+'
role: {role}
examples:
  fires: [{{text: 'plinth: volume lost'}}]
  silent: [{{text: x, because: it is another}}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a sound rule, and one with a role that there is not."""
    for name, role in (("sound", "warning"), ("wrong", "nonsense")):
        path = tmp_path / "rules" / "signatures" / name / f"{name}.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(SIGNATURE.format(name=f"mine.{name}", role=role), encoding="utf-8")
    (tmp_path / "rules" / "metrics.yaml").write_text("[]\n", encoding="utf-8")
    (tmp_path / "rules" / "README.md").write_text("rules\n", encoding="utf-8")
    return tmp_path / "rules"


@pytest.mark.parametrize(
    ("path", "files"),
    [
        pytest.param(
            ".",
            {"signatures/sound/sound.yaml", "signatures/wrong/wrong.yaml", "metrics.yaml"},
            id="a folder of rules",
        ),
        pytest.param(
            "signatures",
            {"signatures/sound/sound.yaml", "signatures/wrong/wrong.yaml"},
            id="one kind",
        ),
        pytest.param("signatures/sound", {"signatures/sound/sound.yaml"}, id="an area"),
        pytest.param("signatures/wrong/wrong.yaml", {"signatures/wrong/wrong.yaml"}, id="a file"),
        pytest.param("metrics.yaml", {"metrics.yaml"}, id="a table"),
    ],
)
def test_files_of_a_path(
    folder: Path, path: str, files: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for a path from here and a whole one."""
    found = select_rules([folder / path])
    assert found.files == files
    assert [root.resolve() for root in found.folders] == [folder.resolve()]
    monkeypatch.chdir(folder.parent)
    assert select_rules([Path("rules") / path]).files == files
    monkeypatch.chdir(folder / "signatures")
    assert select_rules([Path("sound/sound.yaml")]).files == {"signatures/sound/sound.yaml"}


def test_a_file_of_no_rules_is_refused(folder: Path) -> None:
    """The message names the folders in which rules lie."""
    with pytest.raises(UsageError, match="no file of rules"):
        select_rules([folder / "README.md"])


def test_faults_of_the_chosen_file_alone(folder: Path) -> None:
    """The wrong rule next to it is not named; an id that stands in both is."""

    def find(path: str) -> list[str]:
        selection = select_rules([folder / path])
        return [str(fault.what) for fault in find_faults(selection.folders, (), selection.files)]

    assert find("signatures/sound") == []
    assert find("metrics.yaml") == []
    assert any("role" in what for what in find("signatures/wrong"))
    wrong = folder / "signatures" / "wrong" / "wrong.yaml"
    wrong.write_text(SIGNATURE.format(name="mine.sound", role="warning"), encoding="utf-8")
    for path in ("signatures/sound", "signatures/wrong", "."):
        assert find(path) == ["the id mine.sound stands twice"]
