"""Build the model and the loss that a capsule describes.

In: a capsule, the weights of a base model on this machine. Out: a module of torch without the
capsule's weights, a function `(model, batch) -> loss`. Not here: adapters (`rerun.adapters`),
weights and the optimiser (`rerun.bench`), whether the user's code may be executed
(`rerun.requested_replay`).

Classes of torch.nn and of transformers that are installed here are built without asking: what the
capsule holds of them is their arguments, which name no code, and building them may use about as
much memory as the capsule's own files do. A configuration of transformers can name code and models
to load, from a hub or a folder. What is not needed to build is left out; what would load something
is refused. Weights of a base model are read here, from safetensors files alone: transformers itself
is shown no folder, in which more may lie.
"""

import contextlib
import importlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import torch

from postmortem.core.errors import InputError, MissingExtra
from postmortem.core.log_text import compile_lazily
from postmortem.replay.capsule.json_values import MOST_BYTES
from postmortem.replay.capsule.manifest import LossRecipe, ModelRecipe
from postmortem.replay.capsule.opening import Capsule
from postmortem.replay.rerun.adapters import put_adapter
from postmortem.replay.rerun.memory_limits import AllocationGuard, compute_building_limits
from postmortem.replay.rerun.trusted_code import load_named

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


_CONTAINERS: Final = ("Sequential", "ModuleList", "ModuleDict")
_DEEPEST: Final = 64
_ARGUMENT: Final = compile_lazily(
    r"(?!device$|dtype$|process_group$|module$|custom_|args$|kwargs$)[a-z]\w*"
)
"""Arguments that the recorder writes: numbers and choices, no place, type or code."""
_LOSS: Final = compile_lazily(r"[a-z]\w*_loss|(binary_)?cross_entropy(_with_logits)?|kl_div")
_VERSIONS: Final = "install the versions that the capsule names"
Loss = Callable[[Any, Any], Any]


def build_model(capsule: Capsule, attention: str | None = None) -> Any:
    """Build the model with weights of its own.

    Raises:
        InputError: it cannot be built, or takes more than the capsule accounts for.
        MissingExtra: a package is not installed.
    """
    manifest = capsule.manifest
    recipe = manifest.model
    files = find_frozen_files(capsule)
    is_trusted = recipe.kind == "user"
    limits = compute_building_limits(capsule, count_file_bytes(files))
    guard = AllocationGuard(limits, "the model of the capsule")
    try:
        with contextlib.nullcontext() if is_trusted else guard:
            if recipe.kind == "torch":
                model = _build_module(recipe.tree or {}, 0)
            elif is_trusted:
                model = load_named(recipe.file, recipe.name, recipe.sha256)(
                    **(recipe.arguments or {})
                )
            else:
                model = build_pretrained(recipe, attention, files)
            return model if recipe.adapter is None else put_adapter(model, recipe.adapter)
    except (InputError, MissingExtra):
        raise
    except Exception as error:
        raise InputError(
            f"the model cannot be built again: {type(error).__name__}: {str(error)[:500]}",
            recipe.class_ or recipe.name or recipe.kind,
            _VERSIONS,
        ) from error


def count_file_bytes(files: list[Path]) -> int:
    """Give the size of files."""
    return sum(file.stat().st_size for file in files)


def find_frozen_files(capsule: Capsule) -> list[Path]:
    """Find the weights that the capsule does not hold; the user's own code loads them itself.

    Raises:
        InputError: they are not here.
    """
    manifest = capsule.manifest
    if not manifest.weights.frozen or manifest.model.kind == "user":
        return []
    if manifest.model.kind == "torch":
        raise InputError(
            f"{len(manifest.weights.frozen)} frozen weights are not in the capsule and not at hand",
            str(manifest.weights.frozen_from or "nowhere named")[:200],
            "record it anew with these weights, or with build=",
        )
    return find_base_files(manifest.model)


def build_loss_function(recipe: LossRecipe) -> Loss:
    """Give the function that computes the loss.

    Raises:
        InputError: there is none of this name.
    """
    if recipe.kind == "output":
        return _get_output_loss
    if recipe.kind == "user":
        function = load_named(recipe.file, recipe.name, recipe.sha256)
        return lambda model, batch: function(model, batch, *recipe.further)
    function = getattr(torch.nn.functional, recipe.function, None)
    if function is None or not _LOSS.fullmatch(recipe.function):
        raise InputError(
            f"torch.nn.functional has no loss {recipe.function[:80]!r}", "the loss", _VERSIONS
        )
    return lambda model, batch: _compute_torch_loss(model, batch, recipe, function)


def _build_module(tree: Mapping[str, Any], depth: int) -> Any:
    name, children = str(tree.get("class")), tree.get("children") or {}
    found = getattr(torch.nn, name, None)
    if depth > _DEEPEST or not isinstance(found, type) or not issubclass(found, torch.nn.Module):
        raise InputError(f"torch.nn has no module {name[:80]!r}", _WHERE, _VERSIONS)
    if name not in _CONTAINERS and children:
        raise InputError(f"torch.nn.{name} holds no modules of a tree", _WHERE, "record it anew")
    arguments = {} if name in _CONTAINERS else _check_arguments(name, tree.get("arguments") or {})
    built = found(**arguments)
    for child, description in children.items():
        built.add_module(child, _build_module(description, depth + 1))
    return built


def _check_arguments(name: str, arguments: Any) -> dict[str, Any]:
    """Check what a module is built with: plain values, or lists of them."""
    for key, value in arguments.items():
        parts = value if isinstance(value, list) else [value]
        are_plain = all(isinstance(part, bool | int | float | str | None) for part in parts)
        if not _ARGUMENT.fullmatch(key) or not are_plain:
            raise InputError(
                f"torch.nn.{name[:80]} is not built with {key[:60]!r} from a capsule",
                _WHERE,
                "record it with build=, a function that gives the model",
            )
    return dict(arguments)


def _get_output_loss(model: Any, batch: Any) -> Any:
    out = call_model(model, batch)
    if torch.is_tensor(out):
        return out
    if isinstance(out, Mapping):
        return out["loss"]
    return out.loss if hasattr(out, "loss") else out[0]


def call_model(model: Any, batch: Any) -> Any:
    """Call a model with a batch, as a loop does."""
    if isinstance(batch, Mapping):
        keywords = {key: value for key, value in batch.items() if key != "args"}
        return model(*batch.get("args", ()), **keywords)
    return model(*batch) if isinstance(batch, list | tuple) else model(batch)


def _compute_torch_loss(model: Any, batch: Any, recipe: LossRecipe, function: Any) -> Any:
    out = _compute_prediction(model, batch, recipe)
    return function(out, batch[recipe.target], **recipe.arguments)


def _compute_prediction(model: Any, batch: Any, recipe: LossRecipe) -> Any:
    if isinstance(recipe.inputs, list):
        out = call_model(model, {key: batch[key] for key in recipe.inputs})
    elif recipe.inputs is not None:
        out = model(batch[recipe.inputs])
    else:
        out = call_model(
            model, {key: value for key, value in batch.items() if key != recipe.target}
        )
    if recipe.output is None:
        return out
    return getattr(out, recipe.output) if hasattr(out, str(recipe.output)) else out[recipe.output]
