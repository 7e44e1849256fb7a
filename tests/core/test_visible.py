"""Text of a log made visible: nothing in it steers what shows it."""

import pytest

from postmortem.core.log_text import escape_control_characters


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("\x1b[1;31mred\x1b[0m", "red", id="colour"),
        pytest.param("\x1b]0;title\x07x", "x", id="window title"),
        pytest.param("\x1b[2J\x1b[Hx", "x", id="clear screen"),
        pytest.param("a\x1bPq", "a␛Pq", id="a bare escape"),
        pytest.param("a\x00\x08b\x7f", "a␀␈b␡", id="C0 and DEL"),
        pytest.param("\x9b31mx", r"\u009b31mx", id="C1: the one-byte CSI"),
        pytest.param("\u202egnp.exe\u202c", r"\u202egnp.exe\u202c", id="right-to-left override"),
        pytest.param("10%\r20%", "10%␍20%", id="a frame"),
        pytest.param("a\r\nb\r", "a\nb", id="Windows line ends"),
        pytest.param("\tx", "    x", id="tab"),
        pytest.param("\udc80", r"\udc80", id="an undecodable byte"),
        pytest.param("损失 👩‍🚀 █", "损失 👩‍🚀 █", id="Chinese, emoji and bars stay"),
    ],
)
def test_log_text_cannot_steer_what_shows_it(text: str, shown: str) -> None:
    """Colours go, other controls become visible, everything else stays."""
    assert escape_control_characters(text) == shown
