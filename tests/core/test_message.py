"""A sentence is worded in both languages; what fills it follows its language."""

import pickle

import pytest

from postmortem.core.errors import InputError
from postmortem.core.findings import ProcessId
from postmortem.core.message import Message, add_label, join_list, quote, say, say_count, say_in


@pytest.mark.parametrize(
    ("said", "en", "zh"),
    [
        pytest.param(
            Message(
                "loss {value:.3g} at {place}",
                "loss 为 {value:.3g}（{place}）",
                {"value": 2.71828, "place": say("line {line}", line=7)},
            ),
            "loss 2.72 at line 7",
            "loss 为 2.72（第 7 行）",
            id="within another",
        ),
        pytest.param(
            add_label(Message("out of memory", "显存不足"), "RuntimeError: 3 {GiB}"),
            "out of memory: RuntimeError: 3 {GiB}",
            "显存不足：RuntimeError: 3 {GiB}",
            id="a colon of ours, one of the log",
        ),
        pytest.param(
            join_list([Message("one", "一"), quote("{two}")]),
            "one, {two}",
            "一、{two}",
            id="a list",
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
    "said",
    [
        Message("a pipe", "管道"),
        say("line {line}", line=2),
        say_in("list", ", "),
        say_count("{count} line", "{count} lines", count=1),
        join_list([say("line {line}", line=2), quote("2")]),
    ],
)
def test_an_error_that_says_it_passes_between_processes(said: Message) -> None:
    """With its sentence, in both languages."""
    again = pickle.loads(pickle.dumps(InputError(said, "run.log")))  # noqa: S301 -- our own
    assert again.what == said
    assert again.what.both() == said.both()
    assert str(again) == str(InputError(said, "run.log"))


def test_a_count_of_one_has_its_own_english() -> None:
    """Chinese has one wording for both."""
    texts = [say_count("{count} line", "{count} lines", count=count).both() for count in (1, 2)]
    assert texts == [("1 line", "1 行"), ("2 lines", "2 行")]


@pytest.mark.parametrize(
    ("one", "other", "are_equal"),
    [
        pytest.param(say("failed"), Message("failed", "失败"), True, id="looked up or given"),
        pytest.param(say("failed"), say_in("replay", "failed"), False, id="another context"),
        pytest.param(say("line {line}", line=1), say("line {line}", line=2), False, id="values"),
        pytest.param(say("no such wording"), quote("no such wording"), True, id="no Chinese"),
        pytest.param(say("failed"), "failed", False, id="a text"),
    ],
)
def test_messages_are_equal_by_what_they_say(
    one: Message, other: object, *, are_equal: bool
) -> None:
    """Wherever their Chinese comes from."""
    assert (one == other, one != other) == (are_equal, not are_equal)
    assert not are_equal or hash(one) == hash(other)
