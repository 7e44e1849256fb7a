r"""Decode a log in any encoding into UTF-8.

In: an `Opened` stream. Out: `Text`: UTF-8 chunks, the encoding's name, whether `\r` is the only
line break, and whether it is a notebook, of which only the printed text is given. Not here:
decompression, lines.

UTF-8 passes through untouched (a line with wrong bytes is mended when it is decoded), so that the
common case costs nothing; UTF-16 (PowerShell transcripts) and GBK (Chinese Windows) are transcoded.
"""

import codecs
import re
from typing import Final

from postmortem.core.errors import InputError
from postmortem.core.log_text import compile_lazily
from postmortem.core.message import say
from postmortem.reading import rewrapped_logs
from postmortem.reading.opener import Opened
from postmortem.reading.sources import Readable, fill

SNIFF: Final = 1 << 20
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HOLE: Final = compile_lazily(rb"\x00{16,}")
"""Left where a log was truncated while a program went on writing; UTF-16 has no such runs."""
_BINARY_SHARE: Final = 0.05
_CONTROLS: Final = bytes(set(range(32)) - {7, 8, 9, 10, 12, 13, 27})
_HIGH: Final = bytes(range(128, 256))


class Text:
    """A log as UTF-8 chunks."""

    def __init__(self, opened: Opened) -> None:
        """Detect encoding and line breaks from the first megabyte.

        Raises:
            InputError: the input is binary, or cannot be read.
        """
        self.opened = opened
        head = fill(opened, SNIFF)
        self.encoding, skip = detect(head, opened.path)
        source = _Decoded(opened, self.encoding, head[skip:])
        self._head = source.head
        self.is_whole = len(head) < SNIFF
        """Whether `head` holds all of it."""
        self.printed: rewrapped_logs.NotebookOutput | None = None
        """What the cells of a notebook printed, where this is one."""
        if rewrapped_logs.is_notebook(self._head):
            self.printed, self.is_whole = rewrapped_logs.NotebookOutput(source), False
            self._head = fill(self.printed, SNIFF)
        else:
            source.head = b""
            self._head = (
                self.is_whole and rewrapped_logs.extract_printed_lines(self._head)
            ) or self._head
        self._source: Readable = self.printed or source
        self.head = self._head
        """The first megabyte as UTF-8; stays readable after it was handed out."""
        self.breaks_by_return = (
            b"\r" in self._head
            and b"\n" not in self._head
            and len(self._head.strip(b"\r")) > 0
            and self.printed is None
        )

    def read(self, size: int) -> bytes:
        """Give up to about `size` bytes of UTF-8, b"" at the end."""
        if self._head:
            chunk, self._head = self._head[:size], self._head[size:]
            return chunk
        return self._source.read(size)


class _Decoded:
    """A stream in an encoding, as UTF-8."""

    def __init__(self, opened: Opened, encoding: str, head: bytes) -> None:
        self._opened = opened
        self._decoder = (
            None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)("replace")
        )
        self.head = self._utf8(head, final=False)
        """What was read of it before, and not handed out yet."""
        self._is_done = False

    def read(self, size: int, /) -> bytes:
        """Give up to about `size` bytes, b"" at the end."""
        if self.head:
            chunk, self.head = self.head[:size], self.head[size:]
            return chunk
        while not self._is_done:
            raw = self._opened.read(size)
            self._is_done = not raw
            if chunk := self._utf8(raw, final=self._is_done):
                return chunk
        return b""

    def _utf8(self, raw: bytes, *, final: bool) -> bytes:
        return (
            raw
            if self._decoder is None
            else self._decoder.decode(raw, final).encode("utf-8", "replace")
        )


def detect(head: bytes, path: str) -> tuple[str, int]:
    """Detect the encoding of a log from its beginning.

    Returns:
        The codec's name (utf-8, utf-16-le, utf-16-be, gb18030) and how many bytes of byte-order
        mark to skip.

    Raises:
        InputError: more than 5 % of the bytes are control bytes, and it is no UTF-16.
    """
    for bom, name in _BOMS:
        if head.startswith(bom):
            return ("utf-8" if name == "utf-8-sig" else name), len(bom)
    sample = _HOLE.sub(b"", head[:65536])
    if sample and b"\x00" in sample and (guess := _detect_utf16_without_bom(sample)):
        return guess, 0
    if sample and len(sample) - len(sample.translate(None, _CONTROLS)) > _BINARY_SHARE * len(
        sample
    ):
        raise InputError(
            say("this is a binary file, not a log"),
            path,
            "name the text log of the run",
        )
    return ("utf-8" if _is_utf8(head) or not _is_gbk(head) else "gb18030"), 0


def _detect_utf16_without_bom(sample: bytes) -> str | None:
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2 or 1
    if odd > 0.6 * half and even < 0.1 * half:
        return "utf-16-le"
    if even > 0.6 * half and odd < 0.1 * half:
        return "utf-16-be"
    return None


def _is_utf8(head: bytes) -> bool:
    """A few wrong bytes (a cut character, one stray byte) do not make a log something else.

    A printed replacement character is not wrong.
    """
    wrong = head.decode("utf-8", "replace").count("�") - head.count("�".encode())
    return wrong <= max(2, _count_high_bytes(head) // 50)


def _is_gbk(head: bytes) -> bool:
    """Chinese in GBK is runs of high bytes; in a Western log they stand alone between letters."""
    text = head[:-1].decode("gb18030", "replace")
    common = sum("\u4e00" <= char <= "\u9fff" for char in text)
    in_runs = sum(map(len, re.findall(rb"[\x80-\xff]{2,}", head)))
    return (
        common > 0
        and text.count("�") <= common // 20 + 1
        and in_runs > 0.6 * _count_high_bytes(head)
    )


def _count_high_bytes(head: bytes) -> int:
    return len(head) - len(head.translate(None, _HIGH))
