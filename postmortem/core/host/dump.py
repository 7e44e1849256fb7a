"""The environment dump: versions, GPUs and settings, as lines for people and for the parser.

In: this machine, this Python or another one. Out: text. Not here: reading dumps
(`patterns/formats/environment.yaml`). torch is not imported: a broken installation is often what is
being looked for. Only the standard library is, since the file is also run as a script by the
interpreter of the user's training, whose packages are the ones that matter.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from postmortem.core.log_text import compile_lazily

_PACKAGES: Final = (
    "torch",
    "torchvision",
    "torchaudio",
    "triton",
    "numpy",
    "transformers",
    "tokenizers",
    "accelerate",
    "peft",
    "trl",
    "datasets",
    "deepspeed",
    "bitsandbytes",
    "flash-attn",
    "xformers",
    "safetensors",
    "huggingface-hub",
    "xtuner",
    "mmengine",
    "mmcv",
    "lightning",
    "pytorch-lightning",
    "llamafactory",
    "axolotl",
    "ms-swift",
    "megatron-core",
    "vllm",
    "ray",
    "wandb",
    "pydantic",
    "protobuf",
    "sentencepiece",
    "apex",
    "torchtune",
    "torchtitan",
    "nvidia-nccl-cu11",
    "nvidia-nccl-cu12",
    "nvidia-cublas-cu12",
    "nvidia-cudnn-cu12",
    "nvidia-nccl-cu13",
    "nvidia-cudnn-cu13",
    "torch-npu",
    "torchao",
    "torchmetrics",
    "diffusers",
    "timm",
    "fsspec",
    "opencv-python",
    "opencv-python-headless",
    "scikit-learn",
    "scipy",
    "setuptools",
    "tensorboard",
    "jax",
    "tensorflow",
    "pandas",
    "pyarrow",
)
_VARIABLES: Final = compile_lazily(
    r"(?:CUDA|NCCL|TORCH|PYTORCH|NVIDIA|OMP|GLOO|UCX|HF|TRANSFORMERS|ACCELERATE|DEEPSPEED|MASTER|SLURM_(?:JOB_ID|NNODES|NTASKS|MEM)|LD_LIBRARY)_?[A-Z0-9_]*$|(?:WORLD_SIZE|RANK|LOCAL_RANK)$"
)
_LOGIN: Final = compile_lazily(r"//[^/@\s]+@")
_RUNNER: Final = compile_lazily(r"(?<!#)##+(?=\[|vso\[|teamcity\[)", re.IGNORECASE)
_UNSEEN: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Letters and marks without any shape."""
_SECRET: Final = compile_lazily(r"TOKEN|KEY|SECRET|PASS|CREDENTIAL", re.IGNORECASE)

_INTERPRETER_SECONDS: Final = 15.0
"""Seconds after which the training's interpreter is not waited for.

Its disk may hang, and a report without packages beats none.
"""
_DRIVER_SECONDS: Final = 5.0
"""The same for nvidia-smi, which hangs where a card has fallen off the bus."""

_KILLED_SECONDS: Final = 2.0


class Dump(NamedTuple):
    """An environment dump."""

    text: str
    problem: str = ""
    """Why the interpreter's own part is missing; empty if it is there, or none could be told."""


def build_environment_dump() -> str:
    """Write the dump of this machine and this Python; a part that is not there is left out."""
    return _join_parts(
        _format_header(),
        _format_packages(),
        _read_torch_cuda_version(),
        _format_limits(),
        _format_variables(),
        _run_nvidia_smi(),
    )


def dump_for(command: Sequence[str]) -> Dump:
    """Write the dump that belongs to a command.

    With the packages of its own interpreter, or with none if that cannot be told.
    """
    python, problem = find_interpreter(command), ""
    if python is not None:
        try:
            done = _run_program([python, "-I", "-B", __file__], _INTERPRETER_SECONDS)
        except OSError as error:
            problem = f"{python} gave no environment dump: {error.strerror or error}"
        except subprocess.TimeoutExpired:
            problem = (
                f"{python} gave no environment dump within {_INTERPRETER_SECONDS:.0f} s; its"
                " packages are left out"
            )
        else:
            if done.returncode == 0:
                return Dump(done.stdout.decode("utf-8", "replace"))
    return Dump(
        _join_parts(
            f"OS: {platform.platform()}", _format_limits(), _format_variables(), _run_nvidia_smi()
        ),
        problem,
    )


def find_interpreter(command: Sequence[str]) -> str | None:
    """Find the Python behind a command.

    Itself, or the one that a script such as torchrun names in its first line.
    """
    program = shutil.which(command[0]) if command else None
    if program is None:
        return None
    if re.match(r"python[\d.]*(?:\.exe)?$", Path(program).name):
        return program
    try:
        with Path(program).open("rb") as stream:
            first = stream.readline(300).decode("utf-8", "replace").strip()
    except OSError:
        return None
    words = first.removeprefix("#!").split() if first.startswith("#!") else []
    if words and Path(words[0]).name == "env" and len(words) > 1:
        words = words[1:]
    return shutil.which(words[0]) if words and Path(words[0]).name.startswith("python") else None


def _join_parts(*parts: str) -> str:
    r"""Join the parts; of what steers a terminal or a runner, or cannot be seen, `\n` is left."""
    text = _RUNNER.sub("#", "\n".join(part for part in parts if part).expandtabs(4))
    return (
        "".join(
            char if char == "\n" or (char.isprintable() and char not in _UNSEEN) else "?"
            for char in text
        )
        + "\n"
    )


def _format_header() -> str:
    return "\n".join(
        (
            "postmortem environment dump",
            f"OS: {platform.platform()}",
            (
                f"Python version: {platform.python_version()} ({platform.machine()},"
                f" {Path(sys.executable).name})"
            ),
            f"CPU count: {os.cpu_count()}",
        )
    )


def _format_packages() -> str:
    lines = []
    for name in _PACKAGES:
        try:
            lines.append(f"[pip3] {name}=={importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return "\n".join(lines)


def _read_torch_cuda_version() -> str:
    """Read torch's CUDA version off its version file, without importing it."""
    try:
        file = next(
            (
                path
                for path in importlib.metadata.files("torch") or ()
                if str(path) == "torch/version.py"
            ),
            None,
        )
    except importlib.metadata.PackageNotFoundError:
        return ""
    if file is None:
        return ""
    found = re.search(
        r"^cuda(?:: [^=]+)? = (?:'([\d.]+)'|None)",
        Path(str(file.locate())).read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    return f"CUDA used to build PyTorch: {found[1] or 'None'}" if found else ""


def _format_limits() -> str:
    lines = []
    shared = Path("/dev/shm")  # noqa: S108 -- measured, not written to
    if shared.is_dir():
        lines.append(
            f"shared memory (/dev/shm) size: {shutil.disk_usage(shared).total / 2**30:.2f} GB"
        )
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        lines.append(f"System RAM: {memory / 2**30:.2f} GB")
    except (ValueError, OSError, AttributeError):
        pass
    try:
        import resource  # noqa: PLC0415 -- not on Windows

        lines.append(f"open files limit: {resource.getrlimit(resource.RLIMIT_NOFILE)[0]}")
    except ImportError:
        pass
    return "\n".join(lines)


def _format_variables() -> str:
    names = sorted(
        name for name in os.environ if _VARIABLES.match(name) and not _SECRET.search(name)
    )
    return "\n".join(
        f"{name}={_LOGIN.sub('//', os.environ[name][:300]).replace(chr(10), ' ')}" for name in names
    )


def _run_nvidia_smi() -> str:
    program = shutil.which("nvidia-smi")
    if program is None:
        return "nvidia-smi: not found"
    try:
        done = _run_program([program], _DRIVER_SECONDS)
    except OSError as error:
        return f"nvidia-smi: {error}"
    except subprocess.TimeoutExpired:
        return f"nvidia-smi: no answer within {_DRIVER_SECONDS:.0f} s"
    return (done.stdout + done.stderr).decode("utf-8", "replace")


def _run_program(words: Sequence[str], seconds: float) -> subprocess.CompletedProcess[bytes]:
    """Run a program for so long at most.

    One that cannot even be killed, as where a driver hangs, is not waited for.

    Raises:
        OSError: it cannot be started.
        subprocess.TimeoutExpired: it took longer.
    """
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_KILLED_SECONDS)
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        raise
    return subprocess.CompletedProcess(words, process.returncode, output, errors)


if __name__ == "__main__":
    print(build_environment_dump(), end="")
