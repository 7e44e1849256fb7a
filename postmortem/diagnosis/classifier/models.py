"""The two linear models in files, evaluated without any library: of text, and of evidence.

In: the path of a model; the buckets of a text, or figures by name. Out: how much each cause is what
the text sounds like, and which buckets made it so; the log-odds of a verdict that is not proved.
Not here: fitting (`learn`), the figures (`inference.certainty`), what follows for the verdict
(`inference.second_opinion`).

The text model is in safetensors: a header in JSON, then the weights as bytes, a row for each
bucket. A text fills a few hundred buckets, so a few hundred rows are read; adding them up takes
less time than importing NumPy does. Each row is added as one long whole number, in which every
weight has a lane of four bytes to itself.

The evidence model beside it is JSON: for each question a start and a weight for each figure, so
that the log-odds are one sum that can be read. The opinion of the text model is among the figures.
"""

import functools
import json
import math
import mmap
import struct
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import xxhash

from postmortem.core.errors import InputError
from postmortem.core.message import say
from postmortem.core.resources import find_shipped_model
from postmortem.diagnosis.classifier.text_features import BITS, VERSION

EVIDENCE_FORMAT: Final = 1


class LogOddsSum(NamedTuple):
    """A sum of figures that answers one question in log-odds."""

    start: float
    weights: Mapping[str, float]

    def odds(self, figures: Mapping[str, float]) -> float:
        """Add up what the figures say; one that has no weight says nothing."""
        return self.start + sum(
            weight * figures.get(name, 0.0) for name, weight in self.weights.items()
        )


class EvidenceModel(NamedTuple):
    """The questions."""

    alone: LogOddsSum
    """Is a verdict of the rules right, by its evidence alone?"""
    together: LogOddsSum
    """The same, where a text is heard as well."""
    proposed: LogOddsSum
    """Is what the text says right, where the rules abstain?"""
    digest: str = ""


_ITSELF: Final = LogOddsSum(0.0, {"odds": 1.0})
UNFITTED: Final = EvidenceModel(_ITSELF, _ITSELF, LogOddsSum(0.0, {"share": 1.0}))
"""What the rules and the text say of themselves."""


def load_evidence_model(path: Path) -> EvidenceModel:
    """Open a model.

    Raises:
        InputError: there is none, or it is damaged.
    """
    try:
        return parse_evidence_model(path.read_bytes())
    except (OSError, LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            say("the evidence model cannot be used"),
            path,
            "install the program again, or leave the models out with --no-model",
        ) from error


@functools.lru_cache(maxsize=4)
def parse_evidence_model(content: bytes) -> EvidenceModel:
    """Give the model that the content of a file holds."""
    model = json.loads(content)
    if model["format"] != EVIDENCE_FORMAT:
        raise ValueError(model)
    return EvidenceModel(
        _parse_weights(model["alone"]),
        _parse_weights(model["together"]),
        _parse_weights(model["proposed"]),
        xxhash.xxh3_64_hexdigest(content),
    )


def serialize_evidence_model(model: EvidenceModel) -> bytes:
    """Write a model."""
    parts = {name: getattr(model, name) for name in ("alone", "together", "proposed")}
    document: dict[str, Any] = {"format": EVIDENCE_FORMAT}
    document |= {name: {"start": part.start, **part.weights} for name, part in parts.items()}
    return (json.dumps(document, indent=1) + "\n").encode()


def _parse_weights(entry: Mapping[str, Any]) -> LogOddsSum:
    weights = {name: float(weight) for name, weight in entry.items() if name != "start"}
    return LogOddsSum(float(entry["start"]), weights)


META: Final = "postmortem"
"""The key of our part of the header."""
TEXT_FORMAT: Final = 2
_TENSORS: Final = {"weights": "I8", "rarity": "U8"}
RARITY_UNIT: Final = 16.0
_MOST_HEADER: Final = 1 << 20
_LANE: Final = 4
_SIGN: Final = 128
"""What makes any weight positive."""


class Calibration(NamedTuple):
    """What was fitted on cases that the weights had not seen."""

    sharpness: float
    """By which scores are multiplied before they become shares."""
    alone: tuple[float, float]
    """Shift and slope from the log-odds of a share to those of being right, rules unheard."""


class TextModel(NamedTuple):
    """A model that has been opened."""

    digest: str
    causes: Sequence[str]
    bias: Sequence[float]
    scale: Sequence[float]
    calibration: Calibration
    weights: memoryview
    rarity: memoryview
    own: frozenset[str] = frozenset()
    """Causes that a user has taught (`postmortem train --add`)."""
    evidence: EvidenceModel = UNFITTED
    """How far what rules and text say may be believed."""

    def shares(self, found: Iterable[int]) -> dict[str, float]:
        """Give the share of each cause in what a text sounds like; they add up to one."""
        scores = [self.calibration.sharpness * score for score in self.scores(found).values()]
        highest = max(scores)
        raised = [math.exp(score - highest) for score in scores]
        whole = sum(raised)
        return {cause: share / whole for cause, share in zip(self.causes, raised, strict=True)}

    def scores(self, found: Iterable[int]) -> dict[str, float]:
        """Say on which side of each cause's line to all others a text is: above 0 on its own."""
        alike: defaultdict[int, list[int]] = defaultdict(list)
        for bucket in found:
            alike[self.rarity[bucket]].append(bucket)
        length = math.sqrt(sum(len(own) * rarity * rarity for rarity, own in alike.items())) or 1
        figures = zip(self.causes, self.bias, self.scale, self._sum_rows(alike), strict=True)
        return {cause: bias + scale * total / length for cause, bias, scale, total in figures}

    def _sum_rows(self, alike: Mapping[int, Sequence[int]]) -> list[int]:
        """Add up the rows of buckets, each times its rarity, by which they are given.

        No lane overflows: each weight is made positive, at most 255, and so is a rarity; with all
        buckets there are, the sum stays below 2^31.
        """
        width, weights = len(self.causes), self.weights.cast("B")
        flip = int.from_bytes(b"\x80\0\0\0" * width, "little")
        lanes, total, added = bytearray(_LANE * width), 0, 0
        for rarity, buckets in alike.items():
            rows = 0
            for bucket in buckets:
                lanes[::_LANE] = weights[bucket * width : (bucket + 1) * width]
                rows += int.from_bytes(lanes, "little") ^ flip
            total += rarity * rows
            added += rarity * len(buckets)
        sums = struct.unpack(f"<{width}I", total.to_bytes(_LANE * width, "little"))
        return [total - _SIGN * added for total in sums]

    def pulls(self, cause: str, found: Iterable[int]) -> dict[int, float]:
        """Compute how much each bucket contributes to a cause."""
        column = self.causes.index(cause)
        return {bucket: self._read_row(bucket)[column] * self.rarity[bucket] for bucket in found}

    def _read_row(self, bucket: int) -> memoryview:
        width = len(self.causes)
        return self.weights[bucket * width : (bucket + 1) * width]


def encode_rarity(rarity: float) -> int:
    """Give a rarity as the byte that is stored."""
    return min(255, max(1, round(rarity * RARITY_UNIT)))


@functools.lru_cache(maxsize=4)
def load_text_model(path: Path) -> TextModel:
    """Open a model.

    Raises:
        InputError: there is none, it is damaged, or it was fitted to other features.
    """
    try:
        with path.open("rb") as stream:
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise _build_input_error(
            path, str(getattr(error, "strerror", "") or "it is empty")
        ) from error
    model, evidence_path = parse_text_model(data, path), find_shipped_model("evidence.json")
    if evidence_path is None:
        return model
    evidence = load_evidence_model(evidence_path)
    return model._replace(digest=f"{model.digest}+{evidence.digest}", evidence=evidence)


def parse_text_model(data: bytes | mmap.mmap, path: Path) -> TextModel:
    """Give the model that the content of a file holds.

    Raises:
        InputError: it is damaged, or it was fitted to other features.
    """
    try:
        header, body = _parse_header(data)
        meta = json.loads(header["__metadata__"][META])
        _check(meta, path)
        return _build_model(meta, header, memoryview(data)[body:], xxhash.xxh3_128_hexdigest(data))
    except (
        LookupError,
        ValueError,
        TypeError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as error:
        raise _build_input_error(path, "it is no model of this program, or damaged") from error


def _parse_header(data: bytes | mmap.mmap) -> tuple[dict[str, Any], int]:
    size = int.from_bytes(data[:8], "little")
    if not 2 <= size <= min(_MOST_HEADER, len(data)):
        raise ValueError(size)
    header: dict[str, Any] = json.loads(data[8 : 8 + size])
    return header, 8 + size


def _check(meta: Mapping[str, Any], path: Path) -> None:
    """Refuse what another version has written."""
    if (meta["format"], meta["features"], meta["bits"]) != (TEXT_FORMAT, VERSION, BITS):
        actual = f"format {meta['format']}, features {meta['features']}, {meta['bits']} bits"
        needed = f"format {TEXT_FORMAT}, features {VERSION}, {BITS} bits"
        raise _build_input_error(
            path, f"it was trained for {actual}, and this program needs {needed}"
        )


def _build_model(
    meta: Mapping[str, Any], header: Mapping[str, Any], body: memoryview, digest: str
) -> TextModel:
    causes = [str(cause) for cause in meta["causes"]]
    parts = {name: _get_tensor(name, header[name], body) for name in _TENSORS}
    if len(parts["rarity"]) != 1 << BITS or len(parts["weights"]) != len(causes) << BITS:
        raise ValueError(header)
    fitted = meta["calibration"]
    bias, scale = (_parse_numbers(meta[name], len(causes)) for name in ("bias", "scale"))
    (sharpness,) = _parse_numbers([fitted["sharpness"]], 1)
    shift, slope = _parse_numbers(fitted["alone"], 2)
    return TextModel(
        digest,
        causes,
        bias,
        scale,
        Calibration(sharpness, (shift, slope)),
        parts["weights"].cast("b"),
        parts["rarity"],
        frozenset(map(str, meta.get("own", ()))),
    )


def _parse_numbers(values: Iterable[Any], count: int) -> list[float]:
    """Give so many finite numbers."""
    figures = [float(value) for value in values]
    if len(figures) != count or not all(map(math.isfinite, figures)):
        raise ValueError(figures)
    return figures


def _get_tensor(name: str, entry: Mapping[str, Any], body: memoryview) -> memoryview:
    """Give the bytes of a tensor of the type that it must have."""
    start, end = entry["data_offsets"]
    if entry["dtype"] != _TENSORS[name] or not 0 <= start <= end <= len(body):
        raise ValueError(name)
    return body[start:end]


def _build_input_error(path: Path, why: str) -> InputError:
    return InputError(
        say("the model cannot be used: {why}", why=why),
        path,
        "train it again with `postmortem train`, or leave it out with --no-model",
    )
