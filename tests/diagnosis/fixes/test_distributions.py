"""What is missing, by the names under which pip knows it."""

import pytest

from postmortem.diagnosis.fixes.figures import extract_names


@pytest.mark.parametrize(
    ("captured", "distribution"),
    [
        ({"module": "flash_attn"}, "flash-attn"),
        ({"module": "cv2"}, "opencv-python"),
        ({"module": "sklearn.metrics"}, "scikit-learn"),
        ({"module": "PIL"}, "Pillow"),
        ({"module": "yaml"}, "PyYAML"),
        ({"module": "google.protobuf"}, "protobuf"),
        ({"module": "einops"}, "einops"),
        ({"module": "SentencePiece"}, "sentencepiece"),
        ({"requirement": "tokenizers>=0.10.1,<0.11"}, "tokenizers"),
        ({"requirement": "tokenizers>=0.10.1"}, "tokenizers"),
        ({"packages": "flash_attn, einops"}, "flash-attn einops"),
        ({"uv": "xformers==0.0.29"}, "xformers"),
        ({"package": "PyTorch"}, "torch"),
        ({"package": "Python"}, ""),
        ({"module": "utils"}, ""),
        ({"module": "apex"}, ""),
        ({"module": "x;reboot"}, ""),
        ({"packages": "einops --index-url"}, ""),
    ],
)
def test_a_module_is_named_as_pip_knows_it(captured: dict[str, str], distribution: str) -> None:
    """Import names differ from names for pip.

    A folder of the project, or what is no name, is never handed to pip.
    """
    captures = {f"capture_{name}": value for name, value in captured.items()}
    assert extract_names(captures).get("distribution", "") == distribution
