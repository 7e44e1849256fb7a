"""Runs of which only some facts are known."""

from collections.abc import Mapping
from typing import Any

from postmortem.core.findings import Environment, Gpu, Setting
from postmortem.diagnosis.case.values import Case


def case(
    settings: Mapping[str, Any] | None = None,
    *gpus: Gpu,
    frameworks: tuple[str, ...] = (),
    **known: Any,
) -> Case:
    """A run of which only this is known."""
    found = {name: Setting(value, 0, 1) for name, value in (settings or {}).items()}
    return Case(
        (), (), {}, Environment(gpus=gpus, **known), found, dict.fromkeys(frameworks), "failed"
    )
