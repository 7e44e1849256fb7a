"""What is missing, by the names under which it is asked for: a key, a module, pip's distribution.

In: what the strongest signature of a cause has captured. Out: names. Not here: whether they may
stand in a command (`fixes.figures`).
"""

import re
from collections.abc import Mapping
from typing import Final

from postmortem.core.lazy_regex import compile_lazily

_CAPTURE: Final = "capture_"
_KEYS: Final = ("key", "field", "column")
_ASKED: Final = ("package", "packages", "requirement", "other", "uv", "module", "origin")
_BETWEEN: Final = compile_lazily(r"[\s,]+(?![<>=!~])")
"""Between two requirements, not between a name and its version."""
_DISTRIBUTION: Final = compile_lazily(r"[A-Za-z0-9][\w.-]{0,60}")
_DISTRIBUTIONS: Final[Mapping[str, str]] = {
    "apex": "",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "causal-conv1d-cuda": "causal-conv1d",
    "crypto": "pycryptodome",
    "cuda": "",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "pymupdf",
    "flash-attn-2-cuda": "flash-attn",
    "flash-attn-cuda": "flash-attn",
    "git": "GitPython",
    "google": "protobuf",
    "grpc": "grpcio",
    "magic": "python-magic",
    "openssl": "pyOpenSSL",
    "osgeo": "gdal",
    "pil": "Pillow",
    "pkg-resources": "setuptools",
    "python": "",
    "pytorch": "torch",
    "ruamel": "ruamel.yaml",
    "selective-scan-cuda": "mamba-ssm",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "umap": "umap-learn",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
    **dict.fromkeys(
        (
            "common",
            "config",
            "configs",
            "core",
            "data",
            "dataset",
            "helpers",
            "lib",
            "main",
            "model",
            "models",
            "modules",
            "scripts",
            "src",
            "tools",
            "train",
            "util",
            "utils",
        ),
        "",
    ),
}
"""What pip calls a module that is imported under another name.

Empty where pip has nothing of that name, or something else.
"""


def extract_names(given: Mapping[str, str]) -> dict[str, str]:
    """Read key, module, extension and distribution out of what the signature captured.

    `given` holds the captures as `capture_<name>`; what it does not tell is left out.
    """
    captured = {
        name.removeprefix(_CAPTURE): value.strip()
        for name, value in given.items()
        if name.startswith(_CAPTURE) and value.strip()
    }
    found: dict[str, str] = {}
    if key := _get_first(captured, _KEYS):
        found["key"] = key.strip("'\"")
    if extension := _get_extension_module(captured.get("library", "")):
        found["extension"] = extension
    if module := captured.get("package") or captured.get("module") or captured.get("origin"):
        found["module"] = module.partition(".")[0]
    if distribution := _format_distributions(_get_first(captured, _ASKED) or extension):
        found["distribution"] = distribution
    return found


def _get_first(captured: Mapping[str, str], names: tuple[str, ...]) -> str:
    """Give what the first of some names stands for, or nothing."""
    return next((captured[name] for name in names if name in captured), "")


def _get_extension_module(library: str) -> str:
    """Give the module that a shared library is, or nothing if it is a library of the system."""
    module = library.rpartition("/")[2].partition(".")[0]
    return "" if module.startswith("lib") else module


def _format_distributions(asked: str) -> str:
    """Give the names for pip of all that is asked for; nothing if one of them has none."""
    names = [_find_distribution(word) for word in _BETWEEN.split(asked) if word]
    return " ".join(names) if all(names) else ""


def _find_distribution(word: str) -> str:
    """Give the name under which pip knows a module or requirement, or nothing."""
    bare = re.split(r"[<>=!~\[]", word)[0].partition(".")[0]
    if not _DISTRIBUTION.fullmatch(bare):
        return ""
    normal = re.sub(r"[-_.]+", "-", bare).lower()
    return _DISTRIBUTIONS.get(normal, normal)
