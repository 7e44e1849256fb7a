"""Recognise files and texts that are no log of a training: code, documents, system logs, weights.

In: a path; the beginning of a text, or all of it. Out: why a file is not read, by its name alone;
whether a text is a document, source code or a dumped Python configuration; whether it is the log of
a kernel, the report of a scheduler or an environment. Not here: which files there are
(`reading.discover`), files whose content turns out to be binary (`reading.decode`), configurations
and tables, which have readers of their own (`extraction.run_files`).

A single line that only a running program prints (a frame, an exception at the left border, a time,
a level, a label of a process, a bar) makes a text a log, whatever stands around it: people paste
tracebacks with their source and whole issues.

Sources of the system logs: `dmesg` (with seconds since boot, or -T), syslog lines of the kernel,
journalctl -k; Slurm's sacct and scontrol, kubectl describe, LSF's closing report; NCCL's RAS.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import PurePath
from typing import Final

from postmortem.core.findings import NOWHERE
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import Message, say
from postmortem.core.printed_words import join_words
from postmortem.reading.prefixes import clean, has_srun_labels

_TOP: Final = compile_lazily(r"[A-Za-z_]\w{0,60} ?= ?\S|[\])}#\"']|\s|$")
_ASSIGNED: Final = compile_lazily(r"^[a-z_]\w{0,60} = ", re.MULTILINE)
_FEWEST_ASSIGNED: Final = 3


def is_python_dump(head: str) -> bool:
    """Say whether a source that begins like this is nothing but assignments, dicts among them.

    A last line without its end counts for nothing.
    """
    whole = head.rpartition("\n")[0]
    return (
        len(_ASSIGNED.findall(whole)) >= _FEWEST_ASSIGNED
        and "dict(" in whole
        and all(_TOP.match(line) for line in whole.split("\n"))
    )


_LEAST_LINES: Final = 0.8
_KERNEL: Final = compile_lazily(
    r"(?:<\d{1,3}>)?\[ *\d{1,9}\.\d{6}\] |\[[A-Z][a-z]{2} [A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d"
    r" \d{4}\] |[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d \S+ kernel: "
)
_SCHEDULER: Final = compile_lazily(
    r"\A\s*(?:JobID\w*[ |].{0,250}\bState\b|JobId=\d+"
    r" |Name:\s+\S+\nNamespace:\s|NAME\s+READY\s+STATUS\s|Sender: LSF System)",
)

_STATE: Final = compile_lazily(
    r"\A(?:[^\n]{0,200}\n){0,4}NCCL version [^\n]{1,80}\n[^\n]{0,200}\n\s*Job summary\n=",
)


def detect_text_type(head: str) -> str:
    """Say what a text that begins like this is."""
    if _SCHEDULER.search(head):
        return "scheduler"
    if _STATE.match(head):
        return "environment"
    lines = [line for line in head.splitlines()[:200] if line.strip()]
    return (
        "kernel"
        if lines and sum(bool(_KERNEL.match(line)) for line in lines) >= _LEAST_LINES * len(lines)
        else ""
    )


_LARGEST_DOCUMENT: Final = 256 << 10
"""Characters above which a text is no source file that anybody takes for a log."""
_FEWEST_LINES: Final = 4
_CODE_SHARE: Final = 0.6
_PRINTED: Final = compile_lazily(
    r"\s*(?:Traceback \(most recent call|File \"[^\"]{1,400}\", line \d|During handling of the"
    r"|The above exception was|-{1,12}> ?\d{1,6}\s|Original Traceback|Fatal Python error)"
    r"|(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception|Interrupt|Warning|Exit|Failure)"
    r"(?:: |\s*$)"
    r"|[^\n]{0,200}\d%\|"
    r"|\{['\"](?:loss|eval_|train_|step|epoch)"
    r"|(?:slurmstepd|srun|torchrun|wandb|mpirun|mpiexec|bash|sh|python3?|-bash): "
    r"|(?:Killed|Segmentation fault|Aborted|Terminated|terminate called)\b"
    r"|[\w./+-]{1,200}(?:: line \d{1,6}: |:\d{1,6}(?::\d{1,6})?: |\(\d{1,6}\): )"
)
"""At the beginning of a line."""
_STATEMENT: Final = compile_lazily(
    # Python
    r"from [\w.]+ import\b|import [\w.{*\"]|(?:async )?def \w+\(|class \w+|@\w[\w.]*(?:\(.*)?$"
    r"|(?:if|elif|while|for|with|async with|async for|except|match|case)\b.*:$"
    r"|(?:try|else|finally):$"
    r"|(?:return|raise|assert|yield|await|del|global|pass|continue|break)\b"
    r"|[\w.\[\], ]{1,80} (?:[-+*/|&]?=|:=) .*[(\[{]|[\w.]{1,80}\(.*[)(,]$|[rfb]{0,2}\"\"\""
    # languages with braces, shells, build files
    r"|#include\b|#(?:SBATCH|PBS|BSUB|!)|.*[{;]$|[\]})>;,]{1,8}$|(?:pub |static |export )?fn \w+"
    r"|func \w*|package [\w.]+$|use [\w:]+|namespace \w+|(?:public|private|protected)\b"
    r"|(?:const|let|var|export|function)\b|(?:fi|done|esac|then|do)$|set -\w"
    r"|(?:echo|source|module|srun) "
    r"|\w+\(.*\)$|if \[|(?:FROM|RUN|COPY|WORKDIR|ENTRYPOINT|CMD|ENV) \S|.*\\$"
    # markup
    r"|</?[A-Za-z!?][^\n]*|[^\n]*</\w{1,20}>$|\\[a-z]{2,20}\b"
)
_KEPT: Final = compile_lazily(r"\s{0,40}# ?")
"""Before output that somebody kept in the comments of a script."""
_REMARK: Final = compile_lazily(r"(?:#(?![!\w])|//|/\*|\*(?:\s|/|$)|--\s|%\s)")
_QUOTES: Final = compile_lazily(r"\"\"\"|'''")
_YAML_LINE: Final = compile_lazily(r"(?:- )*[\w./-]{1,80}:(?: .*)?$|- \S.*$|---$|#.*$")
_PATCH: Final = compile_lazily(r"(?:diff --git |--- \S+\n\+\+\+ |Index: )")
_HUNK: Final = compile_lazily(r"^@@ -\d", re.MULTILINE)
_SECTION: Final = compile_lazily(
    r"^#{1,4} +(?:install|usage\b|licen[sc]e\b|change ?log\b|contribut|citation\b|getting started"
    r"|requirements\b|\[?v?\d{1,3}\.\d{1,3}\.\d|" + join_words("document-sections") + ")",
    re.IGNORECASE | re.MULTILINE,
)


def is_document(text: str, found: Collection[int] = ()) -> bool:
    """Say whether a whole text is source code, markup, a patch or the page of a project.

    Args:
        text: all of it.
        found: the lines that seem to tell of a failure; code tells of one where it is code itself.
    """
    rows = [
        (number, row) for number, row in enumerate(text.split("\n"), 1) if row and not row.isspace()
    ]
    if len(text) > _LARGEST_DOCUMENT or len(rows) < _FEWEST_LINES:
        return False
    if not _is_shaped_so(text, rows, found):
        return False
    srun = has_srun_labels(text)
    return not any(_is_printed(row, srun=srun) for _, row in rows)


def _is_shaped_so(text: str, rows: list[tuple[int, str]], found: Collection[int]) -> bool:
    """Say whether a text is laid out as a document, whatever its lines say."""
    if _PATCH.match(text) and _HUNK.search(text):
        return True
    if text.lstrip().startswith("# ") and _SECTION.search(text):
        return True
    if all(_YAML_LINE.match(row.strip()) for _, row in rows):
        return any(row.rstrip().endswith(":") for _, row in rows)
    judged = dict(_iter_code_flags(rows))
    is_mostly = sum(judged.values()) >= max(_FEWEST_LINES, _CODE_SHARE * len(judged))
    return is_mostly and all(judged.get(number, True) for number in found)


def _iter_code_flags(rows: list[tuple[int, str]]) -> Iterator[tuple[int, bool]]:
    """Say of each line but remarks whether it is code; an indented one goes with that above it."""
    is_quoted = is_code = False
    for number, row in rows:
        text, was_quoted = row.strip(), is_quoted
        is_quoted ^= len(_QUOTES.findall(text)) % 2 == 1
        if was_quoted or _REMARK.match(text):
            continue
        is_code = bool(_STATEMENT.match(text)) or (is_code and row[0] in " \t")
        yield number, is_code


def _is_printed(row: str, *, srun: bool) -> bool:
    """Say whether only a running program prints a line."""
    if _PRINTED.match(row) or _PRINTED.match(_KEPT.sub("", row)):
        return True
    cleaned = clean(row, srun=srun)
    return cleaned.time is not None or bool(cleaned.level) or cleaned.where != NOWHERE


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
_UNREAD_NAMES: Final = {
    "training_args.bin": _ARGUMENTS,
    **dict.fromkeys(_OF_MODEL, say("belongs to the model, not to its training")),
    **dict.fromkeys(_POINTERS, say("names a checkpoint")),
}


def get_skip_reason(path: PurePath) -> Message | None:
    """Say why a file of this name is not read; None if it may be."""
    suffix = path.suffix.lower()
    if suffix in _BINARY and path.name not in _UNREAD_NAMES:
        return say("{suffix} files are not logs", suffix=suffix)
    return (
        _UNREAD_NAMES.get(path.name)
        or _SUFFIXES.get(suffix)
        or _get_tracker_skip_reason(path, suffix)
    )


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
