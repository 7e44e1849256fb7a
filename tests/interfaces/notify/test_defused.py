"""Text of a log in a message mentions nobody, links nowhere and gives nothing away."""

import json
import re
from pathlib import Path

import pytest

from postmortem.interfaces.notify.webhooks import KINDS
from postmortem.pipeline import run_pipeline
from postmortem.report.display import translate_analysis
from postmortem.report.notice import Notice, build_verdict_notice

HOSTILE = (
    "<!channel> <!here|here> <@U012AB3CD> <#C024BE7LR> <!subteam^SAZ94GDB8> @all @channel @here"
    " https://evil.example <https://evil.example|click> &lt;!channel&gt; mailto:a@b.org"
    ' ![x](http://evil.example/x.png) [click](evil) www.evil.example <at user_id="all">x</at>'
    " <@userid> \x1b[31m\u202e\n> quoted"
)
CHATS = [kind for kind in KINDS if kind != "json"]


def text_for(kind: str, notice: Notice) -> str:
    """The text that a chat is sent."""
    body = json.loads(KINDS[kind].build(notice, "", 0.0).body)
    return str(body.get("text", {}).get("content") if kind in {"dingtalk", "wecom"} else (
        body["content"]["text"] if kind in {"feishu", "lark"} else body["text"]
    ))  # fmt: skip


def notice_of(tmp_path: Path, text: str) -> Notice:
    """The message of a run whose path and log say what they like."""
    log = tmp_path / "run.log"
    log.write_text(f"step 1 loss 2.0\nRuntimeError: {text}\n", encoding="utf-8")
    return build_verdict_notice(
        translate_analysis(run_pipeline([str(log)], model=None), "en"), name=text
    )


@pytest.mark.parametrize("kind", CHATS)
def test_nothing_is_active(kind: str, tmp_path: Path) -> None:
    """No tag, mention, address or picture is left whole; the breaks of lines are ours."""
    notice = notice_of(tmp_path, HOSTILE)
    text = text_for(kind, notice)
    assert not re.search(r"@\w|://|www\.|<[!@#/a-z]|!\[|\]\(|mailto:", text)
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", text)
    assert text.count("\n") <= len(notice.lines)
    if kind in {"slack", "mattermost", "rocketchat"}:
        assert "<" not in text
        assert not re.search(r"&(?!amp;|lt;|gt;)", text)
        assert "&amp;lt;!channel" in text


def test_secrets_are_hidden(tmp_path: Path) -> None:
    """In the name of the run too."""
    secret = "hf_" + "aZ3" * 12
    notice = notice_of(tmp_path, f"401 for token {secret} of alice@corp.example.com")
    everything = json.dumps(notice.wire()) + "".join(text_for(kind, notice) for kind in CHATS)
    assert secret not in everything
    assert "alice@corp" not in everything


@pytest.mark.parametrize("kind", CHATS)
def test_a_message_is_short(kind: str, tmp_path: Path) -> None:
    """Whatever the log says: the headline stays, lines are left out."""
    text = text_for(kind, notice_of(tmp_path, "@名" * 20_000))
    assert len(text.encode()) <= (2_000 if kind == "wecom" else 8_000)
    assert text.startswith(("\U0001f534 postmortem: ", "\U0001f7e1 postmortem: "))
