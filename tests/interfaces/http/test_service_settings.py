"""The settings of a service: what they say of each other, and that each is told of."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from postmortem.core.host.machine import is_loopback
from postmortem.interfaces.http.service_settings import ServiceSettings, load_settings
from tests.interfaces.http.conftest import ROOT

ANY = "0.0.0.0"  # noqa: S104 -- nothing is bound


def names(model: type[BaseModel]) -> set[str]:
    """Every setting by its last name."""
    found = set()
    for name, field in model.model_fields.items():
        kind = field.annotation
        is_section = isinstance(kind, type) and issubclass(kind, BaseModel)
        found |= names(kind) if is_section else {name}
    return found


@pytest.mark.parametrize("page", ["service.md", "service.zh.md"])
def test_every_setting_is_told_of(page: str) -> None:
    """In both languages."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert [name for name in sorted(names(ServiceSettings)) if name not in text] == []


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("localhost", True),
        ("::1", True),
        (ANY, False),
        ("::", False),
        ("", False),
        ("10.0.0.1", False),
        ("localhost.example.org", False),
    ],
)
def test_it_is_known_who_reaches_an_address(host: str, expected: bool) -> None:  # noqa: FBT001 -- a table
    """Only this machine, or others too."""
    assert is_loopback(host) is expected
    assert ServiceSettings(host=host).is_local is expected


def test_what_is_given_outweighs_the_file(tmp_path: Path) -> None:
    """A section's settings one by one."""
    path = tmp_path / "service.yaml"
    path.write_text("port: 1\nlimits: {workers: 3, waiting: 4}\n")
    found = load_settings(path, {"host": "::1", "limits": {"workers": 5}})
    assert (found.port, found.host) == (1, "::1")
    assert (found.limits.workers, found.limits.waiting) == (5, 4)


def test_names_are_those_of_this_machine_unless_others_reach_it() -> None:
    """On another address any name is answered, since a token is needed there."""
    assert ServiceSettings().hosts == {"localhost", "127.0.0.1", "[::1]"}
    assert ServiceSettings(host=ANY).hosts == {"*"}
    named = ServiceSettings(host=ANY, allowed_hosts=("Post.Example.org",))
    assert named.hosts == {"localhost", "127.0.0.1", "[::1]", "post.example.org"}
