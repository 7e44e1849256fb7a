"""Each attachment does its work within the framework it is for: scripts that check what they recorded."""

import os
import subprocess
from pathlib import Path

import pytest
from harness import venvs

from tests.loopback_http import free_port

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


def python() -> str:
    """Give the Python of the environment with all frameworks; made where this run demands them."""
    if named := os.environ.get("POSTMORTEM_FRAMEWORKS_PYTHON"):
        return named
    if "frameworks" not in os.environ.get("POSTMORTEM_REQUIRE", "") and not venvs.ready("recorder"):
        pytest.skip("needs the lab's environment: python sample_logs/lab environments recorder")
    return str(venvs.make("recorder") / "bin" / "python")


@pytest.mark.frameworks
@pytest.mark.parametrize(
    "script",
    [
        "ddp_loop",
        "trainer_lora",
        "accelerate_steps",
        "lightning_steps",
        "mmengine_runner",
        "xtuner_model",
        *(f"deepspeed_engine_steps {stage}" for stage in range(4)),
    ],
)
def test_an_attachment_records(tmp_path: Path, script: str) -> None:
    """The script trains, reads its capsule, and mostly runs it again to the last bit."""
    name, *further = script.split()
    folders = (ROOT, HERE, ROOT / "tests" / "faulty_trainings")
    done = subprocess.run(
        [python(), str(HERE / "attached" / f"{name}.py"), str(tmp_path / "out"), *further],
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join(map(str, folders)),
            "OMP_NUM_THREADS": "1",
            "MASTER_PORT": str(free_port()),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-3000:]
    assert done.stdout.endswith("attached\n")
