"""Archives that a test makes up.

In: files by name. Out: the bytes of an archive. Not here: what is wrong with one.
"""

import io
import tarfile
import zipfile
from collections.abc import Mapping


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return target.getvalue()


def tarred(files: Mapping[str, bytes], mode: str = "w:") -> bytes:
    """A tar, packed as the mode says."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode=mode) as made:  # type: ignore[call-overload]
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            made.addfile(entry, io.BytesIO(content))
    return target.getvalue()
