"""How an input of a fuzz is changed: its text, then its bytes.

In: a text or bytes, and a source of chance. Out: the same, broken. Not here: how often
(`mutations`).
"""

import bz2
import gzip
import lzma
import random
import re
from collections.abc import Callable
from typing import Final

import zstandard
from beginnings import a_log
from built_texts import built
from corpus import examples
from ingredients import PREFIXES, SMALL, TOKENS, figure


def _cut_end(text: str, chance: random.Random) -> str:
    return text[: chance.randint(0, len(text))]


def _cut_begin(text: str, chance: random.Random) -> str:
    return text[chance.randint(0, len(text)) :]


def _cut_middle(text: str, chance: random.Random) -> str:
    first, last = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
    return text[:first] + text[last:]


def _lines_again(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    first = chance.randrange(len(lines))
    return "\n".join(
        [
            *lines[:first],
            *(lines[first : first + chance.randint(1, 12)] * chance.choice([2, 5, 40, 400])),
            *lines[first:],
        ]
    )


def _lines_shuffled(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    chance.shuffle(lines)
    return "\n".join(lines)


def _lines_dropped(text: str, chance: random.Random) -> str:
    return "\n".join(line for line in text.split("\n") if chance.random() < 0.7)


def _spliced(text: str, chance: random.Random) -> str:
    other = a_log(chance)
    return text[: chance.randint(0, len(text))] + other[chance.randint(0, len(other)) :]


def _interleaved(text: str, chance: random.Random) -> str:
    mixed, other = [], a_log(chance).split("\n")
    for number, line in enumerate(text.split("\n")):
        mixed += [f"[rank0]: {line}", f"[rank1]: {other[number % len(other)]}"]
    return "\n".join(mixed)


def _token_put_in(text: str, chance: random.Random) -> str:
    for _ in range(chance.choice([1, 1, 3, 20])):
        place = chance.randint(0, len(text))
        text = text[:place] + chance.choice(TOKENS) + text[place:]
    return text


def _figure_replaced(text: str, chance: random.Random) -> str:
    share = chance.choice([0.01, 0.1, 1.0])
    return re.sub(
        r"\d+(?:\.\d+)?(?:e[-+]?\d+)?",
        lambda match: figure(chance) if chance.random() < share else match[0],
        text[:SMALL],
    )


def _token_many_times(text: str, chance: random.Random) -> str:
    place = chance.randint(0, len(text))
    words = re.findall(r"\S+\s?", text[place : place + 400]) or ["x"]
    token: str = chance.choice(
        [
            chance.choice(TOKENS),
            chance.choice(words),
            chance.choice(words),
            built(chance)[:200] or "x",
        ]
    )
    return (
        text[:place]
        + token * (chance.choice([100, 2_000, 40_000, 1_000_000]) // max(len(token), 1) + 1)
        + text[place:]
    )


def _without_breaks(text: str, chance: random.Random) -> str:
    return text.replace("\n", chance.choice(["", " ", "\r", "\\n"]))


def _returns(text: str, chance: random.Random) -> str:
    return re.sub("\n", lambda match: "\r" if chance.random() < 0.5 else match[0], text)


def _prefixed(text: str, chance: random.Random) -> str:
    prefix, most = chance.choice(PREFIXES), chance.choice([1, 4, 64, 4_000])
    return "\n".join(
        prefix.format(n=number % most, d=number % 10) + line
        for number, line in enumerate(text.split("\n"))
    )


def _words_swapped(text: str, chance: random.Random) -> str:
    words = text.split(" ")
    for _ in range(min(len(words), 30)):
        one, other = chance.randrange(len(words)), chance.randrange(len(words))
        words[one], words[other] = words[other], words[one]
    return " ".join(words)


def _characters_flipped(text: str, chance: random.Random) -> str:
    characters = list(text)
    for _ in range(min(len(characters), chance.choice([1, 10, 300]))):
        characters[chance.randrange(len(characters))] = chr(
            chance.choice([chance.randrange(128), chance.randrange(0x10FFFF)])
        )
    return "".join(characters)


def _rule_put_in(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    for _ in range(chance.randint(1, 6)):
        lines.insert(
            chance.randint(0, len(lines)),
            built(chance) if chance.random() < 0.5 else chance.choice(examples()),
        )
    return "\n".join(lines)


def _deep(text: str, chance: random.Random) -> str:
    opening, closing = chance.choice([("[", "]"), ('{"a":', "}"), ("(", ")"), ("{'loss': ", "}")])
    depth = chance.choice([10, 500, 3_000, 100_000])
    place = chance.randint(0, len(text))
    return (
        text[:place]
        + opening * depth
        + "1"
        + closing * (depth if chance.random() < 0.6 else 0)
        + text[place:]
    )


CHANGES: Final[tuple[Callable[[str, random.Random], str], ...]] = (
    _cut_end,
    _cut_begin,
    _cut_middle,
    _lines_again,
    _lines_shuffled,
    _lines_dropped,
    _spliced,
    _interleaved,
    _token_put_in,
    _token_put_in,
    _figure_replaced,
    _token_many_times,
    _token_many_times,
    _without_breaks,
    _returns,
    _prefixed,
    _prefixed,
    _words_swapped,
    _characters_flipped,
    _rule_put_in,
    _rule_put_in,
    _deep,
)


def _bytes_flipped(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(min(len(changed), chance.choice([1, 10, 300]))):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _utf_16(data: bytes, chance: random.Random) -> bytes:
    return data.decode("utf-8", "replace").encode(
        chance.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"]), "replace"
    )


def _crlf(data: bytes, chance: random.Random) -> bytes:
    return data.replace(b"\n", chance.choice([b"\r\n", b"\r\r\n"]))


def _noise(data: bytes, chance: random.Random) -> bytes:
    place = chance.randint(0, len(data))
    return data[:place] + chance.randbytes(chance.choice([1, 40, 3_000])) + data[place:]


def _packed(data: bytes, chance: random.Random) -> bytes:
    packers: tuple[Callable[[bytes], bytes], ...] = (
        gzip.compress,
        bz2.compress,
        lzma.compress,
        zstandard.ZstdCompressor().compress,
    )
    packed = chance.choice(packers)(data)
    return (
        packed
        if chance.random() < 0.5
        else (
            _bytes_flipped(packed, chance)
            if chance.random() < 0.5
            else packed[: chance.randint(0, len(packed))]
        )
    )


BYTE_CHANGES: Final = (_bytes_flipped, _utf_16, _crlf, _noise, _packed, _packed)
