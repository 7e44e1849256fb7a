"""The lab's headers, labels and manifest agree with each other.

They agree with the taxonomy and with the files that are checked in.
"""

import ast
from pathlib import Path
from typing import Any

import pytest
import yaml
from harness.faults import FAULTS, LAB, Fault, FaultError, faults_at, load_faults
from harness.labels import TERMINAL, lines_of
from harness.manifest import manifest

from postmortem.rules.base import load

SAMPLES = LAB.parent
ALL = load_faults()
RECORDED = [
    path
    for path in sorted(SAMPLES.rglob("*.yaml"))
    if LAB not in path.parents and path.name != "manifest.yaml"
]


def name_of(path: Path) -> str:
    """The case's name."""
    return str(path.relative_to(SAMPLES).with_suffix(""))


LISTED = {
    case
    for entry in yaml.safe_load((SAMPLES / "manifest.yaml").read_text(encoding="utf-8"))["faults"]
    for case in entry["checked_in"]
}


def label_at(path: Path) -> dict[str, Any]:
    """A label."""
    return dict(yaml.safe_load(path.read_text(encoding="utf-8")))


def texts_of(label: Path) -> dict[str, list[str]]:
    """The lines of each file of a case; the key '' is the single log."""
    folder = label.with_suffix("")
    files = (
        {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
        if folder.is_dir()
        else {"": label.with_suffix(".log")}
    )
    return {name: lines_of(path.read_bytes()) for name, path in files.items()}


@pytest.mark.parametrize("fault", ALL, ids=lambda fault: fault.name)
def test_a_header_speaks_the_taxonomy(fault: Fault) -> None:
    """Every id of a header exists.

    The cause is not among the answers that are plainly wrong.
    """
    for answer in (fault, *fault.dumps):
        assert {answer.cause, *answer.also, *answer.not_} <= set(load().causes)
        assert answer.cause not in answer.not_


def test_the_manifest_is_up_to_date() -> None:
    """`python sample_logs/lab manifest` was run after the last change of a header."""
    assert (SAMPLES / "manifest.yaml").read_text(encoding="utf-8") == manifest(ALL)


@pytest.mark.parametrize("case", sorted(LISTED))
def test_a_listed_case_is_there(case: str) -> None:
    """What the manifest lists as checked in lies in the folder, log or folder of logs and label."""
    label = SAMPLES / f"{case}.yaml"
    assert label.is_file()
    assert label.with_suffix(".log").is_file() or any(label.with_suffix("").iterdir())


@pytest.mark.parametrize("path", RECORDED, ids=name_of)
def test_a_label_is_true_of_its_log(path: Path) -> None:
    """It is listed (or composed by a script that it names), and its ids exist.

    The lines that it points at stand where it says.
    """
    label = label_at(path)
    assert {label["cause"], *label["also"], *label["not"]} <= set(load().causes)
    assert name_of(path) in LISTED or "compose.py" in label["how"]
    assert label["how"].startswith("python sample_logs/lab")
    assert label["story"]
    texts = texts_of(path)
    if label["signature"]:
        assert any(
            label["signature"] in TERMINAL.sub("", line)
            for lines in texts.values()
            for line in lines
        )
    if "first_failure" in label:
        first = label["first_failure"]
        assert first["text"] in TERMINAL.sub("", texts[first.get("source", "")][first["line"] - 1])


def test_pairs_differ_in_cause() -> None:
    """Cases that end alike, or are the same log with another dump, have different causes."""
    pairs: dict[str, list[str]] = {}
    for fault in ALL:
        if fault.pair:
            pairs.setdefault(fault.pair, []).append(fault.cause)
        if fault.dumps:
            pairs[fault.name] = [dump.cause for dump in fault.dumps]
    assert len(pairs) >= 20
    assert not [name for name, causes in pairs.items() if len(set(causes)) < 2]


def test_the_lab_knows_nothing_of_the_program() -> None:
    """No file of the lab imports the program under test."""
    for module in LAB.rglob("*.py"):
        try:
            tree = ast.parse(module.read_text(encoding="utf-8"))
        except SyntaxError:  # a fault may be a script that does not parse
            continue
        names = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
        } | {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not [name for name in names if name.split(".")[0] == "postmortem"], module


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("Story.\n\ncuase: code.user-exception", "unknown fields \\['cuase'\\]"),
        ("Story.\n\nalso: []", "`cause:`"),
        ("Story.\n\ncause: code.user-exception\nneeds: [moon]", "needs \\['moon'\\]"),
        ("Story.\n\ncause: code.user-exception\nends: never", "ends must be"),
        ("Story.\n\ncause: code.user-exception\nkept: [7]", "kept seeds"),
        ("Story.\n\ncause: [", "no YAML"),
        (
            "Story.\n\ncause: code.user-exception\ndumps: [{name: a, file: nowhere.env, cause: code.user-exception}]",
            "nowhere.env",
        ),
    ],
    ids=[
        "unknown field",
        "no cause",
        "unknown need",
        "unknown end",
        "seed not there",
        "no YAML",
        "dump not there",
    ],
)
def test_a_bad_header_is_refused(tmp_path: Path, header: str, message: str) -> None:
    """The error names the file and what to mend."""
    script = tmp_path / "x.py"
    script.write_text(f'"""{header}\n"""\n', encoding="utf-8")
    with pytest.raises(FaultError, match=message) as caught:
        faults_at(script)
    assert str(script) in str(caught.value)


def test_each_common_cause_has_two_scripts() -> None:
    """A test that leaves one script out must still have another of the same cause.

    Causes with one script only are few, and known.
    """
    scripts: dict[str, set[str]] = {}
    for fault in ALL:
        scripts.setdefault(fault.cause, set()).add(str(fault.path.relative_to(FAULTS)))
    alone = {cause for cause, files in scripts.items() if len(files) < 2}
    assert len(scripts) >= 60
    assert len(alone) <= len(scripts) // 4, sorted(alone)
