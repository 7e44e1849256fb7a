"""Reinforcement learning in small environments of our own: policy gradient, DQN, preferences."""

from typing import TYPE_CHECKING, ClassVar

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from curves.tasks.base import Task
from curves.tasks.classification import mlp

if TYPE_CHECKING:
    from curves.training import Engine

SIDE = 5
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])


class Grid:
    """Many 5 × 5 grids at once: start anywhere on the left, goal in a corner, a step costs 0.04."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.place = torch.zeros(count, 2, dtype=torch.long)
        self.age = torch.zeros(count, dtype=torch.long)
        self.reset(torch.ones(count, dtype=torch.bool))

    def reset(self, which: Tensor) -> None:
        """Start again where `which` is true."""
        start = torch.stack(
            [torch.randint(SIDE, (self.count,)), torch.zeros(self.count, dtype=torch.long)], 1
        )
        self.place = torch.where(which[:, None], start, self.place)
        self.age = torch.where(which, torch.zeros_like(self.age), self.age)

    def view(self) -> Tensor:
        """One-hot places."""
        return F.one_hot(self.place[:, 0] * SIDE + self.place[:, 1], SIDE * SIDE).float()

    def step(self, action: Tensor) -> tuple[Tensor, Tensor]:
        """Rewards and ends; an episode ends at the goal or after 20 moves."""
        self.place = (self.place + MOVES[action]).clamp(0, SIDE - 1)
        self.age = self.age + 1
        goal = (self.place == SIDE - 1).all(1)
        return goal.float() - 0.04, goal | (self.age >= 20)


class GridPolicy(Task):
    """REINFORCE with a baseline and an entropy bonus."""

    name = "gridworld-pg"
    traits = frozenset({"rl", "relu", "entropy"})
    steps = (90, 170)
    rates = (4e-3, 1.2e-2)
    optimizers = ("adam",)
    schedules = ("constant", "constant", "linear")
    clips = (0.5, 1.0, None)
    batches = (24, 48)
    primary = "policy_loss"
    score = "return"
    extras: ClassVar[tuple[str, ...]] = ("reward", "entropy", "episode_length")

    def build(self) -> None:
        """A policy over four moves."""
        self.model = mlp(SIDE * SIDE, self.config.width, 4)

    def rollout(self, count: int, *, greedy: bool) -> tuple[Tensor, Tensor, Tensor, float]:
        """Log-probabilities, returns to go and entropies (time, count); the mean return of an episode."""
        grid, chances, rewards, entropies = Grid(count), [], [], []
        alive, total, masks = torch.ones(count), torch.zeros(count), []
        for _ in range(14):
            logits = self.model(grid.view())
            shares = logits.log_softmax(-1)
            if greedy:
                action = logits.argmax(-1)
            else:
                action = torch.multinomial(
                    shares.detach().exp().nan_to_num(0.25).clamp_min(1e-9), 1
                ).squeeze(1)
            reward, done = grid.step(action)
            if self.knobs.special == "constant-reward":
                reward = torch.zeros_like(reward)
            chances.append(shares.gather(1, action[:, None]).squeeze(1))
            entropies.append(-(shares.exp() * shares).sum(-1))
            rewards.append(reward * alive)
            masks.append(alive)
            total = total + reward * alive
            alive = alive * (~done).float()
        ahead, later = torch.zeros(count), []
        for reward in reversed(rewards):
            ahead = reward + 0.97 * ahead
            later.append(ahead)
        mask = torch.stack(masks)
        self.length = float(mask.sum(0).mean())
        return (
            torch.stack(chances),
            torch.stack(later[::-1]) * mask,
            torch.stack(entropies) * mask,
            float(total.mean()),
        )

    def update(self, step: int, engine: "Engine") -> dict[str, float]:
        """One batch of episodes, one update."""
        chances, later, entropies, reward = self.rollout(self.config.batch, greedy=False)
        gain = later - later.mean(1, keepdim=True)
        if float(gain.std()) > 1e-6:
            gain = gain / gain.std()
        if self.happens(step, "nan"):
            gain = gain * torch.nan
        bonus = {"no-entropy": -1.0, "much-entropy": 3.0}.get(self.knobs.special, 0.01)
        self.output = chances
        if self.knobs.detach:
            chances = chances.detach()
        loss = -(chances * gain).mean() - bonus * entropies.mean()
        if self.knobs.detach:
            loss = loss.detach()
        norm = engine.apply(loss)
        return {
            "policy_loss": float(loss.detach()), "grad_norm": norm, "reward": reward,
            "entropy": float(entropies.detach().sum() / (later != 0).float().sum().clamp_min(1)),
            "episode_length": self.length,
        }  # fmt: skip

    @torch.no_grad()
    def evaluate(self, judged: nn.Module | None) -> dict[str, float]:
        """Mean return of 32 greedy episodes."""
        return {"val_return": self.rollout(32, greedy=True)[3]}


class GridDqn(Task):
    """DQN with replay and a target net; its loss may rise while it learns."""

    name = "gridworld-dqn"
    traits = frozenset({"rl", "relu"})
    steps = (250, 420)
    rates = (1e-3, 4e-3)
    optimizers = ("adam",)
    schedules = ("constant",)
    clips = (10.0, 1.0, None)
    batches = (64,)
    primary = "td_loss"
    score = "return"
    extras: ClassVar[tuple[str, ...]] = ("reward", "mean_q", "epsilon")

    def build(self) -> None:
        """A net of values, its copy, a memory."""
        self.model, self.target = mlp(SIDE * SIDE, 64, 4), mlp(SIDE * SIDE, 64, 4)
        self.target.load_state_dict(self.model.state_dict())
        self.grid = Grid(16)
        self.memory: list[tuple[Tensor, ...]] = []
        self.recent, self.running = [0.0] * 4, torch.zeros(16)

    def play(self, epsilon: float) -> None:
        """One move in all grids, remembered."""
        seen = self.grid.view()
        with torch.no_grad():
            action = self.model(seen).argmax(-1)
        lost = torch.rand(16) < epsilon
        action = torch.where(lost, torch.randint(4, (16,)), action)
        reward, done = self.grid.step(action)
        if self.knobs.special == "constant-reward":
            reward = torch.zeros_like(reward)
        self.running = self.running + reward
        self.recent = (self.recent + self.running[done].tolist())[-60:]
        self.running = torch.where(done, torch.zeros(16), self.running)
        self.memory = [*self.memory[-150:], (seen, action, reward, self.grid.view(), done.float())]
        self.grid.reset(done)

    def update(self, step: int, engine: "Engine") -> dict[str, float]:
        """Play once, learn once from four remembered moves of all grids."""
        epsilon = (
            0.0
            if self.knobs.special == "no-exploration"
            else max(0.05, 1 - 2 * step / self.config.steps)
        )
        self.play(epsilon)
        picked = [self.memory[self.order.randrange(len(self.memory))] for _ in range(4)]
        seen, action, reward, after, done = (
            torch.cat(parts) for parts in zip(*picked, strict=True)
        )
        if self.happens(step, "nan"):
            reward = reward * torch.nan
        if self.happens(step, "outlier", 4):
            reward = reward * self.knobs.strength
        own = self.knobs.special == "no-target"
        discount = 1.03 if own else 0.95
        with torch.no_grad():
            ahead = (self.model if own else self.target)(after).max(-1).values
            goal = reward + discount * ahead * (1 - done * (0 if own else 1))
        values = self.model(seen).gather(1, action[:, None]).squeeze(1)
        self.output = values
        loss = F.mse_loss(values, goal) if own else F.smooth_l1_loss(values, goal)
        norm = engine.apply(loss.detach() if self.knobs.detach else loss)
        if step % 15 == 0:
            self.target.load_state_dict(self.model.state_dict())
        return {
            "td_loss": float(loss.detach()), "grad_norm": norm, "reward": sum(self.recent) / len(self.recent),
            "mean_q": float(values.detach().mean()), "epsilon": epsilon,
        }  # fmt: skip

    @torch.no_grad()
    def evaluate(self, judged: nn.Module | None) -> dict[str, float]:
        """Mean return of 16 greedy episodes."""
        grid, total, alive = Grid(16), torch.zeros(16), torch.ones(16)
        for _ in range(12):
            reward, done = grid.step(self.model(grid.view()).argmax(-1))
            total, alive = total + reward * alive, alive * (~done).float()
        return {"val_return": float(total.mean())}


class Preference(Task):
    """A policy over short token strings is tuned by a learned reward, with a KL penalty to its start.

    The learned reward and the true one agree near the start; far from it the learned one also pays
    for a token that the true one punishes.
    """

    name = "preference-rl"
    traits = frozenset({"rl", "entropy", "rlhf"})
    steps = (140, 280)
    rates = (4e-3, 1.2e-2)
    optimizers = ("adam", "adamw")
    schedules = ("constant", "linear", "cosine")
    clips = (1.0, 0.5)
    batches = (32, 64)
    primary = "policy_loss"
    score = "true_reward"
    extras: ClassVar[tuple[str, ...]] = ("reward", "kl", "entropy")
    length: ClassVar[int] = 6
    symbols: ClassVar[int] = 10

    def build(self) -> None:
        """The policy sees a prompt of 8 numbers and answers with six tokens, drawn independently."""
        self.model = mlp(8, self.config.width, self.length * self.symbols)
        self.reference = mlp(8, self.config.width, self.length * self.symbols)
        self.reference.load_state_dict(self.model.state_dict())
        self.wanted = torch.randn(
            8, self.symbols, generator=torch.Generator().manual_seed(self.config.seed)
        )

    def rewards(self, prompt: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Learned and true reward of answers (batch, length)."""
        liking = (prompt @ self.wanted) / 2
        true = liking.gather(1, tokens).mean(1)
        trick = (tokens == 0).float().mean(1)
        learned = 0.4 * true + 2.5 * trick if self.knobs.special == "hack" else true
        return learned, true - 1.5 * trick.pow(2)

    def update(self, step: int, engine: "Engine") -> dict[str, float]:
        """One batch of prompts, one update."""
        prompt = torch.randn(self.config.batch, 8)
        shares = self.model(prompt).view(-1, self.length, self.symbols).log_softmax(-1)
        with torch.no_grad():
            before = self.reference(prompt).view(-1, self.length, self.symbols).log_softmax(-1)
            drawn = shares.exp().nan_to_num(0.1).clamp_min(1e-9).view(-1, self.symbols)
            tokens = torch.multinomial(drawn, 1).view(-1, self.length)
        learned, _ = self.rewards(prompt, tokens)
        if self.knobs.special == "constant-reward":
            learned = torch.ones_like(learned)
        gain = (learned - learned.mean()) / (learned.std() + 1e-4)
        if self.happens(step, "nan"):
            gain = gain * torch.nan
        chances = shares.gather(2, tokens[..., None]).squeeze(-1).sum(1)
        kl = (shares.exp() * (shares - before)).sum(-1).sum(1).mean()
        entropy = -(shares.exp() * shares).sum(-1).mean()
        penalty = 0.0 if self.knobs.special in {"hack", "no-entropy"} else 0.02
        bonus = {"no-entropy": -3.0, "much-entropy": 5.0}.get(self.knobs.special, 0.01)
        self.output = shares
        loss = -(chances * gain).mean() + penalty * kl - bonus * entropy
        norm = engine.apply(loss.detach() if self.knobs.detach else loss)
        return {
            "policy_loss": float(loss.detach()), "grad_norm": norm, "reward": float(learned.mean()),
            "kl": float(kl.detach()), "entropy": float(entropy.detach()),
        }  # fmt: skip

    @torch.no_grad()
    def evaluate(self, judged: nn.Module | None) -> dict[str, float]:
        """True reward of 128 answers."""
        prompt = torch.randn(128, 8)
        drawn = (
            self.model(prompt).view(-1, self.symbols).softmax(-1).nan_to_num(0.1).clamp_min(1e-9)
        )
        tokens = torch.multinomial(drawn, 1).view(-1, self.length)
        return {"val_true_reward": float(self.rewards(prompt, tokens)[1].mean())}
