"""Build a transformers model from its class and configuration, and nothing else.

In: a recipe, the weights of a base model on this machine. Out: the model. Not here: adapters
(`rerun.adapters`), what building may use (`rerun.memory_budget`).

A configuration can name code and models to load, from a hub or a folder. What is not needed to
build is left out; what would load something is refused. Weights of a base model are read here, from
safetensors files alone: transformers itself is shown no folder, in which more may lie.
"""

import contextlib
import importlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from postmortem.core.errors import InputError, MissingExtra
from postmortem.core.lazy_regex import compile_lazily
from postmortem.replay.capsule.json_limits import MOST_BYTES
from postmortem.replay.capsule.manifest import ModelRecipe

_WHERE: Final = "the model of the capsule"
_ATTENTIONS: Final = ("eager", "sdpa", "flash_attention_2", "flash_attention_3", "flex_attention")
"""Any other name would be that of a kernel which is loaded from a hub."""
_LEFT_OUT: Final = frozenset(
    {
        "auto_map", "attn_implementation", "experts_implementation", "trust_remote_code",
        "custom_pipelines", "custom_generate", "task_specific_params", "label2id", "name_or_path",
        "tokenizer_class",
    }
)  # fmt: skip
_LOADING: Final = frozenset(
    {"backbone", "use_timm_backbone", "use_pretrained_backbone", "architecture", "index_path"}
)
"""Fields that make transformers look for another model."""
_MOST: Final = 100_000
"""The greatest number of a field that may count something: layers, heads, labels."""
_LONG: Final = compile_lazily(
    r"vocab|size|dim|position|length|theta|base|_ids?$|token|seed|context|window|hidden|width"
    r"|period|rate|scale|freq|samples|pixels|param|max_|min_|total"
)
"""Fields that measure something, whose numbers may be greater."""
_COUNT: Final = compile_lazily(
    r"^(num|n)_(?!pos|ctx|tok|emb|bucket|vocab)|layers|labels|heads|depth|experts|blocks|stages"
)
_PLACE: Final = compile_lazily(r"[/\\:]|^\.|^timm")
_QUANTIZED: Final = ("bitsandbytes", "bitsandbytes_4bit", "bitsandbytes_8bit")
_WORD: Final = compile_lazily(r"[A-Za-z0-9_.]{1,100}")
_OFFLINE: Final = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")


def build_pretrained(recipe: ModelRecipe, attention: str | None, files: list[Path]) -> Any:
    """Build a model; with the weights in files of a base model, if any are given.

    Raises:
        InputError: it is none of transformers, or its configuration says what is refused.
        MissingExtra: transformers is not installed.
    """
    config = _filter_config(recipe.config or {})
    with _ensure_offline():
        try:
            transformers = importlib.import_module("transformers")
        except ImportError as error:
            raise MissingExtra(
                f"the model is one of transformers, which is not installed: {error}",
                "",
                "pip install transformers, of the version that the capsule names",
            ) from error
        found = getattr(transformers, recipe.class_, None) if recipe.class_.isidentifier() else None
        if not isinstance(found, type) or not issubclass(found, transformers.PreTrainedModel):
            raise InputError(
                f"transformers {transformers.__version__} has no model {recipe.class_[:80]!r}",
                _WHERE,
                "install the version that the capsule names",
            )
        made: Any = found.config_class.from_dict(config)  # type: ignore[attr-defined]
        wanted = attention or recipe.attention
        if wanted in _ATTENTIONS:
            made._attn_implementation = wanted  # noqa: SLF001 -- there is no other way before the build
        if not files:
            return found(made)
        return found.from_pretrained(None, config=made, state_dict=_load_weights(files))  # type: ignore[attr-defined]


def find_base_files(recipe: ModelRecipe) -> list[Path]:
    """Find the safetensors files of a base model: in its folder, or in the cache of the hub.

    Raises:
        InputError: there are none on this machine.
    """
    path = recipe.base.path if recipe.base is not None else ""
    folder = Path(path) if not path.startswith(("//", "\\\\")) else Path()
    if path and not folder.is_dir():
        folder = _find_cached_folder(path)
    files = _list_weight_files(folder) if path and folder.is_dir() else []
    if not files or not all(file.is_file() for file in files):
        raise InputError(
            "the weights of the base model that were not trained are not here as safetensors",
            path[:200] or "nowhere named",
            "put the base model's folder where it was",
        )
    return files


def _find_cached_folder(path: str) -> Path:
    try:
        hub = importlib.import_module("huggingface_hub")
        with _ensure_offline():
            return Path(hub.snapshot_download(path, local_files_only=True))
    except Exception:  # noqa: BLE001 -- whatever the hub says, it is not here
        return Path(os.devnull)


def _list_weight_files(folder: Path) -> list[Path]:
    whole, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    if whole.is_file():
        return [whole]
    if not index.is_file() or index.stat().st_size > MOST_BYTES:
        return []
    try:
        names = set(json.loads(index.read_bytes())["weight_map"].values())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []
    return [folder / Path(str(name)).name for name in sorted(map(str, names))]


def _load_weights(files: list[Path]) -> dict[str, Any]:
    load = importlib.import_module("safetensors.torch").load_file
    return {name: value for file in files for name, value in load(file).items()}


@contextlib.contextmanager
def _ensure_offline() -> Iterator[None]:
    """Fetch nothing, whatever is named and however the environment is set."""
    before = {name: os.environ.get(name) for name in _OFFLINE}
    constants: Any = sys.modules.get("huggingface_hub.constants")
    was_offline = getattr(constants, "HF_HUB_OFFLINE", None)
    os.environ.update(dict.fromkeys(_OFFLINE, "1"))
    if constants is not None:
        constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        if constants is not None:
            constants.HF_HUB_OFFLINE = was_offline
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _filter_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Give what of a configuration builds a model."""
    special = {"id2label": _replace_label_texts, "quantization_config": _check_quantization}
    return {
        key: special[key](value) if key in special else _check_value(key, value)
        for key, value in config.items()
        if not key.startswith("_") and key not in _LEFT_OUT
    }


def _check_quantization(value: Any) -> Any:
    """Let bitsandbytes through, which stores weights in fewer bits; other methods name code."""
    if not value:
        return None
    if not isinstance(value, Mapping) or value.get("quant_method") not in _QUANTIZED:
        raise _build_refusal("quantization_config", "is of another package than bitsandbytes")
    settings = {
        key: item for key, item in value.items() if re.match("load_in_|bnb_4bit_|llm_int8_", key)
    }
    for key, setting in settings.items():
        for part in setting if isinstance(setting, list) else [setting]:
            if not isinstance(part, bool | int | float | None) and not _WORD.fullmatch(str(part)):
                raise _build_refusal(key, "is neither a number nor a name")
    return settings | {"quant_method": value["quant_method"]}


def _check_value(key: str, value: Any) -> Any:
    if key in _LOADING and value:
        raise _build_refusal(key, "makes transformers load another model")
    if isinstance(value, Mapping):
        return _filter_config(value)
    if isinstance(value, list):
        return [_check_value(key, item) for item in value]
    if isinstance(value, str) and _PLACE.search(value):
        raise _build_refusal(key, f"names a place to load from: {value[:60]!r}")
    if (
        isinstance(value, int)
        and abs(value) > _MOST
        and (_COUNT.search(key) or not _LONG.search(key))
    ):
        raise _build_refusal(key, f"is {str(value)[:20]}, more than {_MOST:,}")
    return value


def _replace_label_texts(value: Any) -> Any:
    """Give as many labels, without their texts."""
    if not isinstance(value, Mapping) or len(value) > _MOST:
        raise _build_refusal("id2label", f"is no object of at most {_MOST:,} labels")
    return {key: f"LABEL_{number}" for number, key in enumerate(value)}


def _build_refusal(key: str, what: str) -> InputError:
    return InputError(
        f"{key[:60]!r} of the model's configuration {what}; nothing of it was used",
        _WHERE,
        "record it with build=, a function that gives the model",
    )
