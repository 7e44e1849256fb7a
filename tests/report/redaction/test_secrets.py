"""Forty planted secrets and names leave the program in no form.

What is hidden changes neither the figures nor the verdict.

The values are made up here and put together from pieces, so that nobody's scanner takes them for
real ones.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import samples

import postmortem
from postmortem.core.diagnosis import Differing
from postmortem.interfaces.compare import compare_runs
from postmortem.interfaces.share import build_minimal_excerpt
from postmortem.report import SHOWN_FORMS, side_by_side
from postmortem.report.redaction.redactor import Redactor
from tests.planted import planted

ALPHABET = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"
HF, PAT = "hf_" + ALPHABET[:34], "ghp_" + ALPHABET
LINES = (
    # the line as a log has it, and what of it must not be seen
    (f"token {HF}", HF),
    (f"wandb: api key {HEX}", HEX),
    ("wandb: api key QbTzLmWrXkPcVhNyGdSfJaRqZtBwMx", "QbTzLmWrXkPcVhNyGdSfJaRqZtBwMx"),
    (f"WANDB_API_KEY={HEX[::-1]}", HEX[::-1]),
    (f"git clone https://{PAT}@github.com/x/y", PAT),
    ("using gho_" + ALPHABET, "gho_" + ALPHABET),
    ("github_pat_" + ALPHABET[:22] + "_" + ALPHABET, "github_pat_" + ALPHABET[:22]),
    ("AWS_ACCESS_KEY_ID=AKIA" + "QRSTUVWXYZ234567", "AKIA" + "QRSTUVWXYZ234567"),
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYqqqqqqqqkk", "bPxRfiCYqqqqqqqqkk"),
    ("slack xoxb-" + "123456789012-" + ALPHABET[:24], ALPHABET[:24]),
    (
        "jwt eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N",
        "dozjgNryP4J3jVmNHl0w5N",
    ),
    ("OPENAI_API_KEY=sk-proj-" + ALPHABET, "sk-proj-" + ALPHABET),
    ("key=sk-ant-api03-" + ALPHABET, "sk-ant-api03-" + ALPHABET),
    ("AIza" + ALPHABET[:35], "AIza" + ALPHABET[:35]),
    ("glpat-" + ALPHABET[:20], "glpat-" + ALPHABET[:20]),
    ("pypi-AgEIcHlwaS5vcmc" + ALPHABET, "AgEIcHlwaS5vcmc"),
    ("npm_" + ALPHABET, "npm_" + ALPHABET),
    ("https://bob:s3cr3tPassw0rd@proxy.secretlab.edu:8080/simple", "s3cr3tPassw0rd"),
    ("pip index https://bob:x1y2z3@wheels.secretlab.edu/simple", "secretlab"),
    ("train.py --api_key zz9PluralZAlphaKey42 --lr 1e-4", "zz9PluralZAlphaKey42"),
    ("db password: hunter2hunter2", "hunter2hunter2"),
    ("mail to dora.explorer@lab.example.edu", "dora.explorer"),
    ('File "/home/dexplorer/train.py"', "dexplorer"),
    ('File "/Users/mexplorer/train.py"', "mexplorer"),
    ('File "C:\\Users\\wexplorer\\train.py"', "wexplorer"),
    ("/scratch/dexplorer/run", "/scratch/dexplorer"),
    ("host      : gpu-a17.hpc.secretlab.edu", "gpu-a17"),
    ("MASTER_ADDR=10.77.31.9", "10.77.31.9"),
    ("addr [fe80::1ff:fe23:4567:890a]:29500", "fe80::1ff"),
    ("Authorization: Bearer " + ALPHABET + "tok", ALPHABET + "tok"),
    ("AccountKey=" + ALPHABET + "ABCDEFGH==", ALPHABET + "ABCDEFGH"),
    ("mongodb+srv://root:Tr0ub4dor@cluster0.secretlab.edu", "Tr0ub4dor"),
    (
        (
            "-----BEGIN OPENSSH PRIVATE"
            " KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n-----END OPENSSH PRIVATE"
            " KEY-----"
        ),
        "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ",
    ),
    ("COMET_API_KEY=Q1w2E3r4T5y6U7i8O9p0", "Q1w2E3r4T5y6U7i8O9p0"),
    ("MODELSCOPE_API_TOKEN=0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", "0f1e2d3c-4b5a"),
    ("MLFLOW_TRACKING_PASSWORD=p4ssw0rdMLF", "p4ssw0rdMLF"),
    ("Authorization: Basic ZG9yYTpleHBsb3Jlcg==", "ZG9yYTpleHBsb3Jlcg"),
    (f"https://b.s3.amazonaws.com/x?X-Amz-Signature={HEX}{HEX[:24]}", f"{HEX}{HEX[:24]}"),
    (
        '{"username":"someone","key":"0123456789abcdef0123456789abcdef"}',
        "0123456789abcdef0123456789abcdef",
    ),
    (
        "https://oapi.dingtalk.com/robot/send?access_token=566cc69da782ec33d42b9f1cd3b3b5b0d1a2f3c4",
        "566cc69da782ec33",
    ),
    (
        "https://open.feishu.cn/open-apis/bot/v2/hook/2b9f1cd3-b3b5-40d1-a2f3-c4566cc69da7",
        "2b9f1cd3-b3b5",
    ),
    ("SG." + ALPHABET[:22] + "." + ALPHABET + ALPHABET[:7], "SG." + ALPHABET[:22]),
)


TOLD = (
    # settings, environment and names as programs print them: a value, or a name that a value made
    f"api_key: {HF}",
    f"hub_token={HF}",
    f"    hub_token = '{HF}'",
    f"args: Namespace(lr=1e-4, wandb_key='{HEX}', hub_token='{PAT}')",
    f"wandb_api_key: {HEX[::-1]}",
    f"run_name: {PAT}",
    f"output_dir: /home/dexplorer/{HF}",
    (
        f"python train.py --hub_token {HF} --output_dir /home/dexplorer/out --run_name x"
        " --learning_rate 1e-4"
    ),
    f"Saving model checkpoint to /home/dexplorer/{HF}/checkpoint-5",
    "export MASTER_ADDR=10.77.31.9",
    f"{{'loss': 1.5, '{HF}': 2.5, 'learning_rate': 1e-4, 'epoch': 0.2}}",
    f"[pip3] {PAT}==1.0",
    f"[pip3] torch==2.4.0+{HF}",
    f"{HF}: 3",
    f"--{HF} 3",
    f"train.py --x {HF}",
)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every line alone, around a failure, and in the names of folder and file."""
    path = tmp_path_factory.mktemp("secrets") / f"run-{HF}" / f"{PAT}.log"
    path.parent.mkdir()
    told = [line for line, _ in LINES]
    around = [
        f"{line} RuntimeError: CUDA error: an illegal memory access was encountered {line}"
        for line in told
        if "\n" not in line
    ]
    path.write_text(
        "\n".join([*told, *around, *TOLD, "{'loss': 1.5, 'learning_rate': 1e-4, 'epoch': 0.1}"])
        + "\n"
    )
    return path


@pytest.mark.parametrize(
    "form",
    ["terminal whole", *SHOWN_FORMS, "share", *(f"compare {form}" for form in side_by_side.FORMS)],
)
def test_no_planted_secret_leaves_the_program(log: Path, form: str) -> None:
    """In no form, wherever it stood."""
    if form == "share":
        text = build_minimal_excerpt([log]).text
    elif form.startswith("compare "):
        good = log.with_name("good.log")
        good.write_text("ok\n")
        text = side_by_side.render(compare_runs([good], [log]), form.removeprefix("compare "))
    else:
        text = postmortem.analyze(log).render(
            form.removesuffix(" whole"), full=form.endswith("whole"), redact=True
        )
    assert [secret for _, secret in LINES if secret in text] == []


ROWS = [*planted(), *planted("named.txt")]


@pytest.mark.parametrize("part", range(6))
def test_no_kind_of_secret_leaves_the_program_in_any_form(tmp_path: Path, part: int) -> None:
    """Each line by itself, in the words of a failure, in the source line of a traceback.

    And at the end of the log.
    """
    rows = ROWS[part::6]
    told = [one.line for one in rows]
    failures = [
        # Values that are drawn under a line of code stand in its columns.
        f"RuntimeError: CUDA error: an illegal memory access was encountered{gap}{line}"
        for line in told
        for gap in ("\n" if "└" in line else " ",)
    ]
    trace = [
        "Traceback (most recent call last):",
        '  File "train.py", line 3, in <module>',
        f"    main({told[0]})",
    ]
    log, good = tmp_path / "run.log", tmp_path / "good.log"
    log.write_text(
        "\n".join(
            [*told, "{'loss': 1.5, 'learning_rate': 1e-4, 'epoch': 0.1}", *trace, *failures, *told]
        )
        + "\n",
        encoding="utf-8",
    )
    good.write_text("ok\n")
    report = postmortem.analyze(log)
    shown = {form: report.render(form, redact=True) for form in SHOWN_FORMS} | {
        "terminal whole": report.render("terminal", full=True, redact=True)
    }
    shown |= {
        f"compare {form}": side_by_side.render(compare_runs([good], [log]), form)
        for form in side_by_side.FORMS
    }
    secrets = [secret for one in rows for secret in one.secrets if len(secret) >= 7]
    assert {
        form: left
        for form, text in shown.items()
        if (left := [secret for secret in secrets if secret in text])
    } == {}


def test_the_names_of_settings_decide_in_a_comparison(tmp_path: Path) -> None:
    """A value that shows nothing by itself is hidden by the name of its setting."""
    log = tmp_path / "run.log"
    log.write_text("{'loss': 1.5, 'learning_rate': 1e-4, 'epoch': 0.1}\n")
    found = replace(
        compare_runs([log], [log]),
        settings=(Differing("hub_token", "kettle", "lamp"),),
        environment=(Differing("USER_PASSWORD", None, "pear"),),
    )
    for form in side_by_side.FORMS:
        text = side_by_side.render(found, form)
        assert [value for value in ("kettle", "lamp", "pear") if value in text] == []
        assert "kettle" in side_by_side.render(found, form, redact=False)


@pytest.mark.parametrize(
    "label",
    samples.labels_in(samples.ROOT / "sample_logs")[::9],
    ids=lambda path: f"{path.parent.name}/{path.stem}",
)
def test_hiding_changes_no_figure_and_no_verdict(tmp_path: Path, label: Path) -> None:
    """The curves are the same, and metric lines keep their numbers.

    The hidden log is judged like the log.
    """
    log = samples.input_of(label)
    if log.is_dir():
        log = next(
            path
            for path in sorted(log.rglob("*"))
            if path.is_file() and path.suffix != ".gz" and path.stat().st_size
        )
    report = postmortem.analyze(log)
    bare, hidden = report.to_dict(redact=False), report.to_dict(redact=True)
    assert [one["samples"] for one in bare["series"]] == [
        one["samples"] for one in hidden["series"]
    ]
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    redactor = Redactor()
    redactor.lines(lines)
    redactor.settle()
    told = redactor.lines(lines)
    number = re.compile(r"\d+\.\d+(?:e[-+]?\d+)?|\bnan\b|\binf\b")
    metric = {line for one in bare["series"] for _, _, line in one["samples"] if line <= len(lines)}
    assert [number.findall(lines[line - 1]) for line in metric] == [
        number.findall(told[line - 1]) for line in metric
    ]
    (tmp_path / "hidden.log").write_text("\n".join(told), encoding="utf-8")
    assert postmortem.analyze(tmp_path / "hidden.log").verdict.cause == report.verdict.cause
