"""What is shipped works: a built wheel in a fresh environment, away from the checkout."""

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from the checkout."""
    target = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "build",
            "--wheel",
            "--no-isolation",
            "--outdir",
            str(target),
            str(ROOT),
        ],
        check=True,
        capture_output=True,
    )
    return next(target.glob("*.whl"))


@pytest.mark.wheel
def test_the_wheel_carries_its_data(wheel: Path) -> None:
    """Patterns, their compiled form, templates, the schema and the mark of types are inside.

    Tests and samples are not.
    """
    names = zipfile.ZipFile(wheel).namelist()
    assert {
        "postmortem/py.typed",
        "postmortem/_data/knowledge.json",
        "postmortem/locale/zh/LC_MESSAGES/postmortem.mo",
        "postmortem/_data/patterns/taxonomy.yaml",
        "postmortem/_data/templates/report.html.j2",
        "postmortem/_data/models/text.safetensors",
        "postmortem/report/report.schema.json",
        "postmortem/fleet/store/migrations/env.py",
        "postmortem/fleet/store/migrations/versions/r0001_first_tables.py",
    } <= set(names)
    assert not [
        name for name in names if name.startswith(("tests/", "sample_logs/", "benchmarks/"))
    ]


@pytest.mark.wheel
def test_the_wheel_works_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    """Installed into a fresh environment, it analyses a log from another folder.

    Its rules prove themselves.
    """
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    subprocess.run(
        [str(python), "-m", "pip", "install", "-q", str(wheel)], check=True, capture_output=True
    )
    log = tmp_path / "run.log"
    log.write_text(
        "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    import flash_attn\nModuleNotFoundError: No module named 'flash_attn'\n"
    )
    done = subprocess.run(
        [
            str(python),
            "-I",
            "-m",
            "postmortem",
            "analyze",
            str(log),
            "-o",
            str(tmp_path / "report.html"),
            "--format",
            "html",
        ],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert "environment.missing-package" in (tmp_path / "report.html").read_text(encoding="utf-8")
    checked = subprocess.run(
        [str(python), "-I", "-m", "postmortem", "patterns", "check", "--no-attack"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout.decode()


def test_an_editable_install_reads_the_checkout() -> None:
    """In a checkout the rules are those of patterns/, never a stale copy."""
    from postmortem.core import resources

    if "site-packages" in resources.__file__:
        pytest.skip("not an editable install")
    assert resources.find_folder("patterns") == ROOT / "patterns"
    assert resources.find_compiled_knowledge() is None
