"""What the verdict says of its own evidence.

Only a cause with nothing against it is said to have nothing against it.
"""

import dataclasses
from pathlib import Path

import pytest

import postmortem
from postmortem.core.answer import Evidence
from postmortem.core.findings import Environment
from postmortem.core.message import Message, quote
from postmortem.core.wording import convert_texts
from postmortem.diagnosis.case.build import build_case
from postmortem.diagnosis.case.values import Case
from postmortem.diagnosis.inference.ranking import RankedCause
from postmortem.diagnosis.inference.verdict import build_verdict, rank
from postmortem.extraction.job import read
from postmortem.pipeline import get_matcher
from postmortem.report import parts
from postmortem.report.words import Words
from postmortem.rules.base import load

CASE = Case((), (), {}, Environment(), {}, {}, "failed")
FOR, AGAINST = (
    Evidence("signature", "memory.cuda-oom.torch", "signature", quote("out of memory"), 3.0),
    Evidence("shape", "x", "phase", quote("in an evaluation"), -0.7),
)


def said(
    *evidence: Evidence[Message], language: str, rival: float | None = None
) -> tuple[str, str]:
    """The status and the summary for a cause with this evidence, beside a second one of a score."""
    ranked = [
        RankedCause("memory.cuda-oom", 0.8, 3.0, evidence),
        *([RankedCause("memory.gpu-shared", 0.5, rival, (FOR,))] if rival is not None else []),
    ]
    found = build_verdict(ranked, CASE, load(()))
    return found.status, found.summary.text(language)


@pytest.mark.parametrize(
    ("language", "clean", "mixed"),
    [
        ("en", "nothing speaks against it", "more speaks for it than against it"),
        ("zh", "没有反证", "多于反证"),
    ],
)
def test_a_supported_cause_is_said_to_have_nothing_against_it_only_if_so(
    language: str, clean: str, mixed: str
) -> None:
    """With negative evidence of any weight the sentence is another."""
    status, summary = said(FOR, language=language)
    assert (status, clean in summary, mixed in summary) == ("supported", True, False)
    status, summary = said(FOR, AGAINST, language=language)
    assert (status, clean in summary, mixed in summary) == ("supported", False, True)


@pytest.mark.parametrize(
    ("language", "alone", "beside"),
    [
        (
            "en",
            "Most likely: GPU out of memory. The log does not prove it, and no other cause comes near.",
            "Most likely: GPU out of memory. It fits, but so might something else; second: ",
        ),
        ("zh", "但没有其他原因与之接近。", "但其他原因也说得通；其次："),
    ],
)
def test_a_hypothesis_names_its_nearest_rival(language: str, alone: str, beside: str) -> None:
    """In one sentence, and only if there is one."""
    weak = dataclasses.replace(FOR, weight=1.6)
    assert said(weak, language=language)[1].endswith(alone)
    assert beside in said(weak, language=language, rival=2.9)[1]


@pytest.mark.parametrize(
    ("language", "clean", "mixed"),
    [("en", "none against", "more for it than against"), ("zh", "没有反证", "证据多于反证")],
)
def test_the_status_word_is_explained_by_what_is_listed(
    tmp_path: Path, language: str, clean: str, mixed: str
) -> None:
    """The explanation beside the status word agrees with the evidence below it."""
    log = tmp_path / "run.log"
    log.write_text(
        "".join(f"step {index} loss {3.0 * 0.97**index + 0.4:.4f}\n" for index in range(40))
        + "OSError: [Errno 28] No space left on device\n"
    )
    diagnosis = postmortem.analyze(log).diagnosis
    first = diagnosis.causes[0]
    verdict_of = dataclasses.replace(diagnosis.verdict, status="supported")
    for evidence, phrase in (((FOR,), clean), ((FOR, AGAINST), mixed)):
        changed = dataclasses.replace(
            diagnosis,
            verdict=verdict_of,
            causes=(
                convert_texts(dataclasses.replace(first, evidence=evidence), str),
                *diagnosis.causes[1:],
            ),
        )
        assert phrase in parts.format_confidence(changed, Words(language))


@pytest.mark.parametrize(
    ("weight", "cause", "is_first"),
    [
        pytest.param(9.0, "memory.cuda-fragmentation", True, id="for another cause"),
        pytest.param(-9.0, "memory.cuda-oom", False, id="against the one that stood first"),
        pytest.param(0.5, "memory.cuda-oom", True, id="for the one that stands first"),
    ],
)
def test_evidence_from_elsewhere_is_one_more_item(
    tmp_path: Path, weight: float, cause: str, *, is_first: bool
) -> None:
    """What a classifier or a replay says is added up with the rules' evidence, and shown with it."""
    log = tmp_path / "run.log"
    log.write_text("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n")
    machine = get_matcher(())
    case = build_case(read(log, machine), machine.knowledge)
    before = rank(case, machine.knowledge)
    assert before.verdict.cause == "memory.cuda-oom"
    extra = Evidence("classifier", "text-model", "classifier", quote("as in such logs"), weight)
    best = rank(case, machine.knowledge, [(cause, extra)]).causes[0]
    assert (best.id == cause, extra in best.evidence) == (is_first, is_first)
    assert best.probability != before.causes[0].probability
