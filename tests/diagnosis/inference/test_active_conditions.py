"""What holds of a run beside its words: shapes, its end, facts; nothing that a rule found in text."""

from postmortem.diagnosis.inference.case_contents import find_active_conditions
from postmortem.diagnosis.inference.example_cases import build_example_case
from postmortem.pipeline import get_matcher

KNOWLEDGE = get_matcher(()).knowledge


def test_shapes_and_facts_are_named() -> None:
    """Of a case that has them."""
    case = build_example_case(
        {
            "shapes": ["loss-nonfinite"],
            "outcome": "failed",
            "environment": {"precision": "fp16", "exit_status": 1, "world_size": 8},
        }
    )
    found = find_active_conditions(case, KNOWLEDGE)
    assert {"shape loss-nonfinite", "outcome failed", "precision fp16", "exit 1", "world many"} <= {
        *found
    }
    assert any(name.startswith("cond ") for name in found)


def test_signatures_and_tracebacks_name_nothing() -> None:
    """The words are read by the model itself."""
    said = {
        "signatures": [rule.id for rule in KNOWLEDGE.signatures[:200]],
        "tracebacks": [{"exception": "RuntimeError", "message": "CUDA out of memory"}],
    }
    assert find_active_conditions(build_example_case(said), KNOWLEDGE) == find_active_conditions(
        build_example_case({}), KNOWLEDGE
    )
