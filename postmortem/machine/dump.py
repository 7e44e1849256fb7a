"""The environment dump: what decides between causes, in lines that the program (and people) read.

In: this machine, this Python or another one. Out: text. Not here: reading dumps (`patterns/formats/environment.yaml`).
torch is not imported: a broken installation is often what is being looked for. Only the standard library is, since the file is also run
as a script by the interpreter of the user's training, whose packages are the ones that matter.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_PACKAGES: Final = (
    "torch", "torchvision", "torchaudio", "triton", "numpy", "transformers", "tokenizers", "accelerate", "peft", "trl", "datasets", "deepspeed", "bitsandbytes", "flash-attn", "xformers",
    "safetensors", "huggingface-hub", "xtuner", "mmengine", "mmcv", "lightning", "pytorch-lightning", "llamafactory", "axolotl", "ms-swift", "megatron-core", "vllm", "ray", "wandb", "pydantic",
    "protobuf", "sentencepiece", "apex", "torchtune", "torchtitan", "nvidia-nccl-cu11", "nvidia-nccl-cu12", "nvidia-cublas-cu12", "nvidia-cudnn-cu12", "jax", "tensorflow", "pandas", "pyarrow",
)
_VARIABLES: Final = re.compile(r"(?:CUDA|NCCL|TORCH|PYTORCH|NVIDIA|OMP|GLOO|UCX|HF|TRANSFORMERS|ACCELERATE|DEEPSPEED|MASTER|SLURM_(?:JOB_ID|NNODES|NTASKS|MEM)|LD_LIBRARY)_?[A-Z0-9_]*$|(?:WORLD_SIZE|RANK|LOCAL_RANK)$")
_LOGIN: Final = re.compile(r"//[^/@\s]+@")
_RUNNER: Final = re.compile(r"##+(?=\[|vso\[|teamcity\[)", re.IGNORECASE)
_UNSEEN: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Letters and marks without any shape."""
_SECRET: Final = re.compile(r"TOKEN|KEY|SECRET|PASS|CREDENTIAL", re.IGNORECASE)


def environment_dump() -> str:
    """Write the dump of this machine and this Python; a part that is not there is left out."""
    return _joined(_header(), _packages(), _torch_build(), _limits(), _variables(), _nvidia_smi())


def dump_for(command: Sequence[str]) -> str:
    """Write the dump that belongs to a command: with the packages of its own interpreter, or with none if that cannot be told."""
    python = interpreter_of(command)
    if python is not None:
        done = subprocess.run([python, "-I", __file__], capture_output=True, timeout=60, check=False)
        if done.returncode == 0:
            return done.stdout.decode("utf-8", "replace")
    return _joined(f"OS: {platform.platform()}", _limits(), _variables(), _nvidia_smi())


def interpreter_of(command: Sequence[str]) -> str | None:
    """Find the Python behind a command: itself, or the one that a script such as torchrun names in its first line."""
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


def _joined(*parts: str) -> str:
    r"""Join the parts; of what steers a terminal or a runner, or cannot be seen, only `\n` is left."""
    text = _RUNNER.sub("#", "\n".join(part for part in parts if part).expandtabs(4))
    return "".join(char if char == "\n" or (char.isprintable() and char not in _UNSEEN) else "?" for char in text) + "\n"


def _header() -> str:
    return "\n".join((
        "postmortem environment dump", f"OS: {platform.platform()}", f"Python version: {platform.python_version()} ({platform.machine()}, {Path(sys.executable).name})",
        f"CPU count: {os.cpu_count()}",
    ))


def _packages() -> str:
    lines = []
    for name in _PACKAGES:
        try:
            lines.append(f"[pip3] {name}=={importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return "\n".join(lines)


def _torch_build() -> str:
    """Read torch's CUDA version off its version file, without importing it."""
    try:
        file = next((path for path in importlib.metadata.files("torch") or () if str(path) == "torch/version.py"), None)
    except importlib.metadata.PackageNotFoundError:
        return ""
    if file is None:
        return ""
    found = re.search(r"^cuda(?:: [^=]+)? = (?:'([\d.]+)'|None)", Path(str(file.locate())).read_text(encoding="utf-8"), re.MULTILINE)
    return f"CUDA used to build PyTorch: {found[1] or 'None'}" if found else ""


def _limits() -> str:
    lines = []
    shared = Path("/dev/shm")  # noqa: S108 -- measured, not written to
    if shared.is_dir():
        lines.append(f"shared memory (/dev/shm) size: {shutil.disk_usage(shared).total / 2**30:.2f} GB")
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


def _variables() -> str:
    names = sorted(name for name in os.environ if _VARIABLES.match(name) and not _SECRET.search(name))
    return "\n".join(f"{name}={_LOGIN.sub('//', os.environ[name][:300]).replace(chr(10), ' ')}" for name in names)


def _nvidia_smi() -> str:
    program = shutil.which("nvidia-smi")
    if program is None:
        return "nvidia-smi: not found"
    try:
        done = subprocess.run([program], capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"nvidia-smi: {error}"
    return (done.stdout + done.stderr).decode("utf-8", "replace")


if __name__ == "__main__":
    print(environment_dump(), end="")
