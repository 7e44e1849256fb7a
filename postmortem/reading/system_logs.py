"""Recognise texts that no training prints: the kernel's log, and reports of schedulers.

In: the beginning of a text. Out: `kernel`, `scheduler`, `environment` or an empty string. Not here:
what stands in it. Sources: `dmesg` (with seconds since boot, or -T), syslog lines of the kernel,
journalctl -k; Slurm's sacct and scontrol, kubectl describe, LSF's closing report; NCCL's RAS.
"""

from typing import Final

from postmortem.core.lazy_regex import compile_lazily

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
