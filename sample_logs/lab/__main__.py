"""The lab's command line.

    python sample_logs/lab list
        all faults, and which this machine cannot run, and why
    python sample_logs/lab environments [NAME ...]
        make the virtual environments (--freeze: newest allowed versions, new locks)
    python sample_logs/lab run [NAME ...]
        run faults and write sample_logs/<framework>/<fault>-<seed>.log and .yaml
    python sample_logs/lab run --check [NAME ...]
        run again and compare with the labels that are there
    python sample_logs/lab vary CASE ... --seed N --out DIR
        one more case from a recorded one, with what real life adds
    python sample_logs/lab manifest
        write manifest.yaml

NAME is `framework/fault` or a shell pattern. Needs Python 3.11 and PyYAML. Nothing here imports the
program under test.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from harness import venvs
from harness.execute import why_not
from harness.faults import LAB, FaultError, load_faults
from harness.manifest import manifest
from harness.recording import CHATTER, Job, record_all
from harness.variation import KINDS, vary

SAMPLES = LAB.parent


def parser() -> argparse.ArgumentParser:
    """The options of each command."""
    top = argparse.ArgumentParser(
        prog="python sample_logs/lab",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", required=True)
    for name in ("list", "run"):
        command = commands.add_parser(name)
        command.add_argument(
            "names", nargs="*", help="framework/fault, shell patterns allowed; default: all"
        )
        command.add_argument(
            "--quick", action="store_true", help="only the ten faults of the quick sample"
        )
    command.add_argument(
        "--seeds", help="e.g. 0,2, or `all`; default: the seeds that are checked in"
    )
    command.add_argument(
        "--check", action="store_true", help="write nothing; compare with the labels that are there"
    )
    command.add_argument(
        "--out",
        type=Path,
        default=SAMPLES,
        help="folder for <framework>/<fault>-<seed>.*; default: sample_logs",
    )
    command.add_argument("--keep", type=Path, help="leave each run's working folder there")
    command.add_argument("--jobs", type=int, default=2)
    command.add_argument(
        "--verbosity",
        choices=sorted(CHATTER),
        default="normal",
        help="how much the frameworks are told to say",
    )
    make = commands.add_parser("environments")
    make.add_argument("names", nargs="*")
    make.add_argument("--freeze", action="store_true")
    change = commands.add_parser("vary")
    change.add_argument(
        "cases", nargs="+", type=Path, help="logs, folders or labels of recorded cases"
    )
    change.add_argument("--seed", type=int, default=0)
    change.add_argument(
        "--kinds",
        default="",
        help=f"comma-separated, of {', '.join(KINDS)}; default: two to four, by the seed",
    )
    change.add_argument(
        "--out", type=Path, required=True, help="folder for <framework>/<case>-v<seed>.*"
    )
    commands.add_parser("manifest").add_argument(
        "--check", action="store_true", help="only say whether it is up to date"
    )
    return top


def run(args: argparse.Namespace) -> int:
    """Record or compare; exit status 1 if any run failed or differs."""
    faults = [fault for fault in load_faults(args.names) if fault.quick or not args.quick]
    wanted = None if args.seeds in (None, "all") else {int(seed) for seed in args.seeds.split(",")}
    runs = [
        (fault, seed)
        for fault in faults
        for seed in (fault.kept if args.seeds is None else fault.seeds)
        if wanted is None or seed in wanted
    ]
    if not runs:
        raise FaultError(
            "these names and seeds give no run; `list` shows the faults, their headers the seeds"
        )
    states: Counter[str] = Counter()
    for outcome in record_all(
        runs, Job(args.out, args.check, args.keep, args.verbosity), args.jobs
    ):
        states[outcome.state] += 1
        print(f"{outcome.state:9}{outcome.case}  {outcome.detail}", flush=True)
    print(", ".join(f"{count} {state}" for state, count in sorted(states.items())))
    return 1 if states["failed"] or states["differs"] else 0


def show(args: argparse.Namespace) -> int:
    """List faults."""
    for fault in load_faults(args.names):
        if fault.quick or not args.quick:
            reason = why_not(fault)
            print(f"{fault.name:60}{fault.cause:40}{'skipped: ' + reason if reason else ''}")
    return 0


def environments(args: argparse.Namespace) -> int:
    """Make environments."""
    for name in args.names or sorted(path.stem for path in (LAB / "environments").glob("*.yaml")):
        print(venvs.make(name, freeze=args.freeze))
    return 0


def vary_cases(args: argparse.Namespace) -> int:
    """Write one varied case for each that is named."""
    for case in args.cases:
        print(
            vary(
                case.with_suffix("") if case.suffix != ".log" else case,
                args.seed,
                [kind for kind in args.kinds.split(",") if kind],
                args.out,
            )
        )
    return 0


def write_manifest(args: argparse.Namespace) -> int:
    """Write the manifest, or say whether it is up to date."""
    text, path = manifest(load_faults()), SAMPLES / "manifest.yaml"
    if args.check:
        return 0 if path.is_file() and path.read_text(encoding="utf-8") == text else 1
    path.write_text(text, encoding="utf-8")
    return 0


COMMANDS = {
    "list": show,
    "run": run,
    "environments": environments,
    "vary": vary_cases,
    "manifest": write_manifest,
}


def main() -> int:
    """Run one command.

    A fault in a header, an environment or a name is one line on standard error and exit status 2.
    """
    args = parser().parse_args()
    try:
        return COMMANDS[args.command](args)
    except FaultError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
