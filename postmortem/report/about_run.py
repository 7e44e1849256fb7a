"""Texts about the run that several forms show: its machine, its files, its progress.

In: a `Diagnosis` and the phrases of its language. Out: short plain texts, not yet escaped. Not
here: the verdict and its evidence (`report.parts`), layout.
"""

import shlex
from collections import Counter
from typing import Final

from postmortem.core.answer import BestRecord
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.findings import Attempt, Environment, Gpu, Source
from postmortem.core.log_text import compile_lazily, format_one_line
from postmortem.reading.file_names import parse_attempts
from postmortem.report.display import format_number
from postmortem.report.words import Words

_TELLING_PACKAGES: Final = (
    "torch",
    "transformers",
    "deepspeed",
    "accelerate",
    "trl",
    "peft",
    "bitsandbytes",
    "flash-attn",
    "flash_attn",
    "lightning",
    "pytorch-lightning",
    "megatron-core",
    "mmengine",
    "mmcv",
    "xtuner",
    "vllm",
    "numpy",
)
_PACKAGES_SHOWN: Final = 6
_PATHS_NAMED: Final = 4
_COUNTED: Final = compile_lazily(r"\d+ [a-z]+")


def describe_progress(diagnosis: Diagnosis, words: Words) -> tuple[str, ...]:
    """Say how far the run came and what was saved."""
    state, texts = diagnosis.progress, []
    if state.last_good_step is not None:
        is_bad = diagnosis.first_failure is not None or state.first_bad is not None
        texts.append(
            words(
                "progress.step" if is_bad else "progress.reached",
                value=format_number(state.last_good_step),
            )
        )
    if state.last_checkpoint:
        texts.append(describe_checkpoint(diagnosis, words))
    if state.best is not None:
        texts.append(_describe_best(state.best, words))
    if state.seconds_after_failure is not None:
        texts.append(
            words("progress.after", value=format_duration(state.seconds_after_failure, words))
        )
    return tuple(texts)


def _describe_best(best: BestRecord, words: Words) -> str:
    """Say where the metric that judges the checkpoints was best, and what its last value costs."""
    if best.step is not None:
        place = words("at-step", value=format_number(best.step))
    elif best.epoch is not None:
        place = words("at-epoch", value=format_number(best.epoch))
    else:
        place = words("at-line", value=best.line)
    return words(
        "progress.best" if best.value != best.last else "progress.best-last",
        name=format_one_line(best.name, 80),
        value=format_number(best.value),
        place=place,
        last=format_number(best.last),
    )


def describe_checkpoint(diagnosis: Diagnosis, words: Words) -> str:
    """Say which checkpoint to go back to, if any can be named."""
    state = diagnosis.progress
    if not state.last_checkpoint:
        return ""
    last, good = (
        _format_checkpoint_name(name, words) for name in (state.last_checkpoint, state.resume_from)
    )
    if state.first_bad is not None:
        step, line = state.first_bad
        bad = words(
            "progress.first-bad",
            place=(
                words("at-line", value=line)
                if step is None
                else words("at-step", value=format_number(step))
            ),
        )
    elif diagnosis.first_failure is not None:
        bad = words("progress.the-failure")
    else:
        return words("progress.checkpoint", value=last)
    is_earlier = state.checkpoint_before_first_bad == "yes" and state.resume_from not in {
        None,
        state.last_checkpoint,
    }
    is_late = state.checkpoint_before_first_bad == "no" and state.resume_from is not None
    return words.either(
        "progress.before",
        "earlier" if is_earlier else "late" if is_late else state.checkpoint_before_first_bad,
    ).format(last=last, good=good, bad=bad)


def _format_checkpoint_name(checkpoint: str | None, words: Words) -> str:
    """Name a checkpoint; Megatron's is a bare number, mmengine's a count."""
    name = format_one_line(checkpoint or "", 300)
    if name.isdigit():
        return words("at-step", value=name)
    return words("progress.at", value=name) if _COUNTED.fullmatch(name) else name


def format_duration(seconds: float, words: Words) -> str:
    """Write a stretch of time in its two largest units."""
    whole = round(seconds)
    if whole < 120:
        return words("duration.seconds", value=format_number(seconds, 3) if seconds < 10 else whole)
    units = (("days", 86400), ("hours", 3600), ("minutes", 60), ("seconds", 1))
    counts = [
        (
            name,
            whole
            // size
            % (
                86400 * 10**6
                if name == "days"
                else {"hours": 24, "minutes": 60, "seconds": 60}[name]
            ),
        )
        for name, size in units
    ]
    first = next(index for index, (_, count) in enumerate(counts) if count)
    return " ".join(
        words(f"duration.{name}", value=count) for name, count in counts[first : first + 2] if count
    )


def format_gpu(gpu: Gpu, words: Words) -> str:
    """Name a GPU: how many, memory, compute capability."""
    parts = [f"{gpu.count} × {format_one_line(gpu.name, 80)}"]
    if gpu.memory_gib is not None:
        parts.append(f"{gpu.memory_gib:.0f} GiB")
    if gpu.compute_capability is not None:
        parts.append(words("capability", value=f"{gpu.compute_capability:.1f}"))
    return words("joint").join(parts)


def list_environment_facts(environment: Environment, words: Words) -> tuple[tuple[str, str], ...]:
    """List what is known of the machine and software, packages apart, as (name, value)."""
    pairs = [(words("gpus"), "; ".join(format_gpu(gpu, words) for gpu in environment.gpus))]
    for name in (
        "precision",
        "world_size",
        "launcher",
        "python",
        "cuda",
        "driver",
        "os",
        "exit_status",
        "signal",
    ):
        value = getattr(environment, name)
        pairs.append((words(name), "" if value is None else format_one_line(str(value), 200)))
    return tuple((name, value) for name, value in pairs if value)


def describe_environment(diagnosis: Diagnosis, words: Words) -> list[str]:
    """Name the frameworks on a line, then telling packages, GPUs, precision, and how it ended."""
    environment = diagnosis.environment
    named = [
        f"{name} {environment.packages[name]}"
        for name in _TELLING_PACKAGES
        if name in environment.packages
    ]
    parts = [", ".join(named[:_PACKAGES_SHOWN])] if named else []
    if environment.python:
        parts.append(f"{words('python')} {environment.python}")
    if environment.cuda:
        parts.append(f"{words('cuda')} {environment.cuda}")
    parts += [format_gpu(gpu, words) for gpu in environment.gpus]
    parts += [value for value in (environment.precision, environment.launcher) if value]
    for name in ("world_size", "exit_status", "signal"):
        value = getattr(environment, name)
        if value is not None:
            parts.append(f"{words(name)} {value}")
    lines = (format_frameworks(diagnosis), format_one_line(" · ".join(parts), 600))
    return [line for line in lines if line]


def list_attempts(diagnosis: Diagnosis) -> tuple[Attempt, ...]:
    """List the attempts where a source holds several, or the files are of several.

    The files of one run are none.
    """
    counts = Counter(attempt.source for attempt in diagnosis.attempts)
    of_files = parse_attempts(
        source.path for source in diagnosis.sources if source.kind != "ignored"
    )
    is_several = len(set(of_files.values())) > 1
    return tuple(
        attempt
        for attempt in diagnosis.attempts
        if counts[attempt.source] > 1
        or (is_several and diagnosis.sources[attempt.source].path in of_files)
    )


def format_frameworks(diagnosis: Diagnosis) -> str:
    """Name the frameworks that were recognised."""
    return ", ".join(
        format_one_line(f"{framework.name} {framework.version or ''}", 60)
        for framework in diagnosis.frameworks
    )


def describe_source(source: Source, words: Words) -> str:
    """Say what a source is and how long, and why it was ignored."""
    path = words("stdin") if source.path == "-" else format_one_line(source.path, 300)
    texts = [words.either("kind", source.kind)]
    if source.kind != "ignored":
        texts.append(words("source.lines", count=source.lines))
    if source.compression:
        texts.append(source.compression)
    if source.note:
        texts.append(format_one_line(source.note, 200))
    return path + words("colon") + words("joint").join(texts)


def format_setting_value(value: object) -> str:
    """Write the value of a setting on one line."""
    return format_number(value) if isinstance(value, float) else format_one_line(str(value), 200)


def build_share_command(diagnosis: Diagnosis) -> str:
    """Give the command that writes the text of an issue; nothing for what cannot be read again."""
    paths = diagnosis.given or tuple(
        source.path for source in diagnosis.sources if source.kind not in {"ignored", "environment"}
    )
    if (
        not paths
        or "-" in paths
        or len(paths) > _PATHS_NAMED
        or any(not path.isprintable() for path in paths)
    ):
        return ""
    return " ".join(
        [
            "postmortem",
            "share",
            *(shlex.quote(f"./{path}" if path.startswith("-") else path) for path in paths),
        ]
    )
