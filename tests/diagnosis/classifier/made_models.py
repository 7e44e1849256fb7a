"""Models made by hand: a few grams that speak for a few causes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import xxhash

from postmortem.diagnosis.classifier.models import META, TEXT_FORMAT
from postmortem.diagnosis.classifier.text_features import BITS, VERSION

CALIBRATION = {"sharpness": 10.0, "alone": [0.0, 1.0]}


def made(grams: Mapping[str, str], **changed: Any) -> bytes:
    """The content of a model in which each gram speaks for one cause."""
    causes = sorted({*grams.values(), "unknown.no-cause-shown"})
    weights = bytearray(len(causes) << BITS)
    for gram, cause in grams.items():
        bucket = xxhash.xxh32_intdigest(gram.encode()) >> (32 - BITS)
        weights[bucket * len(causes) + causes.index(cause)] = 100
    meta = {
        "format": TEXT_FORMAT,
        "features": VERSION,
        "bits": BITS,
        "causes": causes,
        "bias": [-1.0] * len(causes),
        "scale": [0.01] * len(causes),
        "calibration": CALIBRATION,
        **changed,
    }
    end = len(weights)
    header = json.dumps(
        {
            "__metadata__": {META: json.dumps(meta)},
            "weights": {"dtype": "I8", "shape": [1 << BITS, len(causes)], "data_offsets": [0, end]},
            "rarity": {
                "dtype": "U8",
                "shape": [1 << BITS],
                "data_offsets": [end, end + (1 << BITS)],
            },
        }
    ).encode()
    return len(header).to_bytes(8, "little") + header + bytes(weights) + bytes([16]) * (1 << BITS)


def written(folder: Path, grams: Mapping[str, str], **changed: Any) -> Path:
    """The path of such a model."""
    path = folder / "made.safetensors"
    path.write_bytes(made(grams, **changed))
    return path
