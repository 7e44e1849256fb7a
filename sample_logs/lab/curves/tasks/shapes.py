"""Drawn images: filled and hollow figures at random places, with noise."""

import torch
from torch import Tensor


def draw_shapes(count: int, size: int, classes: int, noise: float) -> tuple[Tensor, Tensor, Tensor]:
    """Images (count, 1, size, size), kinds (count,), masks (count, size, size) of 0 and 1.

    Kinds: disc, square, cross, ring, bar, diagonal; at most six.
    """
    axis = torch.arange(size).float()
    rows, columns = axis[None, :, None], axis[None, None, :]
    kinds = torch.randint(classes, (count,))
    radius = (size / 5 + torch.rand(count) * size / 8)[:, None, None]
    middle = size / 2 + (torch.rand(count, 2) - 0.5) * size / 4
    down, across = rows - middle[:, :1, None], columns - middle[:, 1:, None]
    far = (down**2 + across**2).sqrt()
    wide = torch.maximum(down.abs(), across.abs())
    slim = torch.minimum(down.abs(), across.abs())
    figures = torch.stack([
        far < radius,
        (wide < radius) & (wide > radius - 1.6),
        (slim < 1) & (wide < radius + 1),
        (far < radius + 0.5) & (far > radius - 1.2),
        (down.abs() < 1.2) & (across.abs() < radius + 1.5),
        ((down - across).abs() < 1.3) & (wide < radius + 1),
    ])  # fmt: skip
    masks = figures[kinds, torch.arange(count)].float()
    images = masks * (0.6 + 0.6 * torch.rand(count, 1, 1)) + noise * torch.randn(count, size, size)
    return images.unsqueeze(1), kinds, masks
