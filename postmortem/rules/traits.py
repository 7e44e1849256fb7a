"""Traits of causes and signatures, as `patterns/traits.json` lists them.

Code asks for a trait and never names a cause. A trait lists ids, or beginnings of ids.
"""

import functools
import json
from enum import Enum

from postmortem.core import resources


class Trait(Enum):
    """The traits that code asks for; the file explains each."""

    SOUND = "sound"
    COMPLETED = "completed"
    RUNNING = "running"
    UNEXPLAINED = "unexplained"
    NO_CAUSE_SHOWN = "no-cause-shown"
    USER_EXCEPTION = "user-exception"
    PEER_FAILURE = "peer-failure"
    NONFINITE_UNEXPLAINED = "nonfinite-unexplained"
    RESIDUAL = "residual"
    SHOWN_BY_CURVES = "shown-by-curves"
    SLOW = "slow"
    STANDSTILL = "standstill"
    ABOUT_VALUES = "about-values"
    ABOUT_VERSIONS = "about-versions"
    ABOUT_PACKAGES = "about-packages"
    AMONG_PROCESSES = "among-processes"
    STOPPED_FROM_OUTSIDE = "stopped-from-outside"
    CANCELS_THE_RUN = "cancels-the-run"
    STOPPED_BY_SOMEBODY = "stopped-by-somebody"
    SIGNAL_WITHOUT_REASON = "signal-without-reason"
    ENDS_THE_JOB = "ends-the-job"
    STOPPED_ON_REQUEST = "stopped-on-request"
    MACHINE_LOST = "machine-lost"
    FAULTY_HARDWARE = "faulty-hardware"
    NATIVE_CRASH = "native-crash"
    SPOILS_A_CHECKPOINT = "spoils-a-checkpoint"
    ECHO_OF_A_FAILURE = "echo-of-a-failure"
    ECHO_OR_STOP = "echo-or-stop"
    TAKE_DOWN = "take-down"
    NAMES_NO_PROCESS = "names-no-process"
    NAMES_A_PEER = "names-a-peer"
    FOLLOWS_A_PEER = "follows-a-peer"
    ENDS_WHAT_STOOD_STILL = "ends-what-stood-still"
    MET_WHEN_OTHERS_ENDED = "met-when-others-ended"
    END_OF_A_SILENT_RUN = "end-of-a-silent-run"
    NO_SIGN_OF_LIFE = "no-sign-of-life"
    ENDS_AT_THE_CALL = "ends-at-the-call"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash costs a call in Python


@functools.cache
def list_ids(trait: Trait) -> tuple[str, ...]:
    """List the ids, and beginnings of ids, that have a trait."""
    return tuple(_read_table()[trait.value]["ids"])


def has_trait(name: str | None, trait: Trait) -> bool:
    """Say whether a cause or signature has a trait; None, a verdict without a cause, has none."""
    return name is not None and name.startswith(list_ids(trait))


def get_id(trait: Trait) -> str:
    """Get the one id that has a trait.

    Raises:
        ValueError: the trait lists several ids.
    """
    (name,) = list_ids(trait)
    return name


@functools.cache
def _read_table() -> dict[str, dict[str, list[str]]]:
    file = resources.find_folder("patterns") / "traits.json"
    table: dict[str, dict[str, list[str]]] = json.loads(file.read_text(encoding="utf-8"))
    return table
