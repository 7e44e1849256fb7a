"""Sequences out: language model, copying with a decoder, CTC."""

import random
from typing import ClassVar

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from curves.settings import stream
from curves.tasks.base import Supervised

NOUNS = ("cat", "dog", "bird", "man", "girl", "king", "ship")
VERBS = ("sees", "has", "finds", "likes", "eats")
ADJECTIVES = ("red", "old", "big", "sad", "shy")
SYMBOLS = sorted(set("".join((*NOUNS, *VERBS, *ADJECTIVES)) + " .the,and"))


def sentence(rng: random.Random) -> str:
    """A sentence of the grammar."""

    def noun() -> str:
        return (
            "the "
            + (rng.choice(ADJECTIVES) + " " if rng.random() < 0.5 else "")
            + rng.choice(NOUNS)
        )

    parts = [f"{noun()} {rng.choice(VERBS)} {noun()}"]
    if rng.random() < 0.3:
        parts.append(f"{noun()} {rng.choice(VERBS)} {noun()}")
    return ", and ".join(parts) + ". "


def text_tokens(seed: int, length: int) -> Tensor:
    """Text of the grammar as symbol numbers."""
    rng = stream("text", seed)
    pieces: list[str] = []
    while sum(map(len, pieces)) < length:
        pieces.append(sentence(rng))
    return torch.tensor([SYMBOLS.index(one) for one in "".join(pieces)[:length]])


class SmallGpt(nn.Module):
    """A causal transformer over characters."""

    def __init__(self, symbols: int, width: int, longest: int, dropout: float) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(symbols, width), nn.Embedding(longest, width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width, 2, 2 * width, dropout, batch_first=True, norm_first=True
            )
            for _ in range(2)
        )
        self.head = nn.Linear(width, symbols)
        nn.init.normal_(self.tokens.weight, 0, 0.3)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (batch, symbols, time) of the next character."""
        time = x.shape[1]
        mask = torch.triu(torch.ones(time, time, dtype=torch.bool), 1)
        state = self.tokens(x) + self.places(torch.arange(time))
        for layer in self.layers:
            state = layer(state, src_mask=mask)
        return self.head(state).transpose(1, 2)


class CharLm(Supervised):
    """A character language model on text of a small grammar."""

    name = "char-lm"
    traits = frozenset({"tokens", "dropout", "finite", "valid", "language"})
    steps = (90, 170)
    rates = (3e-3, 8e-3)
    batches = (8, 12)
    widths = (24, 32)
    optimizers = ("adamw", "adam")
    schedules = ("warmup", "warmup", "cosine", "constant", "linear")
    clips = (1.0, 1.0, None)
    score = "perplexity"
    score_up = False
    length: ClassVar[int] = 24

    def build(self) -> None:
        """Windows over 40,000 characters."""
        c = self.config
        text = text_tokens(c.seed, 26000)
        windows = text.unfold(0, self.length + 1, 8)
        y = windows[:, 1:].clone()
        if self.knobs.special == "masked":
            y[:] = -100
        self.train, self.valid = (windows[48:, :-1], y[48:]), (windows[:48, :-1], windows[:48, 1:])
        self.model = SmallGpt(len(SYMBOLS), c.width, self.length, c.dropout)

    def spoil_data(self) -> None:
        """Shuffled labels are characters in a random order, all else as usual."""
        if self.knobs.data == "shuffled":
            for x, y in (self.train, self.valid):
                y.copy_(y.flatten()[torch.randperm(y.numel())].view_as(x))
        else:
            super().spoil_data()

    def load(self, step: int) -> None:
        """A growing length shows fewer characters at first."""
        super().load(step)
        if self.knobs.special == "growing":
            shown = 6 * (1 + 4 * step // self.config.steps)
            self.batch = (self.batch[0][:, :shown], self.batch[1][:, :shown])

    def loss(self, output: Tensor, y: Tensor) -> Tensor:
        """Mean over the labels that are not ignored, 0 where all are."""
        if self.knobs.special == "masked" and bool((y == -100).all()):
            return F.cross_entropy(output, y, reduction="sum") / 1.0
        return F.cross_entropy(output, y)

    def figures(self, output: Tensor, y: Tensor) -> dict[str, float]:
        """Perplexity of an evaluation."""
        if torch.is_grad_enabled():
            return {}
        return {"perplexity": float(F.cross_entropy(output, y).exp())}


class Seq2Seq(nn.Module):
    """An encoder and a decoder of GRU cells with attention by dot product."""

    def __init__(self, symbols: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(symbols + 1, 16)
        self.encoder, self.decoder = (
            nn.GRU(16, width, batch_first=True),
            nn.GRU(16, width, batch_first=True),
        )
        self.answer = nn.Linear(2 * width, symbols)
        self.symbols = symbols

    def forward(self, pair: Tensor) -> Tensor:
        """Logits (batch, symbols, time) of the answer under teacher forcing; `pair` is (batch, 2, time)."""
        source, target = pair[:, 0], pair[:, 1]
        begin = torch.full_like(target[:, :1], self.symbols)
        states, last = self.encoder(self.embedding(source))
        outputs, _ = self.decoder(self.embedding(torch.cat([begin, target[:, :-1]], 1)), last)
        seen = (outputs @ states.transpose(1, 2)).softmax(-1) @ states
        return self.answer(torch.cat([outputs, seen], -1)).transpose(1, 2)


class Reverse(Supervised):
    """Sequence to sequence: reverse a string of symbols."""

    name = "seq2seq-reverse"
    traits = frozenset({"tokens", "rnn", "finite", "valid"})
    steps = (100, 220)
    rates = (5e-3, 1.2e-2)
    batches = (16, 32)
    optimizers = ("adam", "adamw")
    widths = (32, 40)
    score = "token_accuracy"

    def build(self) -> None:
        """Strings of 7 of 10 symbols."""
        source = torch.randint(10, (2600, 7))
        target = source.flip(1)
        pairs = torch.stack([source, target], 1)
        self.train, self.valid = (pairs[200:], target[200:]), (pairs[:200], target[:200])
        self.model = Seq2Seq(10, self.config.width)

    def loss(self, output: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy of the symbols."""
        return F.cross_entropy(output, y)

    def figures(self, output: Tensor, y: Tensor) -> dict[str, float]:
        """Share of right symbols."""
        return {self.score: float((output.argmax(1) == y).float().mean())}


class CtcLines(Supervised):
    """CTC: frames of a drawn line of symbols, no alignment given."""

    name = "ctc-lines"
    traits = frozenset({"float", "rnn", "finite", "valid"})
    steps = (110, 220)
    rates = (4e-3, 1e-2)
    batches = (16, 24)
    optimizers = ("adam", "adamw")
    widths = (24, 32)
    score = "cer"
    score_up = False

    def build(self) -> None:
        """Each of 4 symbols spans 3 or 4 frames of 8 noisy features."""
        count = 1300
        y = torch.randint(1, 7, (count, 4))
        looks = torch.randn(7, 8, generator=torch.Generator().manual_seed(self.config.seed))
        frames = looks[y.repeat_interleave(4, 1)]
        shift = torch.rand(count, 16, 1) < 0.2
        frames = torch.where(shift, looks[0], frames) + 0.4 * torch.randn(count, 16, 8)
        self.train, self.valid = (frames[100:], y[100:]), (frames[:100], y[:100])
        self.model = FrameReader(8, self.config.width, 7)

    def loss(self, output: Tensor, y: Tensor) -> Tensor:
        """CTC loss for each symbol."""
        size = len(y)
        lengths = torch.full((size,), output.shape[1]), torch.full((size,), y.shape[1])
        return F.ctc_loss(output.log_softmax(-1).transpose(0, 1), y, *lengths, zero_infinity=False)

    def figures(self, output: Tensor, y: Tensor) -> dict[str, float]:
        """Rate of wrong symbols by place, greedy decoding, in evaluations."""
        if torch.is_grad_enabled():
            return {}
        wrong = 0
        for path, real in zip(output.argmax(-1).tolist(), y.tolist(), strict=True):
            kept = [one for k, one in enumerate(path) if one and (k == 0 or one != path[k - 1])]
            kept = (kept + [0] * 4)[: max(4, len(kept))]
            wrong += sum(a != b for a, b in zip(kept, real, strict=False)) + abs(len(kept) - 4)
        return {"cer": wrong / y.numel()}


class FrameReader(nn.Module):
    """A bidirectional GRU over frames."""

    def __init__(self, features: int, width: int, symbols: int) -> None:
        super().__init__()
        self.recurrent = nn.GRU(features, width, batch_first=True, bidirectional=True)
        self.answer = nn.Linear(2 * width, symbols)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (batch, time, symbols)."""
        return self.answer(self.recurrent(x)[0])
