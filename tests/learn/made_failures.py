"""Logs of a platform that no rule knows: its storage client declines a write, in several wordings."""

import random
from collections.abc import Iterator
from pathlib import Path

CAUSE = "platform.vault-allowance"
_RAISED = 'File "/opt/conda/lib/python3.11/site-packages/vaultfs/client.py", line 97, in _check'
_ENDS = (
    (
        "Traceback (most recent call last):",
        '  File "/workspace/train.py", line {line}, in <module>',
        "    save(model, step)",
        f"  {_RAISED}",
        "    raise TenantAllowanceError(response.reason)",
        "vaultfs.errors.TenantAllowanceError: tenant {who} has spent its allowance of {most} GiB;"
        " write of shard {shard} declined",
    ),
    (
        "vaultfs: PUT {who}/ckpt-{shard} declined: tenant allowance spent ({most} GiB)",
        "trainer stops: checkpoint could not be stored",
    ),
    (
        "ERROR vaultfs.uploader allowance spent for tenant {who}, shard {shard} stays local",
        "CRITICAL saver: vault refused step {shard}",
    ),
)


def _progress(chance: random.Random) -> Iterator[str]:
    """A run that goes well and stores what it has."""
    loss, form = 2.0 + chance.random(), chance.randrange(2)
    for step in range(10, chance.randint(8, 30) * 10, 10):
        loss *= 0.985 + chance.random() * 0.01
        yield (
            f"step {step} loss {loss:.4f} lr 1.0e-04"
            if form
            else f"{{'loss': {loss:.4f}, 'learning_rate': 4.{step}e-05, 'epoch': {step / 1000}}}"
        )
        if chance.random() < 0.2:
            yield f"vaultfs: stored shard {step} in {chance.random():.1f} s"


def failed(number: int) -> str:
    """A log of a run whose write was declined."""
    chance = random.Random(number)
    label = {
        "line": chance.randint(20, 300),
        "who": chance.choice(["speech", "nlp", "rec", "ads"]),
        "most": chance.choice([500, 1024, 2048]),
        "shard": chance.randint(0, 4000),
    }
    end = [line.format(**label) for line in chance.choice(_ENDS)]
    return "\n".join(["starting training", *_progress(chance), *end]) + "\n"


def unreachable(number: int) -> str:
    """A log of another failure of the same client."""
    chance = random.Random(number)
    end = (
        "Traceback (most recent call last):",
        f'  File "/workspace/train.py", line {chance.randint(20, 300)}, in <module>',
        "    main()",
        '  File "/opt/conda/lib/python3.11/site-packages/vaultfs/client.py", line 380, in _connect',
        "    raise VaultUnreachable(host)",
        "vaultfs.errors.VaultUnreachable: no vault endpoint answered within 30 s",
    )
    return "\n".join(["starting training", *_progress(chance), *end]) + "\n"


def sound(number: int) -> str:
    """A log of the same platform that is still being written."""
    return "\n".join(["starting training", *_progress(random.Random(number))]) + "\n"


def rules(folder: Path) -> Path:
    """A folder with the page of the cause."""
    (folder / "causes").mkdir(parents=True)
    (folder / "taxonomy.yaml").write_text(
        f"causes:\n  {CAUSE}:\n    title: {{en: The allowance is spent, zh: 额度已用完}}\n"
        "    definition: {en: a write to the vault is declined, zh: 写入 vault 被拒绝}\n"
    )
    (folder / "causes" / "vault-allowance.yaml").write_text(
        f"id: {CAUSE}\nwhose: platform\nretry: after-fix\n"
        "explanation: {en: Ask its owner to clear old shards., zh: 请其负责人清理旧分片。}\n"
    )
    return folder
