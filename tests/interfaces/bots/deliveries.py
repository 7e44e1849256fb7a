"""Deliveries as GitHub sends them, and logs that fail."""

import hashlib
import hmac
import itertools
import json
from typing import Any

from tests.interfaces.bots.standin_github import ADA, PROJECT, StandIn

SECRET = "a secret of the webhook"  # noqa: S105
REPOSITORY = {"id": 42, "full_name": PROJECT, "name": "train", "private": False}
OOM = """{'loss': 1.92, 'grad_norm': 3.1, 'learning_rate': 1e-05, 'epoch': 0.01}
{'loss': 1.71, 'grad_norm': 2.8, 'learning_rate': 2e-05, 'epoch': 0.02}
Traceback (most recent call last):
  File "/home/ada/train.py", line 88, in <module>
    trainer.train()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.65 GiB of which 1.12 GiB is free. Process 3021 has 22.50 GiB memory in use. Of the allocated memory 21.80 GiB is allocated by PyTorch, and 210.00 MiB is reserved by PyTorch but unallocated.
"""
MISSING = """Traceback (most recent call last):
  File "/home/ada/train.py", line 3, in <module>
    import transformers
ModuleNotFoundError: No module named 'transformers'
"""
UNCLEAR = """{'loss': 1.92, 'grad_norm': 3.1, 'learning_rate': 1e-05, 'epoch': 0.01}
srun: error: node17: task 0: Exited with exit code 1
"""
_NUMBERS = itertools.count(1)


def fenced(log: str, before: str = "My training stops.") -> str:
    """The text of an issue with a log in it."""
    return f"{before}\n\n```\n{log}```\n"


def signed(
    event: str, payload: Any, delivery: str = "", secret: str = SECRET
) -> tuple[dict[str, str], bytes]:
    """The headers and the body of a delivery."""
    body = json.dumps(payload).encode()
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/abc1234",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": delivery or f"00000000-0000-0000-0000-{next(_NUMBERS):012}",
        "X-GitHub-Hook-ID": "1",
        "X-Hub-Signature-256": f"sha256={signature}",
    }, body


def opened(standin: StandIn, number: int, action: str = "opened", **other: Any) -> Any:
    """Somebody has opened or edited an issue."""
    issue = standin.issues[number]
    return {
        "action": action,
        "issue": issue,
        "repository": REPOSITORY,
        "sender": issue["user"],
        "installation": {"id": 5, "node_id": "x"},
        **other,
    }


def commented(standin: StandIn, number: int, comment: Any, action: str = "created") -> Any:
    """Somebody has written a comment."""
    return {
        "action": action,
        "issue": standin.issues[number],
        "comment": comment,
        "repository": REPOSITORY,
        "sender": comment["user"],
    }


def run_failed(run: Any, conclusion: str = "failure") -> Any:
    """A run of a workflow has ended."""
    return {
        "action": "completed",
        "workflow": {"id": 9, "name": "train"},
        "workflow_run": {**run, "conclusion": conclusion},
        "repository": REPOSITORY,
        "sender": ADA,
    }
