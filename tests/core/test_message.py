"""A sentence is worded in both languages; what fills it follows its language."""

import pickle

import pytest

from postmortem.core.errors import InputError
from postmortem.core.lines import ProcessId
from postmortem.core.message import Message, add_label, join_list, quote, say


@pytest.mark.parametrize(
    ("said", "en", "zh"),
    [
        pytest.param(
            say(
                "loss {value:.3g} at {place}",
                "loss 为 {value:.3g}（{place}）",
                value=2.71828,
                place=say("step {step}", "第 {step} 步", step=7),
            ),
            "loss 2.72 at step 7",
            "loss 为 2.72（第 7 步）",
            id="within another",
        ),
        pytest.param(
            add_label(say("out of memory", "显存不足"), "RuntimeError: 3 {GiB}"),
            "out of memory: RuntimeError: 3 {GiB}",
            "显存不足：RuntimeError: 3 {GiB}",
            id="a colon of ours, one of the log",
        ),
        pytest.param(
            join_list([say("one", "一"), quote("{two}")]), "one, {two}", "一、{two}", id="a list"
        ),
        pytest.param(join_list([]), "", "", id="an empty list"),
        pytest.param(
            ProcessId(3, None, "node-2").describe(),
            "rank 3 on node-2",
            "rank 3（节点 node-2）",
            id="a process",
        ),
        pytest.param(ProcessId(node="node-2").describe(), "on node-2", "节点 node-2", id="a node"),
        pytest.param(ProcessId(pid=12).describe(), "pid 12", "pid 12", id="a pid"),
    ],
)
def test_a_sentence_in_both_languages(said: Message, en: str, zh: str) -> None:
    """A language that is not known gets English, as text made without asking does."""
    assert (said.text("en"), said.text("zh"), said.text("fr"), str(said)) == (en, zh, en, en)


@pytest.mark.parametrize(
    "said", [say("a pipe", "管道"), say("{count} files", "{count} 个文件", count=2)]
)
def test_an_error_that_says_it_passes_between_processes(said: Message) -> None:
    """With its sentence, in both languages."""
    again = pickle.loads(pickle.dumps(InputError(said, "run.log")))  # noqa: S301 -- our own
    assert again.what == said
    assert str(again) == str(InputError(said, "run.log"))
