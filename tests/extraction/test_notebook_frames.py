"""Tracebacks as IPython prints them."""

import pytest

from tests.extraction.made_tracebacks import first

HEAD = "KeyError                                  Traceback (most recent call last)\n"
NEW = """Cell In[7], line 14
     12 for batch in loader:
     13     # RuntimeError: never
---> 14     use(batch["label"])

File /opt/conda/lib/python3.10/site-packages/pandas/frame.py:522, in DataFrame.__getitem__(self, key)
--> 522     raise KeyError(key)
"""
OLD = """<ipython-input-12-8f2a> in <module>
      1 # KeyError?
----> 2 use(batch["label"])

~/env/lib/python3.8/site-packages/pandas/frame.py in __getitem__(self, key)
    521     try:
--> 522         raise KeyError(key)
"""
END = "KeyError: 'label'\n"


@pytest.mark.parametrize("frames", [NEW, OLD], ids=["new", "old"])
@pytest.mark.parametrize("label", ["", "> ", "2026-05-03 10:00:00 ", "\x1b[0;31m"])
def test_frames_and_exception(frames: str, label: str) -> None:
    """Source that is shown is never a message."""
    text = "".join(f"{label}{line}\n" for line in (HEAD + frames + "\n" + END).splitlines())
    found = first(text)
    assert (found.exception, found.message) == ("KeyError", "'label'")
    assert [frame.code for frame in found.frames] == ['use(batch["label"])', "raise KeyError(key)"]
    assert [frame.is_library for frame in found.frames] == [False, True]


def test_class_of_a_cut_one_stands_in_its_head() -> None:
    """The head names the class."""
    found = first(HEAD + "Cell In[7], line 14\n---> 14     use(batch)\n")
    assert (found.exception, found.message) == ("KeyError", "")


def test_statement_of_a_cut_one_speaks() -> None:
    """Where the exception is cut off, what was to be raised is known."""
    found = first(
        'Traceback (most recent call last):\n  File "t.py", line 3, in fit\n    raise RuntimeError(f"NaN loss at {step}")\n'
    )
    assert (found.exception, found.message) == ("RuntimeError", "NaN loss at {step}")


def test_a_word_before_the_head_is_no_class() -> None:
    """Only an exception or a wide gap makes a head of IPython."""
    found = first(
        'Original Traceback (most recent call last):\n  File "t.py", line 3, in f\n    g()\nTypeError: no\n'
    )
    assert (found.exception, found.wrapped) == ("TypeError", True)
