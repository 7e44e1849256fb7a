"""Encodings: whatever comes in, UTF-8 comes out.

A few wrong bytes change nothing, a binary file is refused.
"""

import codecs
from pathlib import Path

import pytest

from postmortem.core.errors import InputError
from postmortem.reading.decode import SNIFF, Text, detect
from postmortem.reading.opener import open_log

ENGLISH = "Epoch 1, loss: 0.5\nRuntimeError: CUDA error: device-side assert triggered\n" * 20
CHINESE = "训练开始，加载模型参数\n第 1 轮 loss: 0.5\nRuntimeError: 显存不足，训练中断\n" * 20


def text_of(folder: Path, raw: bytes) -> Text:
    """The decoded log with these bytes."""
    path = folder / "run.log"
    path.write_bytes(raw)
    return Text(open_log(str(path)))


def decoded(text: Text, size: int = 1 << 16) -> str:
    """All of it; must be valid UTF-8 apart from what was wrong in the file."""
    chunks = []
    while chunk := text.read(size):
        chunks.append(chunk)
    text.opened.close()
    return b"".join(chunks).decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("raw", "encoding", "expected"),
    [
        pytest.param(ENGLISH.encode(), "utf-8", ENGLISH, id="ASCII"),
        pytest.param(CHINESE.encode(), "utf-8", CHINESE, id="UTF-8"),
        pytest.param(CHINESE.encode("utf-8-sig"), "utf-8", CHINESE, id="UTF-8 with its mark"),
        pytest.param(
            codecs.BOM_UTF16_LE + ENGLISH.encode("utf-16-le"),
            "utf-16-le",
            ENGLISH,
            id="UTF-16 LE with its mark",
        ),
        pytest.param(
            codecs.BOM_UTF16_BE + ENGLISH.encode("utf-16-be"),
            "utf-16-be",
            ENGLISH,
            id="UTF-16 BE with its mark",
        ),
        pytest.param(
            codecs.BOM_UTF16_LE + CHINESE.encode("utf-16-le"),
            "utf-16-le",
            CHINESE,
            id="Chinese in UTF-16 LE with its mark",
        ),
        pytest.param(
            ENGLISH.encode("utf-16-le"), "utf-16-le", ENGLISH, id="UTF-16 LE without a mark"
        ),
        pytest.param(
            ENGLISH.encode("utf-16-be"), "utf-16-be", ENGLISH, id="UTF-16 BE without a mark"
        ),
        pytest.param(CHINESE.encode("gbk"), "gb18030", CHINESE, id="GBK"),
        pytest.param(
            (ENGLISH * 60 + CHINESE).encode("gbk"),
            "gb18030",
            ENGLISH * 60 + CHINESE,
            id="GBK behind 100 kB of ASCII",
        ),
        pytest.param(b"", "utf-8", "", id="empty"),
        pytest.param(b"x", "utf-8", "x", id="one byte"),
        pytest.param(b"\0" * 5000, "utf-8", "\0" * 5000, id="nothing but NUL"),
        pytest.param(
            b"\0" * 20 + ENGLISH.encode(),
            "utf-8",
            "\0" * 20 + ENGLISH,
            id="NUL of a crashed file system before the text",
        ),
        pytest.param(
            ENGLISH.encode() + b"\xff" + ENGLISH.encode(),
            "utf-8",
            ENGLISH + "\N{REPLACEMENT CHARACTER}" + ENGLISH,
            id="one stray byte",
        ),
        pytest.param(
            CHINESE.encode()[:-2],
            "utf-8",
            CHINESE[:-2] + "\N{REPLACEMENT CHARACTER}",
            id="cut in the middle of the last character",
        ),
        pytest.param(
            (
                "Sample output: \N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER} ok\n" * 40
            ).encode(),
            "utf-8",
            "Sample output: \N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER} ok\n" * 40,
            id="replacement characters that were printed",
        ),
        pytest.param(
            ("\x1b[36mINFO\x1b[0m ok\a\n" * 40).encode(),
            "utf-8",
            "\x1b[36mINFO\x1b[0m ok\a\n" * 40,
            id="colours are no binary",
        ),
    ],
)
def test_every_encoding_gives_utf_8(
    tmp_path: Path, raw: bytes, encoding: str, expected: str
) -> None:
    """The encoding is named and the text is the same."""
    text = text_of(tmp_path, raw)
    assert text.encoding == encoding
    assert decoded(text) == expected


def test_a_western_log_is_not_taken_for_chinese(tmp_path: Path) -> None:
    """Single accented letters between ASCII letters are no GBK; they alone are replaced."""
    text = text_of(tmp_path, "Größe geändert: RuntimeError für 5 Gänge\n".encode("latin-1") * 30)
    assert text.encoding == "utf-8"
    assert decoded(text).startswith("Gr\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}e ge")


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_truncated_utf_16_keeps_what_is_whole(tmp_path: Path, cut: int) -> None:
    """A unit cut in the middle becomes a replacement character at the end."""
    raw = ENGLISH.encode("utf-16")[:-cut]
    got = decoded(text_of(tmp_path, raw))
    assert ENGLISH.startswith(got.rstrip("\N{REPLACEMENT CHARACTER}"))
    assert len(got) >= len(ENGLISH) - 2


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(bytes(range(256)) * 300, id="every byte"),
        pytest.param(b"PK\x03\x04" + bytes(range(14, 27)) * 500, id="an archive"),
        pytest.param(b"text\n" * 10 + b"\x01\x02\x03\x04\x05" * 1000, id="mostly control bytes"),
    ],
)
def test_a_binary_file_is_refused(tmp_path: Path, raw: bytes) -> None:
    """What is no text is no log; the message says what to name instead."""
    with pytest.raises(InputError, match="binary") as caught:
        detect(raw, str(tmp_path))
    assert caught.value.mend


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "gbk"])
@pytest.mark.parametrize("size", [1, 997, 1 << 20])
def test_the_size_of_the_reads_changes_nothing(tmp_path: Path, encoding: str, size: int) -> None:
    """Characters cut by a read are put together again."""
    long = CHINESE if size == 1 else CHINESE * (SNIFF // len(CHINESE.encode()) + 20)
    assert decoded(text_of(tmp_path, long.encode(encoding)), size) == long


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(b"a\rb\rc", True, id="carriage returns alone"),
        pytest.param(b"a\r\nb\r\n", False, id="Windows line ends"),
        pytest.param(b"10%\r20%\rdone\n", False, id="frames within a line"),
        pytest.param(b"a\nb\n", False, id="line breaks"),
        pytest.param(b"\r\r\r", False, id="nothing between them"),
        pytest.param(b"one line", False, id="no break at all"),
    ],
)
def test_a_file_that_breaks_by_return_says_so(tmp_path: Path, raw: bytes, expected: bool) -> None:  # noqa: FBT001 -- a table
    """Only where a lone carriage return is the only line break are frames lines."""
    text = text_of(tmp_path, raw)
    text.opened.close()
    assert text.breaks_by_return is expected


def test_the_head_stays_readable(tmp_path: Path) -> None:
    """The first megabyte can be looked at after it was handed out."""
    text = text_of(tmp_path, ENGLISH.encode("utf-16"))
    assert decoded(text) == ENGLISH
    assert text.head.decode() == ENGLISH
