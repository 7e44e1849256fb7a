"""What `redaction.redactor` hides, what it leaves alone, and that it stays linear."""

import random
import re
import string
import time

import pytest

from postmortem.report.redaction import private_keys
from postmortem.report.redaction.hiding import build_linear_pattern
from postmortem.report.redaction.redactor import _RULES, KINDS, Redactor
from tests.planted import look_alikes, planted

HEX_40 = "0123456789abcdef0123456789abcdef01234567"
BORING = [f"train/loss_{number}" for number in range(40)]
LETTERS = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        pytest.param(
            f"export HF_TOKEN=hf_{LETTERS}", "export HF_TOKEN=secret-1", id="hugging face token"
        ),
        pytest.param(f"key sk-{LETTERS} used", "key secret-1 used", id="openai key"),
        pytest.param(f"sk-proj-{LETTERS}-x1", "secret-1", id="openai project key"),
        pytest.param(f"ghp_{LETTERS}", "secret-1", id="github token"),
        pytest.param(f"github_pat_{LETTERS}_{LETTERS}", "secret-1", id="github fine-grained token"),
        pytest.param("id AKIAIOSFODNN7EXAMPLE.", "id secret-1.", id="aws key id"),
        pytest.param(
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "aws_secret_access_key = secret-1",
            id="aws secret key",
        ),
        pytest.param(
            f"wandb login --relogin {HEX_40}", "wandb login --relogin secret-1", id="wandb login"
        ),
        pytest.param(
            f"WANDB_API_KEY={HEX_40} python x.py",
            "WANDB_API_KEY=secret-1 python x.py",
            id="wandb key",
        ),
        pytest.param(
            f"wandb: Paste an API key from your profile and hit enter: {HEX_40}",
            "wandb: Paste an API key from your profile and hit enter: secret-1",
            id="wandb prompt",
        ),
        pytest.param(
            "curl -H 'Authorization: Bearer abc.def-123456'",
            "curl -H 'Authorization: Bearer secret-1'",
            id="bearer",
        ),
        pytest.param(
            "'Authorization': 'Basic dXNlcjpwYXNz'", "'Authorization': 'Basic secret-1'", id="basic"
        ),
        pytest.param(
            "https://bob:pa55word@proxy.corp:8080/simple",
            "https://secret-1@host-1:8080/simple",
            id="password in a URL",
        ),
        pytest.param(
            f"git+https://{LETTERS}@github.com/x/y",
            "git+https://secret-1@github.com/x/y",
            id="token in a URL",
        ),
        pytest.param(
            "main.py --token abcdef --epochs 3", "main.py --token secret-1 --epochs 3", id="--token"
        ),
        pytest.param(
            "main.py --hub_token=abc123 --x", "main.py --hub_token=secret-1 --x", id="--hub_token="
        ),
        pytest.param("api_key='a1b2c3d4e5'", "api_key='secret-1'", id="api_key="),
        pytest.param('"password": "hunter2"', '"password": "secret-1"', id="password"),
        pytest.param(
            f"a eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{LETTERS}", "a secret-1", id="jwt"
        ),
        pytest.param(
            "https://x.s3.com/f?X-Amz-Signature=abcdef012345&y=1",
            "https://x.s3.com/f?X-Amz-Signature=secret-1&y=1",
            id="presigned URL",
        ),
        pytest.param(
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\nabc=\n-----END RSA PRIVATE"
            " KEY-----\nb",
            "a\n-----BEGIN RSA PRIVATE KEY-----\nsecret-1\n\n-----END RSA PRIVATE KEY-----\nb",
            id="private key",
        ),
        pytest.param(
            f"hub_token:\n  desc: null\n  value: {LETTERS}",
            "hub_token:\n  desc: null\n  value: secret-1",
            id="a value on a line of its own",
        ),
        pytest.param(
            f"hub_token:\n- {LETTERS}\nlr: 1",
            "hub_token:\n- secret-1\nlr: 1",
            id="a list with a value alone",
        ),
        pytest.param(
            "for Settings\nhub_token\n  Input should be a valid integer [type=int_type,"
            f" input_value='{LETTERS}', input_type=str]",
            "for Settings\nhub_token\n  Input should be a valid integer [type=int_type,"
            " input_value='secret-1', input_type=str]",
            id="pydantic refuses a value",
        ),
        pytest.param("mail bob.smith+x@mail.example.org now", "mail email-1 now", id="e-mail"),
        pytest.param("connect to 10.0.12.5:29500", "connect to ip-1:29500", id="IPv4 with a port"),
        pytest.param(
            "{'master_addr': '10.0.12.5'}", "{'master_addr': 'ip-1'}", id="IPv4 in a dict"
        ),
        pytest.param("eth0:192.168.0.137<0>", "eth0:ip-1<0>", id="NCCL interface"),
        pytest.param(
            "nccl 172.28.11.220:4000", "nccl ip-1:4000", id="a port tells an address from a version"
        ),
        pytest.param("peer [2001:db8::8a2e:370:7334]:29500", "peer [ip-1]:29500", id="IPv6"),
        pytest.param("fe80::1%eth0 up", "ip-1 up", id="link-local IPv6"),
        pytest.param("/home/alice/run.py", "/home/user-1/run.py", id="home"),
        pytest.param("/Users/alice.b", "/Users/user-1", id="mac home at the end"),
        pytest.param(
            r"C:\Users\John Smith\x.py", r"C:\Users\user-1\x.py", id="windows home with a blank"
        ),
        pytest.param(
            "C:\\\\Users\\\\bob\\\\x", "C:\\\\Users\\\\user-1\\\\x", id="windows home, escaped"
        ),
        pytest.param("bob@gpu01:~$ ls", "user-1@host-1:~$ ls", id="shell prompt"),
        pytest.param(
            "wandb: Currently logged in as: bob77. Use",
            "wandb: Currently logged in as: user-1. Use",
            id="wandb user",
        ),
        pytest.param(
            "wandb: Currently logged in as: bob77 (team-9)",
            "wandb: Currently logged in as: user-1 (user-2)",
            id="wandb user and team",
        ),
        pytest.param(
            "gpu17:49:51 [0] NCCL INFO Bootstrap",
            "host-1:49:51 [0] NCCL INFO Bootstrap",
            id="NCCL prefix",
        ),
        pytest.param(
            "  host      : gpu8.mgt.example.com", "  host      : host-1", id="torchelastic summary"
        ),
        pytest.param(
            "at ip-172-31-44-205.us-west-2.compute.internal ok", "at host-1 ok", id="EC2 name"
        ),
        pytest.param("MASTER_ADDR=gpu01 python", "MASTER_ADDR=host-1 python", id="master address"),
        pytest.param(
            "srun: error: gpu003: task 0: Killed", "srun: error: host-1: task 0: Killed", id="srun"
        ),
        pytest.param(
            "Start running, host: charlie@gpunode07, work_dir: /w",
            "Start running, host: user-1@host-1, work_dir: /w",
            id="mmcv",
        ),
        pytest.param(
            "host: charlie@quark", "host: user-1@host-1", id="mmcv on a host without a number"
        ),
        pytest.param(
            "root@518b9ea961fb:/workspace# python x.py",
            "root@host-1:/workspace# python x.py",
            id="container prompt",
        ),
        pytest.param("root@518b9ea961fb", "root@host-1", id="container"),
        pytest.param(
            "[bob@login2 run]$ python x.py",
            "[user-1@host-1 run]$ python x.py",
            id="bracketed prompt",
        ),
        pytest.param("ssh -A bob@quark", "ssh -A user-1@host-1", id="ssh"),
        pytest.param("alice@alice-laptop", "user-1@host-1", id="a laptop"),
        pytest.param(
            "bob@gpunode07.cluster.local", "user-1@host-1", id="a login is no e-mail address"
        ),
        pytest.param(
            "mail bob@mail01.example.org", "mail email-1", id="an e-mail address is no login"
        ),
        pytest.param(
            "cannot reach gpunode07.cluster.local", "cannot reach host-1", id="cluster.local"
        ),
        pytest.param(
            "via http://proxy.corp.example:3128/", "via http://host-1:3128/", id="corporate proxy"
        ),
        pytest.param(
            "gpu01.local node3.internal login.cluster storage.lan a17.hpc",
            "host-1 host-2 host-3 host-4 host-5",
            id="private suffixes",
        ),
        pytest.param(
            "connection from proxy.internal", "connection from host-1", id="a host without a number"
        ),
        pytest.param("head-0.ray.svc.cluster.local", "host-1", id="kubernetes service"),
        pytest.param(
            "https://gpu1.hpc.uni-x.edu/x", "https://host-1/x", id="a cluster within a university"
        ),
    ],
)
def test_secrets_addresses_and_names_are_hidden(text: str, hidden: str) -> None:
    """What gives people or machines away is replaced, the text around it stays.

    Doing it twice changes nothing.
    """
    redactor = Redactor()
    assert redactor.text(text) == hidden
    assert sum(redactor.counts.values()) >= 1
    assert set(redactor.counts) <= set(KINDS)
    assert Redactor().text(hidden) == hidden


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "--tokenizer_path /m --max_new_tokens 512 --eos_token </s>",
            id="token options that are no secrets",
        ),
        pytest.param("imagePullSecrets:\n- name: registry", id="a list of names"),
        pytest.param(
            "pad_token='<pad>', hub_token=<HUB_TOKEN>, token=151643",
            id="special tokens and placeholders",
        ),
        pytest.param("token: 7.549776e+07", id="a count of tokens"),
        pytest.param(
            "hf_hub_download() got an unexpected keyword, hf_transfer",
            id="names that begin with hf_",
        ),
        pytest.param("sk-learn-intelex-extension, task-0123456789abcdefghij", id="names with sk-"),
        pytest.param(f"commit {HEX_40}", id="a commit hash"),
        pytest.param(
            "api_key=api_key, token=self.token, hf_token=os.environ[x], password=None",
            id="source code",
        ),
        pytest.param("--token $HF_TOKEN --api-key None", id="a variable"),
        pytest.param("git@github.com:org/repo.git", id="git remote"),
        pytest.param("gcc@9.3.0 foo@libcudart.so @torch.no_grad", id="at signs"),
        pytest.param("opencv-python==4.8.1.78", id="pinned version"),
        pytest.param("nvidia-cublas-cu12        12.1.3.1", id="pip list"),
        pytest.param("OpenCV: 4.7.0.72", id="collect_env"),
        pytest.param(
            "Requirement already satisfied: opencv-python>=3 in ./lib (from mmengine) (4.7.0.72)",
            id="pip install",
        ),
        pytest.param("cuDNN version 8.9.2.26, NCCL version 2.18.1.1", id="library versions"),
        pytest.param("opencv_python-4.8.1.78-cp37-abi3.whl libcudnn.so.8.9.2.26", id="file names"),
        pytest.param("torch 2.5.0.1", id="torch of four parts"),
        pytest.param("stage4.2.fuse_layers.3.2.0.1.weight", id="module path"),
        pytest.param("127.0.0.1:29500 0.0.0.0 localhost [::1]:80 [::]:80", id="own machine"),
        pytest.param("300.1.2.3 1.2.3.04 1.2.3", id="no addresses"),
        pytest.param(
            "c10::Error at::native 12:00:01 00000000:3B:00.0", id="colons that are no IPv6"
        ),
        pytest.param(
            "/home/user/project /home/ubuntu /root/x /Users/Shared", id="accounts that name nobody"
        ),
        pytest.param("HTTPSConnectionPool(host='huggingface.co', port=443)", id="public host"),
        pytest.param(
            "https://pytorch.org/docs github.com docs.python.org pypi.org"
            " https://docs.hpc.shef.ac.uk/x https://docs.nvidia.com",
            id="public hosts",
        ),
        pytest.param(
            "git+https://github.com/huggingface/transformers@main react@latest pkg@1.0 pkg@rc1"
            " transformers@518b9ea961fb",
            id="pinned revisions",
        ),
        pytest.param("pytorch/pytorch@sha256:abcdef img@sha256:abc", id="image digests"),
        pytest.param("acc@1 mAP@0.5 recall@top10 eval/ndcg@10 mAP@IoU50 pass@k", id="metrics"),
        pytest.param(
            "memcpy@GLIBC_2.14 malloc@plt abort@libc6 q@k attn@v x@W1 user@1000.service",
            id="symbols and products",
        ),
        pytest.param(
            "from sklearn.cluster import KMeans; scipy.cluster, cannot import name 'x' from"
            " 'foo.internal'",
            id="modules named cluster",
        ),
        pytest.param(
            "google.protobuf.internal.builder google.protobuf.internal threading.local() self.local"
            " torch.testing._internal",
            id="modules named internal",
        ),
        pytest.param(
            "settings.local config.local.yaml .env.local /etc/rc.local conf/config.example"
            " model.layers.0.local.weight",
            id="files and weights",
        ),
        pytest.param(
            "localhost.localdomain host.docker.internal http://proxy.example:3128",
            id="own machine, with a domain",
        ),
        pytest.param("HTTP 401: Bearer authentication failed", id="the word bearer"),
        pytest.param("{'loss': 2.31, 'grad_norm': nan, 'learning_rate': 4.5e-05}", id="a record"),
    ],
)
def test_what_gives_nothing_away_is_left_alone(text: str) -> None:
    """Versions, special tokens, hashes and module paths are evidence and stay readable."""
    redactor = Redactor()
    assert redactor.text(text) == text
    assert redactor.counts == {}


def test_a_name_keeps_its_pseudonym_within_a_report() -> None:
    """The same user, address or token is the same pseudonym each time, another one is another."""
    redactor = Redactor()
    assert (
        redactor.text("/home/alice/a /home/bob/b /home/alice/c")
        == "/home/user-1/a /home/user-2/b /home/user-1/c"
    )
    assert redactor.text("10.0.0.5, 10.0.0.6, 10.0.0.5") == "ip-1, ip-2, ip-1"
    assert redactor.counts == {"ip": 2, "user": 2}


def test_hosts_that_the_reader_found_are_hidden_in_texts() -> None:
    """A node's name goes with its domain, a file name around it stays.

    Longer names win over their parts; a bare number names no machine.
    """
    redactor = Redactor()
    redactor.learn(["gpu-a17.hpc.example.org", "node-1", "gpu-node-1", "node"])
    assert redactor.counts == {}
    assert (
        redactor.text("gpu-a17: lost; gpu-a17.hpc.example.org:29500; gpu-a17.log")
        == "host-1: lost; host-1:29500; host-1.log"
    )
    assert redactor.text("node-1 gpu-node-1 node-10 node") == "node-1 host-2 node-10 node"
    assert redactor.node("gpu-a17.hpc.example.org") == "host-1"
    assert redactor.counts == {"host": 2}


def test_a_name_that_looks_like_a_pseudonym_is_given_to_nobody_else() -> None:
    """A real `host-1` keeps its name, and no other host is called so."""
    redactor = Redactor()
    redactor.learn(["host-1", "gpu7"])
    assert [redactor.node("host-1"), redactor.node("gpu7")] == ["host-1", "host-2"]
    assert redactor.counts == {"host": 1}


def test_a_rehearsal_finds_the_name_that_comes_late() -> None:
    """After `settle`, a user known from a home directory is hidden in other paths too."""
    redactor = Redactor()
    redactor.text("/home/alice/x")
    redactor.settle()
    assert redactor.counts == {}
    assert redactor.text("/fast/alice/run /fast/alice2") == "/fast/user-1/run /fast/alice2"


def test_versions_are_left_where_the_caller_says_so() -> None:
    """Without addresses a number of four parts stays, a secret does not."""
    redactor = Redactor()
    assert redactor.text("2.5.0.1", addresses=False) == "2.5.0.1"
    assert redactor.text(f"2.5.0.1 hf_{LETTERS}", addresses=False) == "2.5.0.1 secret-1"


def test_lines_are_kept_as_many() -> None:
    """A private key over several lines is hidden whole, and every line keeps its number."""
    lines = (
        "x",
        "-----BEGIN PRIVATE KEY-----",
        "MIIEvQIBADANBgkqh",
        "AAAAAAAAAAAAAAAAA",
        "ab==",
        "-----END PRIVATE KEY-----",
        "two\nparts",
        "/home/alice",
    )
    hidden = Redactor().lines(lines)
    assert len(hidden) == len(lines)
    assert hidden[2:5] == ("secret-1", "", "")
    assert hidden[-1] == "/home/user-1"
    assert Redactor().lines(()) == ()


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        pytest.param("hub_token", "abc", "secret-1", id="a secret's name"),
        pytest.param("WANDB_API_KEY", "abc", "secret-1", id="a key's name"),
        pytest.param("password", "x", "secret-1", id="a password"),
        pytest.param("hub_token", "<HUB_TOKEN>", "<HUB_TOKEN>", id="a placeholder"),
        pytest.param("hub_token", None, None, id="nothing"),
        pytest.param("hub_token", "None", "None", id="the word None"),
        pytest.param("pad_token", "[PAD]", "[PAD]", id="a special token"),
        pytest.param("max_tokens", 512, 512, id="a number"),
    ],
)
def test_a_setting_whose_name_says_secret_is_hidden_whole(
    name: str, value: object, shown: object
) -> None:
    """The name of a setting decides where its value shows nothing."""
    assert Redactor().setting(name, value) == shown


_BODY = [
    "".join(random.Random(number).choices(string.ascii_letters + string.digits + "+/", k=64))
    for number in range(20)
]
_LAST = "Qm9vYmVyIEtldHRsZQ9x=="
_BEGIN, _END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
_KEY = [_BEGIN, *_BODY, _LAST, _END]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(_KEY, id="whole"),
        pytest.param(
            [*_BODY[5:], _LAST, _END, "RuntimeError: x"], id="its beginning lies before the excerpt"
        ),
        pytest.param([_LAST, _END], id="only its last line and its end"),
        pytest.param([_BEGIN, *_BODY[:7]], id="its end lies behind the excerpt"),
        pytest.param(["x", *_BODY[4:9], "y"], id="neither beginning nor end"),
        pytest.param(["x", _BODY[4], "y"], id="one line of it"),
        pytest.param(
            [f"[rank1]: {line}" for line in _KEY], id="a launcher's label before every line"
        ),
        pytest.param(
            [f"2026-01-01 12:00:00,123 - root - INFO - {line}" for line in _KEY],
            id="a time stamp before every line",
        ),
        pytest.param(
            [f"2026-01-01 12:00:00,123 - root - INFO - {line}" for line in _KEY[3:9]],
            id="time stamps, cut on both sides",
        ),
        pytest.param(
            [line for one in _KEY for line in (f"0: {one}", f"1: {one}")], id="two ranks at once"
        ),
        pytest.param(
            [line for one in _KEY for line in (f"[rank1]: {one}", "[rank0]: step 3 loss 2.3")],
            id="another rank's lines between",
        ),
        pytest.param(
            ['{"private_key": "' + r"\n".join(_KEY) + r'\n", "x": 1}'], id="breaks as escapes"
        ),
        pytest.param([" ".join(_KEY)], id="breaks as blanks"),
        pytest.param([_BEGIN + "".join(_BODY) + _END], id="no breaks"),
        pytest.param([repr(line + "\n") for line in _KEY], id="a list of lines"),
        pytest.param([f"│ {line:<70} │" for line in _KEY], id="in a box"),
        pytest.param(
            [
                _BEGIN,
                "Proc-Type: 4,ENCRYPTED",
                "DEK-Info: AES-256-CBC,0A1B2C3D",
                "",
                *_BODY,
                _LAST,
                _END,
            ],
            id="encrypted, with headers",
        ),
        pytest.param([_BEGIN, "\x1c", *_BODY, "\x1c", _END], id="lines of separators between"),
        pytest.param(
            [("x" * 1940 + " " + _BEGIN + r"\n" + r"\n".join(_BODY))[:2000]],
            id="a long line cut within it",
        ),
    ],
)
def test_private_keys_are_hidden_however_they_are_cut_or_prefixed(lines: list[str]) -> None:
    """No piece of a key stays, every line keeps its number, and doing it twice changes nothing."""
    hidden = Redactor().lines(lines)
    assert len(hidden) == len(lines)
    assert [piece for piece in (*_BODY, _LAST) if piece[:20] in "\n".join(hidden)] == []
    assert Redactor().lines(hidden) == hidden


def test_lists_of_hashes_are_no_private_key() -> None:
    """A column of SHA-256 sums has the width of a key's lines."""
    lines = [f"{random.Random(number).getrandbits(256):064x}" for number in range(9)]
    assert Redactor().lines(lines) == tuple(lines)


@pytest.mark.parametrize(
    "tail",
    [
        "hf_AbCd",
        "sk-proj-1",
        "https://bob:pea",
        "ghp_0",
        "AKIAQR",
        "hf_AbCd...",
        "netrc 9f86d081884c7d65",
    ],
)
def test_what_was_cut_within_a_secret_is_hidden(tail: str) -> None:
    """A text that ends within a token is too short for the token's shape."""
    text = "RuntimeError: " + "the same words again " * 8 + tail
    assert tail not in Redactor().text(text)
    assert Redactor().text(f"a name such as {tail}") == f"a name such as {tail}"


def test_a_secret_known_by_its_name_is_hidden_where_it_stands_alone() -> None:
    """After the rehearsal, the value is hidden without its name too."""
    redactor = Redactor()
    redactor.text("DB_PASSWORD=tr0ub4dor-77q")
    redactor.settle()
    assert (
        redactor.text("cannot log in with tr0ub4dor-77q, twice: tr0ub4dor-77q tr0ub4dor-77q")
        == "cannot log in with secret-1, twice: secret-1 secret-1"
    )


def _stamped(text: str, stamp: str) -> str:
    """Put what a launcher or a logger writes before every line."""
    return "\n".join(stamp + line for line in text.split("\n"))


def _hidden(text: str) -> str:
    """Hide in a text as a report does: what it gives away anywhere is known everywhere."""
    redactor = Redactor()
    redactor.text(text)
    redactor.settle()
    return redactor.text(text)


@pytest.mark.parametrize("stamp", ["", "[rank3]: ", "2026-01-01 12:00:00,123 INFO "])
@pytest.mark.parametrize("name", ["planted.txt", "named.txt"])
def test_no_planted_line_keeps_what_gives_away(name: str, stamp: str) -> None:
    """Secrets of the kinds that scanners know, and names, in the places that they take in logs."""
    assert [
        one.line
        for one in planted(name)
        if any(secret in _hidden(_stamped(one.line, stamp)) for secret in one.secrets)
    ] == []


def test_a_part_of_a_planted_secret_does_not_stay() -> None:
    """Neither the beginning nor the end of a long one."""
    long = [(one.line, secret) for one in planted() for secret in one.secrets if len(secret) > 16]
    assert [
        line
        for line, secret in long
        if any(part in _hidden(line) for part in (secret[:10], secret[-10:]))
    ] == []


def test_look_alikes_are_left_alone() -> None:
    """Hashes, tokens of a tokenizer, keys of dictionaries, versions, times.

    At most 2 in 250 are hidden by mistake, alone and one after another.
    """
    lines = look_alikes()
    wrong = [line for line in lines if _hidden(line) != line]
    assert len(wrong) <= len(lines) // 125, wrong
    single = [line for line in lines if "\n" not in line]
    together = Redactor().lines(single)
    assert sum(one != two for one, two in zip(single, together, strict=True)) <= len(lines) // 125


def test_no_rule_finds_anything_without_its_hint() -> None:
    """Where no hint stands, no rule is tried: each must hold wherever its rule finds something."""
    lines = [
        *look_alikes(),
        *(one.line for name in ("planted.txt", "named.txt") for one in planted(name)),
    ]
    for rule in _RULES:
        hint = build_linear_pattern(rule.hint)
        assert [
            line for line in lines if next(rule.spans(line), None) and not hint.search(line)
        ] == [], rule.hint
    keys = build_linear_pattern(private_keys.HINT)
    assert all(keys.search(piece) for piece in (_BEGIN, _END, _BODY[0]))


def _seconds(text: str) -> float:
    """CPU seconds to hide in a text, the best of three."""
    times = []
    for _ in range(3):
        start = time.thread_time()
        Redactor().text(text)
        times.append(time.thread_time() - start)
    return min(times)


@pytest.mark.parametrize(
    "piece",
    [
        "-", "a", ":", "1.", "a@", "/home/", "://", "eyJaaaaaaaa.", "api_key=", "sk-", "1.2.3.4 ",
        "-----BEGIN PRIVATE KEY-----\n", "login", "opencv-", "f:", "a@b", "a1@b1.", "x.",
        "abc.local.", "ssh ", "host: ", "a-1.", "a:a", "token=", "token: '", "'", "password=a",
        "--token ", "curl -u ", "mysql -p", "a://a:a", "a://:", "/scratch/", "/users/", "+1 ",
        "aa:", "wandb ", "Bearer ", "authorization: ", "cookie: a=", "A1b+", "://a@", "a.a.corp.",
        "0:", "_", "USER=", "user=", "phone: 1", "(1) ", "1-", "https://a/b/c/runs/", "echo a|",
        "a:b@", "auth=('a','", "\n", "token  ", "key\t", "hf_", '{"token": "', "docker login ",
        "wandb.login(", "machine a login b ", "[a@b c", "host@", "token: str = ", "token: a[",
        "token=[", "token:\n- a", "token:\n  desc: a\n", "token: &a ", "token: A('", "('token', '",
        "token%3A", "%22", "token a ", "token [type=a, input_value=", "invalid a: ", "a'a",
        "token=a'", "connect(", "connect('a',", "密码", "密码是", "＝", "└ '", "a└ 'b'\n", "token\n",
        "token=a\n", "token='a\n", "token=a1b2\\\n", "value: ", "│ token = 'a │\n", "139", "/user/",
        "*:*:*:a:", "$6$a", "/scratch/gpfs/", "eyJaaaaaaaa.eyJaaaaaaaa.", "sessionid=", "</td><td>", '"token", "type": "a", ',
    ],
)  # fmt: skip
def test_hostile_repetition_costs_linear_time(piece: str) -> None:
    """Text made to trip the patterns costs time in proportion to its length.

    Eight times as long, hardly more than eight times as much.
    """
    short, long = (_seconds((piece * size)[:size]) for size in (8_192, 65_536))
    assert long < max(8 * 2 * short, 0.2)
    assert short < 0.2


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("node-a", "node-a"),
        ("node0", "node0"),
        ("worker-12", "worker-12"),
        ("n3", "n3"),
        ("node-a17", "host-1"),
        ("gpu01", "host-1"),
        ("nadine", "host-1"),
    ],
)
def test_a_number_in_a_job_is_no_machine(name: str, hidden: str) -> None:
    """What files call the nodes of any job stays, a machine's name goes."""
    assert Redactor().node(name) == hidden


@pytest.mark.parametrize("name", ["planted.txt", "named.txt"])
def test_a_text_is_hidden_in_all_the_same_among_others(name: str) -> None:
    """What stands in one of many texts that are looked through together is found among them."""
    left = []
    for line in [one.line for one in planted(name)]:
        together = Redactor()
        together.foresee([*BORING[:20], line, *BORING[20:]])
        if together.text(line) != Redactor().text(line):
            left.append(line)
    assert left == []


def test_no_rule_hints_at_the_ends_of_a_text() -> None:
    """They are no ends where many texts are looked through as one; those of lines are."""
    assert [rule.hint for rule in _RULES if re.search(r"\\[AzZ]", rule.hint)] == []
