"""Environment dumps as the programs print them, over their versions.

Read as a file of their own and inside a log.
"""

from pathlib import Path

import pytest

from postmortem.core.findings import Environment, Gpu
from postmortem.pipeline import run_pipeline

DUMPS = Path(__file__).parent / "dumps"
A100, H100 = ("A100 (80 GB)", 80, 8.0), ("H100", 80, 9.0)


def gpu(
    model: tuple[str, float, float], count: int = 1, memory: float | None = None
) -> tuple[Gpu, ...]:
    """The GPUs of a machine with one model."""
    name, gib, capability = model
    return (Gpu(name, count, memory if memory is not None else gib, capability),)


EXPECTED: dict[str, dict[str, object]] = {
    "collect-env-11": {
        "python": "3.6",
        "os": "Ubuntu 16.04.6 LTS",
        "cuda": "9.0",
        "driver": "410.48",
        "gpus": gpu(("GeForce GTX 1080 Ti", 11, 6.1), 2),
        "torch": "1.1.0",
        "nvcc": "9.0.176",
    },
    "collect-env-28": {
        "python": "3.10.12",
        "os": "Ubuntu 22.04.5 LTS (x86_64)",
        "cuda": "12.8",
        "driver": "570.124.06",
        "gpus": gpu(H100, 2),
        "torch": "2.8.0+cu128",
        "nvidia-nccl-cu12": "2.27.3",
        "glibc": "2.35",
    },
    "collect-env-cpu": {
        "python": "3.11.9",
        "os": "Microsoft Windows 11 Pro",
        "cuda": None,
        "driver": None,
        "gpus": (),
        "torch": "2.4.1+cpu",
    },
    "collect-env-rocm": {
        "python": "3.12.3",
        "cuda": None,
        "gpus": (Gpu("AMD Instinct MI300X", 1, None, None),),
        "torch": "2.6.0+rocm6.2.4",
        "rocm": "6.2.41134",
    },
    "hf-old": {
        "python": "3.9.16",
        "os": "Linux-5.4.0-135-generic-x86_64-with-glibc2.31",
        "cuda": "11.7",
        "gpus": (),
        "torch": "1.13.1+cu117",
        "transformers": "4.26.1",
        "huggingface-hub": "0.12.0",
    },
    "hf-new": {
        "python": "3.12.3",
        "cuda": "12.8",
        "gpus": gpu(A100),
        "precision": "bf16",
        "world_size": 8,
        "torch": "2.8.0+cu128",
        "accelerate": "1.10.1",
        "deepspeed": "0.17.5",
        "safetensors": "0.6.2",
    },
    "accelerate": {
        "python": "3.12.3",
        "cuda": "12.8",
        "gpus": gpu(A100),
        "precision": "fp16",
        "world_size": 4,
        "accelerate": "1.10.1",
        "numpy": "2.2.6",
        "torch": "2.8.0+cu128",
    },
    "dsreport": {"cuda": "12.1", "torch": "2.4.1+cu121", "deepspeed": "0.14.2", "nvcc": "11.8"},
    "llamafactory": {
        "python": "3.11.11",
        "cuda": "12.4",
        "gpus": gpu(("GeForce RTX 4090", 24, 8.9), 2, 23.65),
        "llamafactory": "0.9.3",
        "trl": "0.9.6",
        "vllm": "0.9.1",
        "bitsandbytes": "0.46.0",
    },
    "trl": {
        "python": "3.11.9",
        "gpus": gpu(H100, 2),
        "trl": "0.24.0",
        "torch": "2.8.0",
        "peft": "0.17.1",
        "huggingface-hub": "0.35.3",
    },
    "trl-old": {"gpus": gpu(H100, 2), "trl": "0.24.0"},
    "mm": {
        "python": "3.10.14",
        "os": "linux",
        "cuda": "12.1",
        "gpus": gpu(A100, 4),
        "world_size": 4,
        "launcher": "pytorch",
        "torch": "2.1.2",
        "mmengine": "0.10.3",
        "torchvision": "0.16.2",
        "cudnn": "8.9.2",
    },
    "smi-410": {
        "driver": "410.48",
        "gpus": (
            Gpu("V100", 1, 16130 / 1024, 7.0),
            Gpu("GeForce GTX 1080 Ti", 1, 11178 / 1024, 6.1),
        ),
    },
    "smi-535": {"driver": "535.183.01", "cuda": "12.2", "gpus": gpu(A100, 2)},
    "smi-570": {
        "driver": "570.124.06",
        "gpus": (Gpu("H100", 1, 81559 / 1024, 9.0), Gpu("GeForce RTX 4090", 1, 24564 / 1024, 8.9)),
    },
    "smi-L": {"gpus": gpu(A100, 3)},
    "smi-q": {"driver": "535.183.01", "cuda": "12.2", "gpus": gpu(A100, 2)},
    "smi-csv": {"driver": "535.183.01", "gpus": gpu(A100, 2)},
    "smi-csv2": {"driver": "535.104.05", "gpus": gpu(("T4", 16, 7.5), 1, 15.0)},
    "piplist": {
        "cuda": "12.1",
        "torch": "2.1.2+cu121",
        "accelerate": "1.10.1",
        "numpy": "1.26.4",
        "nvidia-cublas-cu12": "12.1.3.1",
    },
    "freeze": {
        "torch": "2.4.1",
        "flash-attn": "2.6.3",
        "accelerate": "1.10.1",
        "xformers": "0.0.28",
    },
    "condalist": {
        "python": "3.10.14",
        "cuda": "12.1",
        "torch": "2.1.2",
        "deepspeed": "0.14.2",
        "numpy": "1.26.4",
    },
    "condaexport": {
        "python": "3.10.14",
        "cuda": "12.1",
        "torch": "2.1.2",
        "deepspeed": "0.14.2",
        "numpy": "1.26.4",
    },
    "xformers": {
        "cuda": "12.1",
        "gpus": gpu(A100),
        "torch": "2.4.1+cu121",
        "xformers": "0.0.28.post1",
    },
    "bnb-old": {"gpus": (Gpu("GPU", 1, None, 7.5),)},
    "bnb-mid": {"gpus": (Gpu("GPU", 1, None, 8.6),)},
    "bnb-new": {
        "python": "3.12.3",
        "cuda": "12.8",
        "gpus": (Gpu("GPU", 1, None, 8.9),),
        "bitsandbytes": "0.48.1",
        "torch": "2.8.0+cu128",
    },
    "lightning": {
        "python": "3.10.12",
        "os": "Linux",
        "cuda": "11.8",
        "gpus": gpu(("A100 (40 GB)", 40, 8.0), 2),
        "torch": "2.1.0+cu118",
        "pytorch-lightning": "2.1.0",
        "transformers": "4.35.0",
    },
    "lightning-old": {
        "python": "3.8.5",
        "os": "Linux",
        "cuda": "10.1",
        "gpus": gpu(("V100 (32 GB)", 32, 7.0), 2),
        "torch": "1.7.0+cu101",
        "pytorch-lightning": "1.1.0",
        "numpy": "1.19.2",
    },
    "mmcv": {
        "python": "3.8.10",
        "os": "linux",
        "cuda": "11.1",
        "gpus": gpu(("GeForce RTX 2080 Ti", 11, 7.5), 2),
        "torch": "1.9.0+cu111",
        "mmcv": "1.3.9",
        "mmdet": "2.14.0+c1d8a0e",
        "gcc": "7.5.0",
    },
    "unsloth": {
        "cuda": "12.1",
        "gpus": gpu(("T4", 16, 7.5), 1, 14.748),
        "torch": "2.3.1+cu121",
        "unsloth": "2024.8",
    },
}
LOG = "".join(
    f"{{'loss': {2 - step / 10:.4f}, 'grad_norm': 1.5, 'learning_rate': 5e-05, 'epoch': {step / 10:.1f}}}\n"
    for step in range(1, 9)
)


def known(environment: Environment, names: dict[str, object]) -> dict[str, object]:
    """What was read under the names that are expected: fields, or packages."""
    return {
        name: getattr(environment, name)
        if name in Environment.__dataclass_fields__
        else environment.packages.get(name)
        for name in names
    }


def test_every_dump_is_expected() -> None:
    """No sample without figures, no figures without a sample."""
    assert {path.stem for path in DUMPS.glob("*.txt")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_dump_beside_the_log(tmp_path: Path, name: str) -> None:
    """Given with --env."""
    (tmp_path / "train.log").write_text(LOG, encoding="utf-8")
    diagnosis = run_pipeline(tmp_path / "train.log", env_files=[DUMPS / f"{name}.txt"])
    assert known(diagnosis.environment, EXPECTED[name]) == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_dump_inside_a_log(tmp_path: Path, name: str) -> None:
    """Printed before the training by a careful script."""
    (tmp_path / "train.log").write_text(
        (DUMPS / f"{name}.txt").read_text(encoding="utf-8") + "\n" + LOG, encoding="utf-8"
    )
    assert known(run_pipeline(tmp_path / "train.log").environment, EXPECTED[name]) == EXPECTED[name]
