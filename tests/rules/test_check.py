"""Every fault of a rule is found, with its place and how to mend it."""

from pathlib import Path

import pytest

from postmortem.rules.check import find_faults

TAXONOMY = """\
causes:
  io.disk-full:
    title: {en: The disk is full, zh: 磁盘已满}
    definition: {en: There is no room., zh: 没有空间。}
"""
CAUSE = """\
id: io.disk-full
explanation: {en: It is full., zh: 满了。}
whose: user
retry: after-fix
for:
  - if: [mine-is-told]
    level: strong
    text: {en: it says so, zh: 如此说明}
"""
CONDITION = """\
- id: mine-is-told
  meaning: {en: it was told, zh: 已说明}
  holds: {shape: zero-loss}
  examples: {holds: [{shapes: [zero-loss]}], fails: [{shapes: [plateau]}]}
"""
ANOMALIES = "".join(
    f"- id: {name}\n  meaning: {{en: it was seen, zh: 已观察到}}\n"
    for name in ("zero-loss", "plateau", "collapse", "high-rate", "hidden-nan")
)


def found(folder: Path, *, cause: str = CAUSE, condition: str = CONDITION) -> list[str]:
    """What the check says about a user's cause and condition."""
    for kind, text in (("causes", cause), ("conditions", condition)):
        (folder / kind).mkdir()
        (folder / kind / "mine.yaml").write_text(text, encoding="utf-8")
    (folder / "known").mkdir()
    (folder / "known" / "taxonomy.yaml").write_text(TAXONOMY, encoding="utf-8")
    (folder / "known" / "anomalies").mkdir()
    (folder / "known" / "anomalies" / "known.yaml").write_text(ANOMALIES, encoding="utf-8")
    known = find_faults([folder], [folder / "known"])
    assert all(fault.mend and "mine.yaml" in str(fault.where) for fault in known)
    return [str(fault.what) for fault in known]


def test_a_well_formed_rule_has_no_fault(tmp_path: Path) -> None:
    """The rules that the faults below are made of."""
    assert found(tmp_path) == []


@pytest.mark.parametrize(
    ("names", "what"),
    [
        pytest.param("if: {shape: zero-loss}", "a predicate stands where names", id="inline"),
        pytest.param("not: {shape: zero-loss}", "a predicate stands where names", id="inline not"),
        pytest.param("when: {shape: zero-loss}", "a predicate stands where names", id="when"),
        pytest.param("if: [mine-is-told, a-b, a-c, a-d]", "at most 3 items", id="four names"),
        pytest.param(
            "if: [mine-is-told, zero-loss]\n    not: [plateau, collapse]",
            "more than 3 conditions",
            id="four names on both sides",
        ),
        pytest.param("not: []", "it names no condition", id="no name"),
        pytest.param("if: [mine-is-tol]", "no condition and no shape has the name", id="unknown"),
        pytest.param("if: [io.disk-fuller]", "no signature has the id", id="unknown signature"),
        pytest.param("if: [io.disk-fuller.*]", "no signature has the id", id="unknown family"),
    ],
)
def test_names_that_an_item_may_not_give(tmp_path: Path, names: str, what: str) -> None:
    """At most three, all known, and nothing but names."""
    (fault,) = found(tmp_path, cause=CAUSE.replace("if: [mine-is-told]", names))
    assert what in fault


@pytest.mark.parametrize(
    ("holds", "what"),
    [
        pytest.param("{shap: zero-loss}", "shap", id="an unknown key"),
        pytest.param("{any: [{gpu: {size: 3}}]}", "gpu.size", id="an unknown key of a GPU"),
        pytest.param("{env: {uptime: 3}}", "env.uptime", id="an unknown key of the machine"),
        pytest.param(
            "{traceback: {line: 3}}", "traceback.line", id="an unknown key of a traceback"
        ),
        pytest.param("{}", "a predicate asks something", id="nothing"),
        pytest.param("{all: [{}]}", "a predicate asks something", id="nothing within"),
        pytest.param("{traceback: {}}", "it asks nothing", id="nothing of a traceback"),
        pytest.param("{precision: fp17}", "precision", id="an unknown precision"),
        pytest.param("{shape: zero-los}", "unknown shape 'zero-los'", id="an unknown shape"),
        pytest.param("{not: {signature: io.gone}}", "no signature has the id", id="no signature"),
        pytest.param("{condition: gone}", "no condition has the name 'gone'", id="no condition"),
        pytest.param("{condition: mine-is-told}", "it names itself", id="a circle"),
        pytest.param("{setting: {model: '~a('}}", "holds.setting", id="no regex"),
        pytest.param(
            "{traceback: {frame: '~a('}}", "holds.traceback.frame", id="no regex of frames"
        ),
    ],
)
def test_predicates_that_a_condition_may_not_have(tmp_path: Path, holds: str, what: str) -> None:
    """Each key stands once, in `rules.predicate_schema`, with what it takes."""
    condition = CONDITION.replace("{shape: zero-loss}", holds, 1)
    assert any(what in fault for fault in found(tmp_path, condition=condition))


def test_a_condition_that_nothing_names_is_a_fault(tmp_path: Path) -> None:
    """It would be kept for nothing; one that another condition names is in use."""
    more = CONDITION.replace("mine-is-told", "another") + CONDITION.replace(
        "mine-is-told", "the-last"
    ).replace("{shape: zero-loss}", "{condition: another}", 1)
    assert found(tmp_path, condition=CONDITION + more) == ["the-last: no rule names this condition"]


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        pytest.param("mine-is-told\n", "zero-loss\n", "a shape has the name", id="a shape's name"),
        pytest.param("zh: 已说明", "zh: ''", "meaning.zh", id="no Chinese"),
        pytest.param(
            "fails: [{shapes: [plateau]}]", "fails: []", "examples.fails", id="no near miss"
        ),
        pytest.param("{shapes: [plateau]}", "{shape: plateau}", "shape", id="an unknown key"),
    ],
)
def test_other_faults_of_a_condition(tmp_path: Path, old: str, new: str, what: str) -> None:
    """A condition says in both languages what it means, and proves it both ways."""
    cause = CAUSE.replace("mine-is-told", "zero-loss") if what.startswith("a shape") else CAUSE
    known = found(tmp_path, cause=cause, condition=CONDITION.replace(old, new, 1))
    assert len(known) == 1
    assert what in known[0]


@pytest.mark.parametrize(
    ("row", "what"),
    [
        pytest.param("{id: zero-loss, meaning: {en: it is 0, zh: 为零}}", "", id="a new meaning"),
        pytest.param("{id: zero-loss, meaning: {en: it is 0}}", "zh: Field required", id="one"),
        pytest.param(
            "{id: zero-loss, meaning: {en: it is 0, zh: 为零}, bad: true}",
            "bad: Extra inputs",
            id="an unknown key",
        ),
        pytest.param(
            "{id: zero-loss, meaning: {en: it is 0, zh: 为零}, is_grave: true}",
            "what is grave is bad",
            id="grave and not bad",
        ),
        pytest.param(
            "{id: zero-loss, meaning: {en: It is 0., zh: 为零}}", "full stop", id="a full stop"
        ),
        pytest.param(
            "{id: zero-gain, meaning: {en: it is 0, zh: 为零}}", "no detector finds", id="unknown"
        ),
    ],
)
def test_an_anomaly_of_a_users_folder_is_checked(tmp_path: Path, row: str, what: str) -> None:
    """It has both languages and known keys, and is one that a detector finds."""
    for folder, text in (("known", ANOMALIES), ("own", f"- {row}\n")):
        (tmp_path / folder / "anomalies").mkdir(parents=True)
        (tmp_path / folder / "anomalies" / "curves.yaml").write_text(text, encoding="utf-8")
    faults = find_faults([tmp_path / "own"], [tmp_path / "known"])
    assert [what in str(fault.what) for fault in faults] == [True] * bool(what)
