"""`postmortem notify`: what arrives at a webhook over HTTP, and what is said when it is refused."""

import base64
import hashlib
import hmac
import json
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import standardwebhooks

from postmortem.interfaces.cli import main
from postmortem.report.wire import read_schema
from tests.interfaces.notify.hook_server import Hook
from tests.loopback_http import Reply

ROOT = Path(__file__).resolve().parents[3]
LOG = ROOT / "sample_logs" / "deepspeed" / "scale-exhausted-yi.log"
CAUSE = "numerics.loss-scale-exhausted"
HEALTHY = ROOT / "sample_logs" / "accelerate" / "healthy-loop-0.log"


class NotifyRunner:
    """Runs the command and gives its exit status and what it said."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Take what listens to the streams."""
        self._capsys = capsys

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        """Run it."""
        with pytest.raises(SystemExit) as ended:
            main(["notify", *map(str, arguments)])
        out, err = self._capsys.readouterr()
        return int(ended.value.code or 0), out, err


@pytest.fixture
def notify(capsys: pytest.CaptureFixture[str]) -> NotifyRunner:
    """The command."""
    return NotifyRunner(capsys)


@pytest.fixture(autouse=True)
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between tries, which take no time."""
    found: list[float] = []
    monkeypatch.setattr("postmortem.interfaces.notify.posting.post.__defaults__", (found.append,))
    return found


def sent(hook: Hook) -> Any:
    """The body of the only request."""
    (one,) = hook.arrived
    return json.loads(one.body)


@pytest.mark.parametrize("kind", ["slack", "mattermost", "rocketchat"])
def test_a_chat_like_slack_gets_a_text(kind: str, hook: Hook, notify: NotifyRunner) -> None:
    """The verdict, its place and the first fix; links are not unfolded."""
    status, out, err = notify(kind, LOG)
    assert (status, out) == (0, "")
    body = sent(hook)
    assert body.keys() == {"text", "unfurl_links", "unfurl_media"}
    assert body["text"].startswith("\U0001f534 postmortem: scale-exhausted-yi.log, failed: ")
    assert CAUSE in body["text"]
    assert "scale-exhausted-yi.log:19" in body["text"]
    assert not body["unfurl_links"]
    assert "127.0.0.1" in err
    assert "hush-hush" not in err


def test_feishu_gets_text_signed_in_its_body(
    hook: Hook, notify: NotifyRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HMAC-SHA256 of nothing, with time and secret as its key."""
    monkeypatch.setenv("POSTMORTEM_WEBHOOK_SECRET", "Feishu-Secret")
    hook.replies = [Reply(body=b'{"code":0,"msg":"success","data":{}}')]
    status, _, _ = notify("feishu", LOG, "--lang", "zh")
    body = sent(hook)
    assert status == 0
    assert body["msg_type"] == "text"
    assert "失败" in body["content"]["text"]
    key = f"{body['timestamp']}\nFeishu-Secret".encode()
    wanted = base64.b64encode(hmac.new(key, b"", hashlib.sha256).digest()).decode()
    assert body["sign"] == wanted
    assert abs(int(body["timestamp"]) - time.time()) < 60


def test_dingtalk_is_signed_in_its_address(
    hook: Hook, notify: NotifyRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Milliseconds and signature join the token that the address has; nobody is mentioned."""
    monkeypatch.setenv("POSTMORTEM_WEBHOOK", hook.address("/robot/send?access_token=hush-hush"))
    monkeypatch.setenv("POSTMORTEM_WEBHOOK_SECRET", "SEC-of-ding")
    hook.replies = [Reply(body=b'{"errcode":0,"errmsg":"ok"}')]
    status, _, _ = notify("dingtalk", LOG)
    (one,) = hook.arrived
    assert (status, one.path, one.query["access_token"]) == (0, "/robot/send", "hush-hush")
    over = f"{one.query['timestamp']}\nSEC-of-ding".encode()
    wanted = base64.b64encode(hmac.new(b"SEC-of-ding", over, hashlib.sha256).digest()).decode()
    assert one.query["sign"] == wanted
    assert abs(int(one.query["timestamp"]) / 1000 - time.time()) < 60
    body = json.loads(one.body)
    assert body["msgtype"] == "text"
    assert body["at"] == {"atMobiles": [], "atUserIds": [], "isAtAll": False}
    assert CAUSE in body["text"]["content"]


def test_wecom_gets_no_more_than_it_takes(hook: Hook, notify: NotifyRunner) -> None:
    """2048 bytes of text, in the script that takes most of them."""
    hook.replies = [Reply(body=b'{"errcode":0,"errmsg":"ok"}')]
    link = "https://ci.example.org/" + "r" * 470
    status, _, _ = notify("wecom", LOG, "--lang", "zh", "--name", "名" * 400, "--link", link)
    body = sent(hook)
    assert (status, body["msgtype"]) == (0, "text")
    assert len(body["text"]["content"].encode()) <= 2048
    assert body["text"]["content"].endswith(link)


def test_a_program_gets_the_documented_value(
    hook: Hook, notify: NotifyRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`postmortem.notice/1`, with a signature that the library of Standard Webhooks accepts."""
    secret = "whsec_" + base64.b64encode(b"k" * 32).decode()
    monkeypatch.setenv("MY_SECRET", secret)
    status, _, _ = notify("json", LOG, "--secret", "env:MY_SECRET", "--link", "https://x.org/r")
    (one,) = hook.arrived
    value = standardwebhooks.Webhook(secret).verify(one.body, one.headers)
    jsonschema.validate(value, json.loads(read_schema("notice")))
    assert status == 0
    assert value["verdict"]["cause"] == CAUSE
    assert (value["triage"], value["link"]) == (None, "https://x.org/r")
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(secret).verify(one.body + b" ", one.headers)


def test_without_a_secret_nothing_is_signed(hook: Hook, notify: NotifyRunner) -> None:
    """The number and the time of a message are there all the same."""
    assert notify("json", LOG)[0] == 0
    headers = hook.arrived[0].headers
    assert "webhook-signature" not in headers
    assert headers["webhook-id"].startswith("msg_")


def test_an_analysis_that_was_kept_is_told(
    hook: Hook, notify: NotifyRunner, tmp_path: Path
) -> None:
    """The log is not needed; the run has the log's name."""
    kept = tmp_path / "kept.json"
    with pytest.raises(SystemExit):
        main(["analyze", str(LOG), "--format", "analysis", "-o", str(kept)])
    assert notify("slack", kept)[0] == 0
    assert "scale-exhausted-yi.log" in sent(hook)["text"]


def test_a_busy_webhook_is_asked_again(hook: Hook, notify: NotifyRunner, naps: list[float]) -> None:
    """After as long as it asks for, else after a moment; a fault of its own counts as busy."""
    hook.replies = [Reply(429, headers={"Retry-After": "7"}), Reply(503)]
    assert notify("slack", LOG)[0] == 0
    assert len(hook.arrived) == 3
    assert naps == [7.0, 4.0]


def test_a_webhook_that_stays_busy_is_left(
    hook: Hook, notify: NotifyRunner, naps: list[float]
) -> None:
    """Three tries; one that asks for more than a minute is not waited for."""
    hook.replies = [Reply(500)] * 3
    status, _, err = notify("slack", LOG)
    assert (status, len(hook.arrived), naps) == (2, 3, [1.0, 4.0])
    assert "answered 500" in err
    hook.replies = [Reply(429, headers={"Retry-After": "3600"})]
    status, _, err = notify("slack", LOG)
    assert (status, len(hook.arrived), len(naps)) == (2, 4, 2)
    assert "3600 s" in err


@pytest.mark.parametrize(
    ("kind", "reply", "said"),
    [
        ("slack", Reply(404, b"no_service"), "make a new one"),
        ("slack", Reply(400, b"hush-hush"), "answered 400"),
        ("slack", Reply(302, headers={"Location": "/else"}), "redirections are not followed"),
        ("feishu", Reply(body=b'{"code":19021,"msg":"hush-hush"}'), "look at the secret"),
        ("lark", Reply(body=b'{"code":19024,"msg":"Key Words Not Found"}'), "its keyword"),
        ("dingtalk", Reply(body=b'{"errcode":310000,"errmsg":"hush-hush"}'), "its keyword"),
        ("wecom", Reply(body=b'{"errcode":93000,"errmsg":"hush-hush"}'), "no such bot"),
        ("wecom", Reply(body=b'{"errcode":-1}'), "error -1"),
        ("wecom", Reply(body=b"<html>hush-hush"), "not what such a bot answers"),
        ("dingtalk", Reply(body=b"[" * 100_000), "not what such a bot answers"),
    ],
)
def test_a_refusal_is_told_without_the_secret(
    kind: str, reply: Reply, said: str, hook: Hook, notify: NotifyRunner
) -> None:
    """Once, in words of ours; what the server says is not repeated."""
    hook.replies = [reply]
    status, out, err = notify(kind, LOG)
    assert (status, out, len(hook.arrived)) == (2, "", 1)
    assert said in err
    assert "hush-hush" not in err


def test_feishu_that_takes_too_much_at_once_is_asked_again(
    hook: Hook, notify: NotifyRunner, naps: list[float]
) -> None:
    """It answers 200 with a number."""
    hook.replies = [Reply(body=b'{"code":11232}'), Reply(body=b'{"StatusCode":0}')]
    assert notify("feishu", LOG)[0] == 0
    assert (len(hook.arrived), naps) == (2, [1.0])


def test_a_webhook_that_is_not_there(
    notify: NotifyRunner, monkeypatch: pytest.MonkeyPatch, naps: list[float]
) -> None:
    """Three tries, one line."""
    monkeypatch.setenv("POSTMORTEM_WEBHOOK", "http://127.0.0.1:9/hush-hush")
    status, _, err = notify("slack", LOG)
    assert (status, len(naps)) == (2, 2)
    assert "127.0.0.1 cannot be reached" in err
    assert "hush-hush" not in err


@pytest.mark.parametrize(
    "address",
    ["http://hooks.example.org/hush-hush", "hush-hush", "https://xn--hush-hush.-/x", "https://[hush/x", "ftp://x/hush-hush", "https://", "",
     "https://x.org:99999/hush-hush", "https://x.org/hush hush", "https://x.org/\nhush-hush"],
)  # fmt: skip
def test_an_address_that_is_none_is_not_repeated(
    address: str, notify: NotifyRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor one that would send the secret in the clear."""
    monkeypatch.setenv("POSTMORTEM_WEBHOOK", address)
    status, _, err = notify("slack", LOG)
    assert status == 2
    assert "POSTMORTEM_WEBHOOK" in err
    assert "hush" not in err


def test_the_address_never_stands_on_the_command_line(notify: NotifyRunner) -> None:
    """One that does is refused and not repeated."""
    status, _, err = notify("https://hooks.slack.com/services/hush-hush", LOG)
    assert status == 2
    assert "command line" in err
    assert "hush-hush" not in err
    status, _, err = notify("slack", LOG, "--url", "https://hooks.slack.com/services/hush-hush")
    assert status == 2
    assert "env:NAME" in err
    assert "hush-hush" not in err


def test_secrets_come_from_files(
    hook: Hook, notify: NotifyRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line each; anything else is refused and not repeated."""
    monkeypatch.delenv("POSTMORTEM_WEBHOOK")
    url, secret, wrong = tmp_path / "url", tmp_path / "secret", tmp_path / "wrong"
    url.write_text(hook.address() + "\n")
    secret.write_text("a secret\n")
    wrong.write_text("hush-hush\nhush-hush\n")
    assert notify("json", LOG, "--url", f"file:{url}", "--secret", f"file:{secret}")[0] == 0
    assert "webhook-signature" in hook.arrived[0].headers
    status, _, err = notify("json", LOG, "--url", f"file:{wrong}")
    assert status == 2
    assert "one line" in err
    assert "hush-hush" not in err


TARGETS = """
team: {kind: feishu, url: "env:TEAM_URL", secret: "file:team.secret", lang: zh}
open: {kind: slack, url: "{url}"}
bad: {kind: slack, urll: "hush-hush"}
"""


def test_targets_have_names(
    hook: Hook, notify: NotifyRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kind, places of the secrets, and language stand in a file."""
    file = tmp_path / "targets.yaml"
    file.write_text(TARGETS.replace("{url}", hook.address()))
    file.chmod(0o644)
    (tmp_path / "team.secret").write_text("s")
    monkeypatch.setenv("TEAM_URL", hook.address("/team"))
    monkeypatch.setenv("POSTMORTEM_TARGETS", str(file))
    hook.replies = [Reply(body=b'{"code":0}')]
    assert notify("team", LOG)[0] == 0
    body = sent(hook)
    assert "失败" in body["content"]["text"]
    assert "sign" in body
    status, _, err = notify("open", LOG)
    assert (status, hook.arrived[1].path) == (0, "/services/T0/B0/hush-hush")
    assert "chmod 600" in err
    status, _, err = notify("bad", LOG)
    assert status == 2
    assert "urll" in err
    assert "hush-hush" not in err
    status, _, err = notify("nobody", LOG, "--targets", file)
    assert status == 2
    assert "team, open, bad" in err


def test_a_dry_run_needs_no_address_and_sends_nothing(
    hook: Hook, notify: NotifyRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The body is printed."""
    monkeypatch.delenv("POSTMORTEM_WEBHOOK")
    status, out, _ = notify("slack", LOG, "--dry-run")
    assert (status, hook.arrived) == (0, [])
    assert CAUSE in json.loads(out)["text"]


def test_only_a_failure_is_told(hook: Hook, notify: NotifyRunner) -> None:
    """A healthy run sends nothing with `--only-if failed`."""
    assert notify("slack", HEALTHY, "--only-if", "failed")[0] == 0
    assert hook.arrived == []
    assert notify("slack", LOG, "--only-if", "failed")[0] == 0
    assert len(hook.arrived) == 1


def overview(**changed: Any) -> dict[str, Any]:
    """The overview of a triage, as far as a message tells of it."""
    group = {"id": "g1", "cause": CAUSE, "jobs": 3, "is_new": True}
    group["title"] = {"en": "Loss scale on node-17.corp.example.com", "zh": "降到下限"}
    totals = dict.fromkeys(("jobs", "judged", "analyses", "not_judged", "unclassified"), 4)
    totals |= {"healthy": 1, "gpu_hours": None, "lost_gpu_hours": 12.5, "left_out": 0}
    bare = {"id": "g0", "cause": None, "title": {"en": "<!channel>", "zh": "x"}}
    groups = [group | {"cause": "healthy.completed", "jobs": 9}] + [group] * 6
    groups.append(bare | {"jobs": 1, "is_new": False})
    return {"schema": "postmortem.triage/1", "since": None, "totals": totals, "groups": groups} | (
        changed
    )


def test_a_triage_is_told_by_its_largest_groups(
    hook: Hook, notify: NotifyRunner, tmp_path: Path
) -> None:
    """Counts and five groups; as JSON it is of the schema."""
    (tmp_path / "overview.json").write_text(json.dumps(overview()))
    assert notify("slack", "--triage", tmp_path)[0] == 0
    text = sent(hook)["text"]
    assert "triage of 4 jobs: 7 groups of failures\n" in text
    assert "9 ×" not in text
    assert "13 GPU-hours" in text or "12 GPU-hours" in text
    assert text.count("3 × Loss scale") == 5
    assert "and 2 more groups" in text
    assert "corp.example.com" not in text
    assert notify("json", "--triage", tmp_path)[0] == 0
    value = json.loads(hook.arrived[1].body)
    jsonschema.validate(value, json.loads(read_schema("notice")))
    assert (value["verdict"], value["triage"]["new_groups"]) == (None, None)


def test_a_triage_without_news_is_not_told(
    hook: Hook, notify: NotifyRunner, tmp_path: Path
) -> None:
    """`--only-if new` needs a group that the triage before did not have."""
    old = [group | {"is_new": False} for group in overview()["groups"]]
    since = {"since": "2026-11-01T00:00:00"}
    (tmp_path / "overview.json").write_text(json.dumps(overview(groups=old, **since)))
    assert notify("slack", "--triage", tmp_path, "--only-if", "new")[0] == 0
    assert hook.arrived == []
    (tmp_path / "overview.json").write_text(json.dumps(overview(**since)))
    assert notify("slack", "--triage", tmp_path, "--only-if", "new")[0] == 0
    assert "6 of them new" in sent(hook)["text"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"schema": "postmortem.report/1"}',
        '{"schema": "postmortem.triage/1", "groups": [{}]}',
        '{"schema": "postmortem.triage/1", "groups": 1}',
        "[" * 100_000,
    ],
)
def test_a_folder_of_no_triage(text: str, notify: NotifyRunner, tmp_path: Path) -> None:
    """One line says what is wrong."""
    (tmp_path / "overview.json").write_text(text)
    status, _, err = notify("slack", "--triage", tmp_path, "--dry-run")
    assert (status, err.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "https://x.org/<!channel>", "https://x.org/a|b", "x" * 600]
)
def test_a_link_is_an_address(link: str, notify: NotifyRunner) -> None:
    """Anything that a chat could read as more is refused."""
    assert notify("slack", LOG, "--dry-run", "--link", link)[0] == 2
