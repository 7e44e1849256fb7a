"""What a source is taken for, as it is called."""

import pytest

from postmortem import Stream, analyze

DUMP = [
    *(f"{name}=={number}.2.1" for number, name in enumerate(("numpy", "torch", "transformers"), 1)),
    *(f"name-{number}=={number}.0.0" for number in range(20)),
]
TICKS = [
    "Setting up the plugin... /envs/gan/lib/python3.8/site-packages/torch/utils/cpp_extension.py",
    *(
        f"tick {tick}  kimg {4 * tick}  time 1d {tick}m  sec/tick 884.8  augment {tick / 90:.3f}"
        for tick in range(100)
    ),
]


@pytest.mark.parametrize(("lines", "kind"), [(TICKS, "log"), (DUMP, "environment")])
def test_a_dump_states_facts_in_many_of_its_lines(lines: list[str], kind: str) -> None:
    """A log in a wording that no reader knows may name a version or two."""
    report = analyze(Stream("log.txt", "\n".join(lines).encode())).analysis
    assert report.sources[0].kind == kind
