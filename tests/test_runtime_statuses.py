"""What native runtimes print is known by status and standard text, whoever prints it.

In: statuses of CUDA and HIP by number, name and text, of the libraries of the vendors by name, in
wrappers as programs write them; lines of TensorFlow, MXNet, Paddle, Caffe, Kaldi, JAX and of other
accelerators. Out: the cause that stands first. Not here: the rules (`patterns/signatures`).
"""

import pytest

import postmortem
from tests import runtime_statuses as table


def first(text: str) -> str:
    """The cause that stands first for a text that is a whole log."""
    return postmortem.analyze([f"{text}\n".encode()]).to_dict()["causes"][0]["id"]


@pytest.mark.parametrize("status", table.STATUSES, ids=lambda status: status.name)
def test_a_status_of_cuda_is_known_in_every_wrapper(status: table.Status) -> None:
    """Its text, its name or its number is enough, whatever stands around it."""
    found = {wrapper: first(text) for wrapper, text in table.wrapped(status)}
    assert {wrapper for wrapper, cause in found.items() if cause != status.cause} == set(), found


@pytest.mark.parametrize(("name", "cause"), table.LIBRARIES)
def test_a_status_of_a_library_is_known_in_every_wrapper(name: str, cause: str) -> None:
    """The name of the status is enough."""
    found = {wrapper.format(name=name): "" for wrapper in table.LIBRARY_WRAPPERS}
    assert {first(text) for text in found} == {cause}


@pytest.mark.parametrize(("text", "cause"), table.LINES)
def test_a_line_of_a_runtime_names_its_cause(text: str, cause: str) -> None:
    """Alone it is enough for the first place."""
    assert first(text) == cause


@pytest.mark.parametrize("text", table.SILENT)
def test_what_only_looks_like_a_status_is_none(text: str) -> None:
    """Figures, settings and prose beside the name of a runtime fire no rule of statuses."""
    found = postmortem.analyze([f"{text}\n".encode()]).to_dict()["signatures"]
    causes = [one["id"] for one in found if one["role"] == "cause"]
    assert [cause for cause in causes if not cause.endswith(".words")] == []
