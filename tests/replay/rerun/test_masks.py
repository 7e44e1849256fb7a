"""Which value of a mask is looked at: by its name where that is settled, else by the tokens."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from postmortem.replay.rerun.batches import find_attention_masks, is_mask_known  # noqa: E402

IDS = torch.tensor([[5, 7, 9, 0], [4, 0, 0, 0]])


@pytest.mark.parametrize(
    ("name", "tokens", "looked_at", "is_known"),
    [
        pytest.param("attention_mask", IDS, True, True, id="the usual name"),
        pytest.param("mask", IDS, True, True, id="padding lies where the mask is 0"),
        pytest.param("mask", torch.ones_like(IDS), True, False, id="tokens do not tell"),
        pytest.param("padding_mask", torch.ones_like(IDS), False, False, id="by name alone"),
    ],
)
def test_ones_where_there_are_words(
    name: str, tokens: "torch.Tensor", *, looked_at: bool, is_known: bool
) -> None:
    """A mask that is 1 at the words."""
    batch = {"ids": tokens, name: (IDS > 0).long()}
    assert [one[2] for one in find_attention_masks(batch)] == [looked_at]
    assert is_mask_known(batch) is is_known


def test_ones_where_there_is_padding() -> None:
    """A mask that is True at the padding is read so, whatever its name."""
    batch = {"ids": IDS, "mask": IDS == 0}
    assert [one[2] for one in find_attention_masks(batch)] == [False]
    assert is_mask_known(batch)
