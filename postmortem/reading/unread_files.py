"""Files of a run folder that are not read, each with the reason.

In: a path. Out: why it is not read, by its name alone; None where its name says nothing against it.
Not here: which files there are (`reading.discover`), files whose content turns out to be binary
(`reading.decode`).
"""

import re
from pathlib import PurePath
from typing import Final

from postmortem.core.lazy_regex import compile_lazily
from postmortem.core.message import Message, say

_BINARY: Final = frozenset(
    f".{suffix}"
    for suffix in re.split(
        r"\s+",
        "bin pt pth ckpt safetensors npy npz png jpg jpeg gif svg webp bmp tif tiff pdf zip tar so"
        " o pyc parquet arrow onnx h5 hdf5 mp4 avi wav flac mp3 model gguf whl exe dll msgpack"
        " tfrecord mdb db sqlite lock distcp",
    )
)
_CODE: Final = (
    ".py",
    ".ipynb_checkpoints",
    ".sh",
    ".c",
    ".cpp",
    ".cu",
    ".h",
    ".js",
    ".css",
    ".html",
)
_OF_MODEL: Final = (
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "special_tokens_map.json",
    "added_tokens.json",
    "generation_config.json",
    "preprocessor_config.json",
    "chat_template.jinja",
    "model.safetensors.index.json",
    "pytorch_model.bin.index.json",
)
_POINTERS: Final = ("latest", "last_checkpoint", "latest_checkpointed_iteration.txt", "checkpoint")
_WANDB_LOGS: Final = frozenset({"debug.log", "debug-internal.log", "debug-core.log"})
_MLFLOW_RUN: Final = compile_lazily(r"[0-9a-f]{32}\Z")
_UNPICKLED: Final = say("a pickle: reading it would run code that stands in it")
_ARGUMENTS: Final = say(
    "the Trainer's arguments as a pickle: reading it would run code that stands in it"
)
_SUFFIXES: Final = {
    **dict.fromkeys((".pkl", ".pickle"), _UNPICKLED),
    **dict.fromkeys(_CODE, say("source code, not a log")),
}
_NAMES: Final = {
    "training_args.bin": _ARGUMENTS,
    **dict.fromkeys(_OF_MODEL, say("belongs to the model, not to its training")),
    **dict.fromkeys(_POINTERS, say("names a checkpoint")),
}


def get_skip_reason(path: PurePath) -> Message | None:
    """Say why a file of this name is not read; None if it may be."""
    suffix = path.suffix.lower()
    if suffix in _BINARY and path.name not in _NAMES:
        return say("{suffix} files are not logs", suffix=suffix)
    return _NAMES.get(path.name) or _SUFFIXES.get(suffix) or _get_tracker_skip_reason(path, suffix)


def _get_tracker_skip_reason(path: PurePath, suffix: str) -> Message | None:
    """Give the reason why a file of wandb or MLflow is not read."""
    if suffix == ".wandb":
        return say("wandb's binary record; what the run printed is in files/output.log")
    if path.name in _WANDB_LOGS and "wandb" in path.parts:
        return say("wandb's own log, not the run's")
    is_tag = any(
        part == "tags" and _MLFLOW_RUN.match(before)
        for before, part in zip(path.parts, path.parts[1:], strict=False)
    )
    is_meta = path.name == "meta.yaml" and "mlruns" in path.parts
    if is_tag or is_meta:
        return say("MLflow's own record")
    return None
