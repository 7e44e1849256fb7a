"""Run the trainings of `scripts/` for real and record log, environment and label.

    python sample_logs/lab/record.py [NAME ...] [--python PYTHON]

Each script says in its docstring (YAML behind the first line) which cause it shows. PYTHON needs torch (CPU is enough); it is the one that runs the scripts.
Nothing here imports the product.
"""

import argparse
import ast
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

LAB = Path(__file__).resolve().parent
ROOT = LAB.parent
TIME_LIMIT = 120


def label_of(script: Path) -> tuple[str, str]:
    """The title and the label part of a script's docstring."""
    title, _, rest = (ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or "").partition("\n")
    return title, rest.strip()


def record(script: Path, python: str) -> None:
    """Run one script and write its log and label."""
    title, label = label_of(script)
    quiet = {"PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "default"}
    done = subprocess.run([python, f"scripts/{script.name}"], cwd=LAB, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=TIME_LIMIT, env={**os.environ, **quiet})
    torch = subprocess.run([python, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True, check=True).stdout.strip()
    text = done.stdout.decode().replace(str(LAB), "/workspace/lab").replace(str(Path(python).resolve().parents[1]), "/opt/python").replace(str(Path(python).parents[1]), "/opt/venv")
    log = ROOT / "pytorch" / f"{script.stem}.log"
    log.parent.mkdir(exist_ok=True)
    log.write_text(text, encoding="utf-8", newline="")
    log.with_suffix(".yaml").write_text(
        f"{label}\ncomposed: false\nhow: python sample_logs/lab/record.py {script.stem}\nstory: {json.dumps(title)}\n"
        f"env: {{python: {platform.python_version()!r}, torch: {torch!r}, os: Linux, device: cpu}}\nexit_status: {done.returncode}\n", encoding="utf-8",
    )
    print(f"{script.stem}: exit status {done.returncode}, {len(text.splitlines())} lines")


def main() -> None:
    """Record the named scripts, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--python", default=sys.executable)
    args = parser.parse_args()
    for script in sorted((LAB / "scripts").glob("*.py")):
        if not args.names or script.stem in args.names:
            record(script, args.python)


if __name__ == "__main__":
    main()
