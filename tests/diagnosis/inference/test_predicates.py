"""What a condition of a rule sees in a traceback."""

import textwrap
from pathlib import Path

import postmortem

TRACE = textwrap.dedent("""\
    Traceback (most recent call last):
      File "/home/user/lm/train.py", line 41, in forward
        hidden = {code}
      File "/opt/venv/lib/python3.11/site-packages/torch/nn/functional.py", line 2546, in embedding
        return torch.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)
    IndexError: index out of range in self
    """)


def cause(folder: Path, code: str) -> str | None:
    """Analyse a run that ends in the embedding, called from this source line."""
    log = folder / "run.log"
    log.write_text(TRACE.format(code=code))
    return postmortem.analyze(log).verdict.cause


def test_the_source_line_of_a_frame_decides(tmp_path: Path) -> None:
    """The same exception is a long sequence in the table of positions.

    In the table of tokens it is a foreign token.
    """
    assert cause(tmp_path, "self.position_embedding(positions)") == "data.sequence-too-long"
    assert cause(tmp_path, "self.embed_tokens(input_ids)") == "config.tokenizer"
