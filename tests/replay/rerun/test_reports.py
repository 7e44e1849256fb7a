"""What a replay has found, in every form and both languages, and as evidence for the verdict."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

import postmortem
from postmortem.core.diagnosis import CauseTested, FaultySample, ModulePeak, Replayed, ReplayTrial
from postmortem.core.message import Message, quote
from postmortem.interfaces.cli import cli, replay_command
from postmortem.pipeline import run_pipeline
from postmortem.replay.rerun.verdicts import iter_evidence
from postmortem.report import FORMS as ALL_FORMS
from postmortem.report import render as render_report
from postmortem.report.lossless import from_json, to_json
from postmortem.report.replay_alone import FORMS, render
from postmortem.report.wire import read_schema

LOG = b"step 1 loss 2.1\nstep 2 loss 2.0\nstep 3 loss nan\n"
OVERFLOW = "numerics.fp16-overflow"
RATE = "numerics.lr-divergence"


def found(verdict: str = "confirmed") -> Replayed[Message]:
    """A replay with something of everything."""
    because = Message("in float32 it stays finite", "float32 下保持有限")
    return Replayed(
        capsule="step3.capsule",
        device="cpu",
        recorded_on="cuda (Tesla V100)",
        reason=Message("step 3: the loss was not finite", "第 3 步：loss 为 NaN/inf"),
        summary=Message("The failure comes again.", "故障重现。"),
        reproduced="yes",
        fidelity=Message("bit-equal", "逐位相同"),
        trials=(
            ReplayTrial(
                "float32", Message("in float32", "改用 float32"), "finite", because, (2.0,)
            ),
            ReplayTrial(
                "eager", Message("eager", "eager 注意力"), "skipped", Message("none", "没有")
            ),
        ),
        tested=(
            CauseTested(OVERFLOW, Message("Overflow", "溢出"), verdict, (because,)),
            CauseTested(RATE, Message("Rate", "学习率"), "refuted", (because,)),
        ),
        place=Message("module mlp<up>", "模块 mlp<up>"),
        module="mlp<up>",
        direction="forward",
        culprits=(FaultySample(3, 0, 4, 417, (quote("input: float32[8]"),)),),
        peaks=(
            ModulePeak("embed", "Embedding", 3.5),
            ModulePeak("mlp<up>", "Linear", 91_000.0, gradient=0.5),
            ModulePeak("head", "Linear", 0.0, is_finite=False),
        ),
        limit=65504.0,
        limit_of="float16",
        peaks_of=Message("the failing step in float32", "出错的步（float32）"),
        notes=(Message("computed on a CPU", "在 CPU 上计算"),),
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_it_can_be_read_alone(form: str, language: str) -> None:
    """The verdict, the culprit, the place and the devices stand in every form."""
    text = render(found(), form, language=language)
    for part in (OVERFLOW, "417", "91000" if form in {"terminal", "markdown"} else "float16"):
        assert part in text
    assert ("已证实" if language == "zh" else "confirmed") in text or form == "json"
    if form == "html":
        assert "mlp<up>" not in text
        assert "<svg" in text
        assert "peak-limit" in text


def test_the_section_stands_in_every_report_of_the_log() -> None:
    """And the log's report is the same but for it, behind the way through JSON as well."""
    analysis = run_pipeline(LOG, replayed=found())
    again = from_json(to_json(analysis))
    for form in ALL_FORMS:
        if form in {"sarif", "github", "terminal"}:
            continue
        text = render_report(analysis, form)
        assert "417" in text, form
        assert render_report(again, form) == text
    assert "417" in render_report(analysis, "terminal", full=True)


def test_the_json_report_keeps_its_schema() -> None:
    """With a replay and without one."""
    schema = json.loads(read_schema())
    for replayed in (None, found()):
        told = json.loads(render_report(run_pipeline(LOG, replayed=replayed), "json"))
        jsonschema.validate(told, schema)
        assert ("replay" in told) == (replayed is not None)


def test_a_confirmed_cause_is_established() -> None:
    """Whatever the log says of it."""
    verdict = postmortem.Report(run_pipeline(LOG, replayed=found())).verdict
    assert (verdict.cause, verdict.status) == (OVERFLOW, "established")
    assert "proves it" in str(verdict.summary)


def test_a_refuted_cause_falls() -> None:
    """A log of a climbing loss alone points to the rate; a refutation takes that away."""
    log = b"".join(
        f"step {step} loss {loss} lr 1e-2 grad_norm {loss * 3}\n".encode()
        for step, loss in enumerate((2.1, 2.0, 2.2, 9.0, 88.0, 1400.0, 3e5, "nan"), 1)
        if not isinstance(loss, str)
    )
    log += b"step 8 loss nan lr 1e-2 grad_norm nan\n"
    before = {one.id: one.probability for one in run_pipeline(log).causes}
    assert before[RATE] > 0.5
    after = {
        one.id: one.probability for one in run_pipeline(log, replayed=found("not-testable")).causes
    }
    assert after.get(RATE, 0.0) < 0.1


def test_what_was_not_tested_is_no_evidence() -> None:
    """Only confirmed and refuted causes say something."""
    open_ = replace(
        found(),
        tested=tuple(replace(one, verdict="not-testable") for one in found().tested),
    )
    assert list(iter_evidence(open_)) == []


def test_without_a_capsule_it_tells_how_to_record_one(tmp_path: Path) -> None:
    """In both languages; for the framework of a log where one is given."""
    told = CliRunner().invoke(cli, ["replay"]).output
    assert {"TrainerRecorder", "record_deepspeed", "training data"} <= {
        word for word in ("TrainerRecorder", "record_deepspeed", "training data") if word in told
    }
    log = tmp_path / "run.log"
    log.write_text("{'loss': 2.1, 'grad_norm': 1.0, 'learning_rate': 1e-05, 'epoch': 0.1}\n" * 5)
    told = CliRunner().invoke(cli, ["replay", "--lang", "zh", str(log)]).output
    assert "trainer.add_callback" in told
    assert "LightningRecorder" not in told
    assert re.search("[\u4e00-\u9fff]", told)


@pytest.mark.parametrize("verdict", ["confirmed", "not-testable"])
def test_a_confirmed_cause_leads_to_its_fix(
    verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command that shows it stands behind the report; never within another format."""
    monkeypatch.setattr(replay_command, "replay_capsule", lambda *_, **__: found(verdict))
    folder = tmp_path / "my step3.capsule"
    folder.mkdir()
    command = f"postmortem analyze run.log --replay '{folder}' --trust-code"
    args = ["replay", str(folder), "--trust-code"]
    for language in ("en", "zh"):
        told = CliRunner().invoke(cli, [*args, "--lang", language])
        assert (command in told.stdout) == (verdict == "confirmed")
    told = CliRunner().invoke(cli, [*args, "--format", "json"])
    assert json.loads(told.stdout)["reproduced"] == "yes"
    assert (command in told.stderr) == (verdict == "confirmed")


def test_every_numeric_cause_offers_the_recorder() -> None:
    """Under what keeps it from coming back."""
    fixes = run_pipeline(LOG).causes[0].fixes
    assert "numerics.record-window" in [one.id for one in fixes if one.kind == "prevent"]


def test_share_never_takes_a_capsule(tmp_path: Path) -> None:
    """A folder with a log and a capsule: nothing of the capsule stands in what is shared."""
    (tmp_path / "run.log").write_bytes(LOG)
    capsule = tmp_path / "step3.capsule"
    capsule.mkdir()
    (capsule / "manifest.json").write_text(
        json.dumps({"schema": "postmortem.capsule/1", "secret": "SAMPLE-TEXT loss nan"})
    )
    (capsule / "batches.safetensors").write_bytes(b"SAMPLE-TEXT Traceback\n" * 10)
    done = CliRunner().invoke(cli, ["share", str(tmp_path)])
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert "SAMPLE-TEXT" not in done.output
    report = render_report(run_pipeline(str(tmp_path)), "json")
    assert "SAMPLE-TEXT" not in report


def test_a_capsule_that_is_none_is_one_line_and_status_2(tmp_path: Path) -> None:
    """As every refusal; the log is not read in vain."""
    (tmp_path / "a.capsule").mkdir()
    (tmp_path / "run.log").write_bytes(LOG)
    for arguments in (
        ["replay", str(tmp_path / "a.capsule")],
        ["replay", str(tmp_path / "nothing.capsule")],
        ["analyze", str(tmp_path / "run.log"), "--replay", str(tmp_path / "a.capsule")],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "postmortem", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "capsule" in done.stderr
