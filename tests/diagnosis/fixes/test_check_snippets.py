"""The snippets name what the packages that are installed here really have."""

import pytest
from check_snippets import check_snippet, find_faults, is_installed


def test_all_snippets_hold_for_the_installed_packages() -> None:
    """What is not installed here is asked by `python tools/check_snippets.py` where it is."""
    assert list(find_faults()) == []


@pytest.mark.parametrize(
    ("stack", "code", "fault"),
    [
        ("pytorch", "for x in", "does not parse"),
        ("pytorch", "from torch.optim import AdamX", "torch.optim has no AdamX"),
        ("pytorch", "import torch.optimizers", "no module torch.optimizers"),
        ("pytorch", "torch.no_such(x)", "torch has no no_such"),
        ("pytorch", "opt = torch.optim.AdamW(p, rate=1)", "torch.optim.AdamW takes no rate"),
        ("pytorch", "DataLoader(data, workers=2)", "DataLoader takes no workers"),
        ("pytorch", "nn.Linear(4, out=2)", "nn.Linear takes no out"),
    ],
)
def test_a_wrong_snippet_is_named(stack: str, code: str, fault: str) -> None:
    """Syntax, imports, attributes, options."""
    if stack == "pytorch" and not is_installed("torch"):
        pytest.skip("torch is not installed")
    found = check_snippet(stack, code)
    assert [one for one in found if one.startswith(fault)], found


@pytest.mark.parametrize(
    ("stack", "code"),
    [
        ("pytorch", "from somewhere_else import Thing\nThing(option=1)"),
        ("pytorch", "model = build(size=3)\nmodel.save(path='x', how=2)"),
        ("pytorch", "torch.npu.empty_cache()"),
        ("pytorch", "DataLoader(data, workers=2)      # before 0.1"),
        ("mmengine", "@MODELS.register_module(force=True)"),
        ("jax", "nn.remat(Block, policy=None)"),
    ],
)
def test_what_is_the_users_own_or_of_a_version_is_no_fault(stack: str, code: str) -> None:
    """What is found nowhere counts for nothing, nor does a line that names its versions."""
    assert check_snippet(stack, code) == []
