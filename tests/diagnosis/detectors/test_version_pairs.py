"""Whether versions fit, and whether the failure stands between two that do not."""

import json

import pytest

import postmortem
from postmortem.diagnosis.case.build import build_case
from postmortem.extraction import job
from postmortem.pipeline import get_matcher
from postmortem.rules.base import load

UNFIT, AT_FAILURE = "versions-unfit", "versions-unfit-at-failure"
PAIR = "[pip3] torch==2.5.0+cu124\n[pip3] torchvision==0.19.0\nPython version: 3.10.14\n"
SOUND = PAIR.replace("0.19.0", "0.20.0")
FRAMES = (
    "Traceback (most recent call last):\n"
    '  File "/env/lib/python3.10/site-packages/{first}/a.py", line 1, in <module>\n'
    "    call()\n"
    '  File "/env/lib/python3.10/site-packages/{last}/b.py", line 2, in call\n'
    "    raise error\n"
)
OPERATOR = "RuntimeError: operator torchvision::nms does not exist\n"
BETWEEN = FRAMES.format(first="torchvision", last="torch") + OPERATOR


@pytest.mark.parametrize(
    ("log", "dump", "expected"),
    [
        pytest.param(BETWEEN, PAIR, {UNFIT, AT_FAILURE}, id="between the two"),
        pytest.param(BETWEEN, SOUND, set(), id="that fit"),
        pytest.param(BETWEEN, "", set(), id="no versions known"),
        pytest.param(
            FRAMES.format(first="peft", last="peft") + "AttributeError: no x\n",
            PAIR,
            {UNFIT},
            id="somewhere else",
        ),
        pytest.param(
            FRAMES.format(first="torchvision", last="torch")
            + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n",
            PAIR,
            {UNFIT},
            id="out of memory between the two",
        ),
        pytest.param("{'loss': 1.0, 'epoch': 0.1}\n", PAIR, {UNFIT}, id="nothing failed"),
        pytest.param(
            "pip install torch==2.5.0 torchvision==0.19.0\n", "", set(), id="what is to be"
        ),
    ],
)
def test_pairs(log: str, dump: str, expected: set[str]) -> None:
    """A pair that does not fit counts where the error stands between the two."""
    gathered = job.read([log.encode()], get_matcher(()), env_files=[dump.encode()] if dump else [])
    shapes = build_case(gathered, load()).anomalies
    assert set(shapes) & {UNFIT, AT_FAILURE} == expected
    if expected:
        assert "torchvision 0.20.0" in shapes[UNFIT].message.text("zh")


def test_the_pair_is_mended_by_the_line_for_pip() -> None:
    """With the index of torch's own CUDA; no check stands before it that asks what is known."""
    report = postmortem.analyze([BETWEEN.encode()], env=[PAIR.encode()]).render("json")
    cause = json.loads(report)["causes"][0]
    assert cause["id"] == "environment.version-incompatible"
    fixes = {fix["id"]: fix["snippet"] for fix in cause["fixes"]}
    assert "environment.check-versions" not in fixes
    assert fixes["environment.fit-versions"] == (
        "python -m pip install torchvision==0.20.0"
        " --extra-index-url https://download.pytorch.org/whl/cu124"
    )
