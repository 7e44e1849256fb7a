"""Comments of a snippet in the language of the report: the code around them stays as it is."""

from pathlib import Path

import pytest

from postmortem.core.message import Message
from postmortem.rules import check
from postmortem.rules.cause_rules import Snippet, find_unknown_comments, translate_comments

FIX = """\
- id: memory.example
  causes: [memory.cuda-oom]
  kind: check
  title: {en: Look, zh: 查看}
  why: {en: So that it is seen., zh: 看一眼便知。}
  safety: safe
  snippets:
    any: {language: bash, code: 'nvidia-smi   # on the node', zh: {'KEY': '在该节点上'}}
"""


@pytest.mark.parametrize(
    ("text", "zh", "said"),
    [
        pytest.param(
            "x = 1   # seconds\ny = 'seconds'   # seconds or minutes",
            {"seconds": "秒"},
            "x = 1   # 秒\ny = 'seconds'   # seconds or minutes",
            id="the whole comment, nowhere else",
        ),
        pytest.param(
            "#SBATCH --mem=0   # all of the node",
            {"all of the node": r"整个节点 \1"},
            r"#SBATCH --mem=0   # 整个节点 \1",
            id="behind another mark, taken as it stands",
        ),
        pytest.param(
            "gpus=4 -> devices=4\nuse one",
            {"use one": "只用一个"},
            "gpus=4 -> devices=4\n只用一个",
            id="a line of prose",
        ),
        pytest.param(
            'ls "<path from the message>"',
            {"<path from the message>": "<报错信息中的路径>"},
            'ls "<报错信息中的路径>"',
            id="a place to fill",
        ),
    ],
)
def test_comments_are_said_in_chinese(text: str, zh: dict[str, str], said: str) -> None:
    """English is what is written; a comment is replaced as a whole."""
    snippet = Snippet("text", text, zh)
    assert (translate_comments(snippet), list(find_unknown_comments(snippet))) == (
        Message(text, said),
        [],
    )


@pytest.mark.parametrize(
    ("key", "faults"), [("on the node", []), ("on a node", ["on a node"]), ("node", ["node"])]
)
def test_a_translation_of_no_comment_is_a_fault(
    tmp_path: Path, key: str, faults: list[str]
) -> None:
    """A comment that was changed takes its Chinese form with it, or the check says so."""
    (tmp_path / "fixes").mkdir()
    (tmp_path / "fixes" / "memory.yaml").write_text(FIX.replace("KEY", key), encoding="utf-8")
    built_in = Path(__file__).resolve().parents[3] / "patterns"
    found = check.find_faults([tmp_path], [built_in])
    assert [fault.what for fault in found] == [
        f"memory.example: the snippet any has no comment {one!r}" for one in faults
    ]
