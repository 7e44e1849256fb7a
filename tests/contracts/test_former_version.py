"""What the version before the renaming has written opens with the program of today.

The files and how they were made: `tests/data/former_version/README.md`.
"""

import gzip
import json
import os
import sqlite3
import subprocess
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import postmortem
from postmortem.core.names import LANGUAGES
from postmortem.core.resources import find_folder
from postmortem.fleet.store import open_store
from postmortem.interfaces.cli import main
from postmortem.interfaces.notify.targets import find_target
from postmortem.report import FORMS, render
from postmortem.report.lossless import from_json, to_json
from postmortem.rules.check import find_faults

FORMER = Path(__file__).resolve().parents[1] / "data" / "former_version"
RULES = FORMER / "rules"
WRITTEN_IN = "/srv/training"
"""The folder in which the former version ran."""

ANALYSES = {
    "absent-class-0": ("healthy.completed", "supported", "completed"),
    "autocast-range-0": ("numerics.fp16-overflow", "supported", "completed"),
    "code-hidden-batch-0": ("code.shape-mismatch", "supported", "failed"),
    "curve-done-spike-0": ("numerics.loss-spike", "supported", "completed"),
    "dead-units-0": ("learning.plateau", "supported", "running"),
    "flip-killed-kernel-0": ("memory.host-oom", "established", "failed"),
    "healthy-sft-0": ("healthy.completed", "supported", "completed"),
    "job-ranks-nan-shard-0": ("numerics.bad-batch", "established", "running"),
    "licence": ("platform.licence-server", "supported", "failed"),
    "memory-killed-rank-job-0": ("memory.host-oom", "supported", "failed"),
    "missing-tag-0": ("data.missing-file", "hypothesis", "failed"),
    "replayed": ("numerics.bad-batch", "established", "running"),
}
"""Cause, status and outcome, as the former version said them."""


def unpack(name: str) -> str:
    """Read a compressed text of the former version."""
    return gzip.decompress((FORMER / name).read_bytes()).decode("utf-8")


def test_each_stored_analysis_is_expected_here() -> None:
    """None is left out of the table."""
    names = {path.name.partition(".")[0] for path in (FORMER / "analyses").iterdir()}
    assert names == set(ANALYSES)


def _select_former(now: Any, former: Any) -> Any:
    """Keep of a value what the former one has: a field that was added holds nothing yet."""
    if isinstance(now, dict) and isinstance(former, dict):
        return {key: _select_former(now[key], former[key]) for key in former if key in now}
    if isinstance(now, list) and isinstance(former, list) and len(now) == len(former):
        return [_select_former(one, other) for one, other in zip(now, former, strict=True)]
    return now


@pytest.mark.parametrize("name", ANALYSES)
def test_a_stored_analysis_is_read_whole(name: str) -> None:
    """It says the same verdict, and is written again without loss; fields may have been added."""
    text = unpack(f"analyses/{name}.analysis.json.gz")
    analysis = from_json(text, name)
    verdict = analysis.verdict
    assert (verdict.cause, verdict.status, analysis.outcome) == ANALYSES[name]
    assert _select_former(json.loads(to_json(analysis)), json.loads(text)) == json.loads(text)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ANALYSES)
def test_a_stored_analysis_renders_in_every_form(name: str, form: str) -> None:
    """In each language, with the title of its cause."""
    analysis = from_json(unpack(f"analyses/{name}.analysis.json.gz"), name)
    texts = {language: render(analysis, form, language=language) for language in LANGUAGES}
    title = next(one.title for one in analysis.causes if one.id == ANALYSES[name][0])
    for language, text in texts.items():
        assert title.text(language) in text or json.dumps(title.text(language))[1:-1] in text


def test_the_command_renders_a_stored_analysis(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Compressed, as it lies there; the replay within it is shown."""
    stored = FORMER / "analyses" / "replayed.analysis.json.gz"
    with pytest.raises(SystemExit) as done:
        main(["render", str(stored), "--format", "markdown", "-o", str(tmp_path / "report.md")])
    assert not done.value.code, capsys.readouterr().err
    assert "numerics.bad-batch" in (tmp_path / "report.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def continued(
    tmp_path_factory: pytest.TempPathFactory, command: list[str]
) -> tuple[Path, list[dict[str, Any]]]:
    """The folder of the former store after a triage of today, and the results of that."""
    folder = tmp_path_factory.mktemp("training")
    with tarfile.open(FORMER / "jobs.tar.gz") as packed:
        packed.extractall(folder, filter="data")
    (folder / "out").mkdir()
    with closing(sqlite3.connect(folder / "out" / "triage.sqlite")) as store:
        store.executescript(unpack("triage.sql.gz").replace(WRITTEN_IN, str(folder)))
        for (files,) in store.execute("SELECT files FROM postmortem_jobs"):
            for _, path, _, changed in json.loads(files):
                if Path(path).exists():
                    os.utime(path, ns=(int(changed), int(changed)))
    done = subprocess.run(
        [*command, "triage", "jobs", "--out", "out", "--workers", "1"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    text = (folder / "out" / "results.jsonl").read_text(encoding="utf-8")
    return folder, [json.loads(line) for line in text.splitlines()]


def query(folder: Path, statement: str) -> list[Any]:
    """Ask the continued store."""
    with closing(sqlite3.connect(folder / "out" / "triage.sqlite")) as store:
        return store.execute(statement).fetchall()


def test_triage_goes_on_with_the_former_store(
    continued: tuple[Path, list[dict[str, Any]]],
) -> None:
    """Each job keeps its number and its first triage; none is there twice."""
    folder, rows = continued
    jobs = query(folder, "SELECT title, first_triage, last_triage FROM postmortem_jobs")
    assert sorted(jobs) == [
        ("autocast-range-0.log", 1, 3),
        ("code-hidden-batch-0.log", 1, 3),
        ("dead-units-0.log", 2, 3),
        ("healthy-sft-0.log", 1, 3),
        ("job-ranks-nan-shard-0", 1, 3),
        ("missing-tag-0.log", 1, 3),
        ("missing-tag-again.log", 1, 3),
        ("target-modules-not-found-0.log", 1, 3),
    ]
    assert [Path(row["job"]).name for row in rows] == sorted(title for title, _, _ in jobs)
    assert {row["state"] for row in rows} == {"judged"}


def test_the_history_of_the_former_store_is_kept(
    continued: tuple[Path, list[dict[str, Any]]],
) -> None:
    """Both former triages stay finished; a failure that was known is not told as new."""
    folder, rows = continued
    assert query(folder, "SELECT number FROM postmortem_triages WHERE finished > 0") == [
        (1,),
        (2,),
        (3,),
    ]
    sizes = "SELECT triage, sum(jobs) FROM postmortem_group_members GROUP BY triage"
    assert query(folder, sizes) == [(1, 7), (2, 8), (3, 8)]
    firsts = dict(query(folder, "SELECT identity, first_triage FROM postmortem_groups"))
    known = {Path(row["job"]).name: firsts[row["group"]] for row in rows}
    assert known["dead-units-0.log"] == 2
    for name in ("code-hidden-batch-0.log", "autocast-range-0.log", "job-ranks-nan-shard-0"):
        assert known[name] == 1


def test_former_analyses_of_the_store_open(
    continued: tuple[Path, list[dict[str, Any]]],
) -> None:
    """What the former triages kept is read through the store of today."""
    folder, _ = continued
    with open_store(folder / "out" / "triage.sqlite") as store:
        kept = list(store.analyses.iter_triage_analyses(2))
        assert len(kept) == 7
        assert all(summary.cause and store.analyses.read_blob(summary.key) for summary in kept)


@pytest.fixture
def capsule(tmp_path: Path) -> Path:
    """The capsule of the former recorder."""
    with tarfile.open(FORMER / "capsule.tar.gz") as packed:
        packed.extractall(tmp_path, filter="data")
    return next(tmp_path.glob("*.capsule"))


def test_a_former_capsule_is_replayed(capsule: Path) -> None:
    """And is evidence beside its log."""
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    report = postmortem.analyze(str(FORMER / "capsule.log"), replay=capsule, model=None)
    assert report.verdict.cause == "numerics.bad-batch"
    assert report.verdict.status == "established"


def test_a_shared_part_still_tells_the_same() -> None:
    """A text that was pasted into an issue."""
    report = postmortem.analyze(str(FORMER / "share.txt"))
    assert report.verdict.cause == "numerics.fp16-overflow"


def test_a_former_classifier_is_asked(tmp_path: Path) -> None:
    """A model that a user has trained names a cause that only their rules know."""
    pytest.importorskip("safetensors")
    model = tmp_path / "model.safetensors"
    model.write_bytes(gzip.decompress((FORMER / "model.safetensors.gz").read_bytes()))
    log = str(FORMER / "model.log")
    asked = postmortem.analyze(log, model=model, patterns=[RULES])
    assert asked.verdict.cause == "platform.licence-server"
    alone = postmortem.analyze(log, model=None, patterns=[RULES])
    assert alone.verdict.cause != "platform.licence-server"


def test_former_rules_of_a_user_are_sound() -> None:
    """Every key that the former guide told is known, and every example still holds."""
    assert find_faults([RULES], known=[find_folder("patterns")]) == []


@pytest.mark.parametrize(
    ("log", "cause", "probability", "fixes"),
    [
        pytest.param(
            "licence.log",
            "platform.licence-server",
            0.9939,
            ["Ask for `tensor` in another pool", "Look at the pool"],
            id="signature, facts, metrics, condition, cause, advisory, stack",
        ),
        pytest.param(
            "quota.log", "platform.quota", 0.4506, ["Look at the pool"], id="words, launcher"
        ),
        pytest.param(
            "renamed.log", "code.user-exception", 0.895, ["Write `new_rate`"], id="exception"
        ),
    ],
)
def test_former_rules_give_the_same_verdict(
    log: str, cause: str, probability: float, fixes: list[str]
) -> None:
    """As the former version gave it, with the advice of the user's own rules first."""
    report = postmortem.analyze(str(FORMER / "rules_logs" / log), patterns=[RULES], model=None)
    assert report.verdict.cause == cause
    assert report.verdict.probability == pytest.approx(probability, abs=5e-4)
    first = next(one for one in report.in_language("en").causes if one.id == cause)
    assert [fix.title for fix in first.fixes][: len(fixes)] == fixes


@pytest.mark.parametrize(
    ("name", "language"), [("team", "zh"), ("oncall", None), ("tickets", None)]
)
def test_former_targets_are_found(tmp_path: Path, name: str, language: str | None) -> None:
    """The one file of settings that a user writes."""
    targets = tmp_path / "targets.yaml"
    slack = tmp_path / "slack"
    slack.write_text("https://hooks.example.org/services/a/b")
    text = (FORMER / "targets.yaml").read_text(encoding="utf-8")
    targets.write_text(text.replace("/etc/postmortem/slack", str(slack)))
    (tmp_path / "team.secret").write_text("s3cret")
    variables = {
        "TEAM_URL": "https://open.feishu.cn/open-apis/bot/v2/hook/a",
        "TICKETS_SECRET": "t",
    }
    found = find_target(name, targets=targets, environment=variables)
    assert found.address
    assert found.tongue == language
