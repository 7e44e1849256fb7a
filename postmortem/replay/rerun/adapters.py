"""Put a PEFT adapter on a model again, with an allow-list for its configuration.

In: a model, the configuration that a capsule holds. Out: the model with the adapter. Not here: the
model itself (`rerun.building`).

peft imports a module that a field names (`megatron_core`), and uses others as regular expressions
in `re`, which some patterns keep busy for ever. So a field counts only if it is known to be a
number, a choice or a name; patterns are matched here, within a time, and peft is given names.
"""

import dataclasses
import importlib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import re2

from postmortem.core.errors import InputError, MissingExtra
from postmortem.core.log_text import compile_lazily

_WHERE: Final = "the adapter of the capsule"
_CLASSES: Final = {
    "LORA": "LoraConfig",
    "ADALORA": "AdaLoraConfig",
    "IA3": "IA3Config",
    "LOHA": "LoHaConfig",
    "LOKR": "LoKrConfig",
}
_MOST: Final = 100_000
"""The greatest rank, index or count."""
_MOST_PATTERN: Final = 2_000
_MOST_NAME: Final = 500
_MOST_MEMORY: Final = 8 << 20
"""Bytes that RE2 may take for a pattern."""
_MOST_REPEATS: Final = 2
"""In a pattern that RE2 refuses: its time grows with this power of the length of a name."""
_NAME: Final = compile_lazily(r"[A-Za-z0-9_.-]{1,300}")
_CHOICES: Final = {
    "bias": ("none", "all", "lora_only"),
    "task_type": (
        "SEQ_CLS", "SEQ_2_SEQ_LM", "CAUSAL_LM", "TOKEN_CLS", "QUESTION_ANS", "FEATURE_EXTRACTION",
    ),
    "init_lora_weights": (True, False, "gaussian", "olora", "pissa", "orthogonal"),
    "init_weights": (True, False, "lycoris"),
    "init_ia3_weights": (True, False),
}  # fmt: skip
_FLAGS: Final = (
    "fan_in_fan_out", "use_rslora", "use_dora", "lora_bias", "use_effective_conv2d",
    "decompose_both", "rank_dropout_scale", "ensure_weight_tying",
)  # fmt: skip
_NUMBERS: Final = (
    "r", "lora_alpha", "lora_dropout", "alpha", "rank_dropout", "module_dropout",
    "decompose_factor", "target_r", "init_r", "tinit", "tfinal", "deltaT", "beta1", "beta2",
    "orth_reg_weight", "total_step",
)  # fmt: skip
_NAMES: Final = ("modules_to_save", "layers_pattern", "target_parameters")
_PATTERNS: Final = ("target_modules", "exclude_modules", "feedforward_modules")
_BY_NAME: Final = ("rank_pattern", "alpha_pattern")
_NOT_NEEDED: Final = (
    "auto_mapping", "base_model_name_or_path", "revision", "inference_mode", "peft_version",
    "peft_type", "runtime_config", "megatron_core",
)  # fmt: skip
"""What does not shape an adapter; `megatron_core` counts only with a `megatron_config`."""


def put_adapter(model: Any, recorded: Mapping[str, Any]) -> Any:
    """Put an adapter on a model.

    Raises:
        InputError: it is of another kind, or its configuration says what is not allowed.
        MissingExtra: peft is not installed.
    """
    kind = str(recorded.get("peft_type")).rpartition(".")[2].upper()
    if kind not in _CLASSES:
        raise InputError(
            f"adapters of the kind {kind[:40]!r} are not built from a capsule, only"
            f" {', '.join(_CLASSES)}",
            _WHERE,
            "record it with build=, a function that gives the model with its adapter",
        )
    checked = {
        key: _CHECKS[key](key, value, model)
        for key, value in recorded.items()
        if key in _CHECKS and value is not None
    }
    try:
        peft = importlib.import_module("peft")
    except ImportError as error:
        raise MissingExtra(
            f"the model bears an adapter of peft, which is not installed: {error}",
            "",
            "pip install peft, of the version that the capsule names",
        ) from error
    class_ = getattr(peft, _CLASSES[kind])
    fields = {field.name: field for field in dataclasses.fields(class_)}
    _reject_unknown_fields(recorded, fields)
    _reject_missing_fields(checked, fields)
    try:
        return peft.get_peft_model(model, class_(**checked))
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"the adapter cannot be built again: {type(error).__name__}: {str(error)[:300]}",
            _WHERE,
            "install the version of peft that the capsule names",
        ) from error


def _reject_unknown_fields(recorded: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    """Refuse fields outside the list, unless they say nothing: empty, or peft's default."""
    for key, value in recorded.items():
        if key in _CHECKS or key in _NOT_NEEDED or not value:
            continue
        default = fields[key].default if key in fields else dataclasses.MISSING
        if type(value) is not type(default) or value != default:
            raise _build_refusal(key, "is not among the fields that are read from a capsule")


def _reject_missing_fields(checked: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    for key in sorted(checked.keys() - fields.keys()):
        raise InputError(
            f"the installed peft has no {key!r} in this adapter",
            _WHERE,
            "install the version of peft that the capsule names",
        )


def _build_refusal(key: str, what: str) -> InputError:
    return InputError(
        f"{key[:60]!r} of the adapter's configuration {what}; nothing of it was used",
        _WHERE,
        "record it with build=, a function that gives the model with its adapter",
    )


def _check_choice(key: str, value: Any, _: Any) -> Any:
    is_niter = key == "init_lora_weights" and re.fullmatch(r"pissa_niter_\d{1,2}", str(value))
    if not is_niter and not any(value is choice or value == choice for choice in _CHOICES[key]):
        raise _build_refusal(key, f"is {str(value)[:60]!r}, not one of {_CHOICES[key]}")
    return value


def _check_flag(key: str, value: Any, _: Any) -> bool:
    if not isinstance(value, bool):
        raise _build_refusal(key, "is neither true nor false")
    return value


def _check_number(key: str, value: Any, _: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _MOST:
        raise _build_refusal(key, f"is no number up to {_MOST:,}")
    return value


def _check_numbers(key: str, value: Any, model: Any) -> Any:
    if isinstance(value, list):
        return [_check_numbers(key, item, model) for item in value]
    return _check_number(key, value, model)


def _check_pairs(key: str, value: Any, model: Any) -> Any:
    """Check ranges of layers that are repeated: as many as there are weights at most."""
    ranges = _check_numbers(key, value, model)
    are_pairs = isinstance(ranges, list) and all(
        isinstance(bounds, list) and len(bounds) == 2 for bounds in ranges
    )
    most = sum(1 for _ in model.parameters())
    if not are_pairs or sum(abs(last - first) for first, last in ranges) > most:
        raise _build_refusal(key, "repeats more layers than the model has weights")
    return [tuple(bounds) for bounds in ranges]


def _check_token_indices(key: str, value: Any, model: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            _check_names(key, name, model): _check_numbers(key, item, model)
            for name, item in value.items()
        }
    return _check_numbers(key, value, model)


def _check_names(key: str, value: Any, model: Any) -> Any:
    """Check names of modules, which peft puts into regular expressions."""
    if isinstance(value, list):
        return [_check_names(key, item, model) for item in value]
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise _build_refusal(key, f"holds {str(value)[:60]!r}, which is no name of a module")
    return value


def _resolve_pattern(key: str, value: Any, model: Any) -> Any:
    """Give a list of names as it is; of a pattern the modules that it matches, exactly."""
    if not isinstance(value, str) or value == "all-linear":
        return _check_names(key, value, model)
    found = _match_names(key, [name for name, _ in model.named_modules() if name], value)
    if not found and key == "target_modules":
        raise _build_refusal(key, f"matches no module of the model: {value[:60]!r}")
    return "|".join(map(re.escape, found)) or "(?!)"


def _resolve_by_name(key: str, value: Any, model: Any) -> dict[str, Any]:
    """Give a number for each module that a pattern matches, the whole name each."""
    if not isinstance(value, Mapping):
        raise _build_refusal(key, "is no object")
    resolved: dict[str, Any] = {}
    names = [name for name, _ in model.named_modules() if name]
    for pattern, number in value.items():
        checked = _check_number(key, number, model)
        if _NAME.fullmatch(pattern):
            resolved[pattern] = checked
        else:
            found = _match_names(key, names, rf"(?:.*\.)?(?:{pattern})$")
            resolved |= {
                exact: checked
                for exact in map(_build_exact_pattern, found)
                if exact not in resolved
            }
    return resolved


def _build_exact_pattern(name: str) -> str:
    """Give an expression that is this name alone, in front of which peft puts one of a prefix."""
    first, dot, rest = name.partition(".")
    return f"(?<=^{re.escape(first + dot)}){re.escape(rest)}" if dot else f"^{re.escape(name)}"


def _match_names(key: str, names: Iterable[str], pattern: str) -> list[str]:
    """Match a pattern against names, in a time that grows with their length alone."""
    if len(pattern) > _MOST_PATTERN:
        raise _build_refusal(key, f"is a pattern of more than {_MOST_PATTERN:,} characters")
    try:
        compiled = re2.compile(pattern, _build_re2_options())
    except re2.error:
        compiled = _compile_lookaround(key, pattern)
    return [name for name in names if len(name) <= _MOST_NAME and compiled.fullmatch(name)]


def _build_re2_options() -> Any:
    options = re2.Options()
    options.log_errors, options.max_mem = False, _MOST_MEMORY
    return options


def _compile_lookaround(key: str, pattern: str) -> re.Pattern[str]:
    """Compile what RE2 refuses, such as `(?=…)`, if it has too few repeats to take long."""
    repeats = sum(pattern.count(quantifier) for quantifier in "*+")
    if "{" in pattern or repeats > _MOST_REPEATS or re.search(r"\)[*+]|\(\?[P(]", pattern):
        raise _build_refusal(key, f"is a pattern that may take for ever to match: {pattern[:60]!r}")
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise _build_refusal(
            key, f"is no pattern: {type(error).__name__}: {str(error)[:80]}"
        ) from None


_Check = Callable[[str, Any, Any], Any]
_CHECKS: Final[Mapping[str, _Check]] = {
    **dict.fromkeys(_CHOICES, _check_choice),
    **dict.fromkeys(_FLAGS, _check_flag),
    **dict.fromkeys(_NUMBERS, _check_number),
    **dict.fromkeys(_NAMES, _check_names),
    **dict.fromkeys(_PATTERNS, _resolve_pattern),
    **dict.fromkeys(_BY_NAME, _resolve_by_name),
    "layers_to_transform": _check_numbers,
    "trainable_token_indices": _check_token_indices,
    "layer_replication": _check_pairs,
}
