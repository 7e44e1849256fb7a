"""The styles by name, each with the layouts that it prints: `step` or `epoch`."""

from curves.styles import epochs, steps
from curves.styles.writing import Style

STYLES: dict[str, tuple[Style, tuple[str, ...]]] = {
    "trainer": (steps.trainer, ("step",)),
    "mmengine": (steps.mmengine, ("step",)),
    "nanogpt": (steps.nanogpt, ("step",)),
    "tqdm": (steps.tqdm_bar, ("step",)),
    "prefixed": (steps.prefixed, ("step",)),
    "megatron": (steps.megatron, ("step",)),
    "torchvision": (steps.torchvision, ("step",)),
    "estimator": (steps.estimator, ("step",)),
    "detectron": (steps.detectron, ("step",)),
    "fairseq": (steps.fairseq, ("step",)),
    "bracket": (steps.bracket, ("step",)),
    "blocks": (steps.blocks, ("step",)),
    "keras": (epochs.keras, ("epoch",)),
    "lightning": (epochs.lightning, ("epoch",)),
    "csv": (epochs.csv, ("step", "epoch")),
    "jsonl": (epochs.jsonl, ("step", "epoch")),
    "table": (epochs.table, ("epoch",)),
    "pipes": (epochs.pipes, ("epoch",)),
    "bracket-epoch": (epochs.bracket_epoch, ("epoch",)),
    "two-lines": (epochs.two_lines, ("epoch",)),
    "chinese": (epochs.chinese, ("step", "epoch")),
    "dict": (epochs.printed_dict, ("step", "epoch")),
}
LAYOUTS: dict[str, tuple[str, ...]] = {name: layouts for name, (_, layouts) in STYLES.items()}
