"""Norms, indices and copies: what is measured is right, and what is not known is not told."""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from postmortem.replay.recorder.loop import track_samples  # noqa: E402
from postmortem.replay.recorder.recorded_state import (  # noqa: E402
    as_tensor,
    get_rng_states,
    to_host,
)
from postmortem.replay.recorder.tape import (  # noqa: E402
    Reading,
    compute_gradient_norm,
)
from postmortem.replay.rerun.bench import restore_random  # noqa: E402


def with_gradient(value: Any) -> Any:
    """Give a parameter with a gradient."""
    parameter = torch.nn.Parameter(torch.zeros(value.shape, dtype=value.dtype))
    parameter.grad = value
    return parameter


def sparse(values: list[float]) -> Any:
    """Give a gradient as sparse embeddings have it."""
    return torch.sparse_coo_tensor(
        [[0, 2]], [values, values], (4, len(values)), check_invariants=True
    )


@pytest.mark.parametrize(
    ("gradients", "norm"),
    [
        pytest.param([torch.tensor([3.0, 4.0])], 5.0, id="one"),
        pytest.param([torch.tensor([3.0]), torch.tensor([4.0]).double()], 5.0, id="of two types"),
        pytest.param([torch.full((64,), 6e4).half()], 6e4 * 8, id="halves whose norm is no half"),
        pytest.param([torch.tensor([1.0, torch.nan])], float("nan"), id="a NaN"),
        pytest.param([torch.ones(3), torch.tensor([-torch.inf])], float("inf"), id="an inf"),
        pytest.param([sparse([3.0, 4.0])], 50**0.5, id="sparse"),
    ],
)
def test_the_norm_of_all_gradients(gradients: list[Any], norm: float) -> None:
    """It is finite exactly where they are."""
    found = compute_gradient_norm(
        [*map(with_gradient, gradients), torch.nn.Parameter(torch.ones(1))]
    )
    assert float(found) == pytest.approx(norm, rel=1e-3, nan_ok=True)


def test_no_gradient_has_no_norm() -> None:
    """A step without a backward pass says nothing."""
    assert compute_gradient_norm([torch.nn.Parameter(torch.ones(1))]) is None


@given(st.lists(st.floats(width=32), min_size=1, max_size=5))
def test_figures_come_over_as_they_are(values: list[float]) -> None:
    """To the last bit, what is not finite too."""
    told = Reading([torch.tensor(one) for one in values]).get_figures()
    assert repr(told) == repr(values)


def test_a_copy_shares_nothing() -> None:
    """A batch that is changed in place afterwards is kept as it was."""
    batch = torch.ones(2, 3)
    for kept in (to_host(batch), to_host(batch.T), to_host(batch.expand(4, 2, 3))):
        assert kept.is_contiguous()
        batch.zero_()
        assert kept.sum() == kept.numel()
        batch.fill_(1)


def test_all_generators_are_kept() -> None:
    """Those of torch, Python and numpy, without drawing from one."""
    before = torch.get_rng_state()
    states = get_rng_states(torch.device("cpu"))
    assert {"torch", "python"} <= {*states}
    assert {as_tensor(states[name]).shape for name in {*states} - {"torch"}} == {(625,)}
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("number", [0, 1, 7])
def test_the_generator_of_any_gpu_is_restored(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorded on one GPU of several, restored on the one there is; of an older capsule too."""
    drawn, restored = torch.arange(16, dtype=torch.uint8), []
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda of: drawn if of == number else None)
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, of: restored.append((state, of)))
    states = get_rng_states(torch.device("cuda", number))
    device = torch.device("cuda")
    restore_random(
        {f"3.0/{name}": as_tensor(state) for name, state in states.items()}, "3.0", device
    )
    restore_random({f"3.0/cuda:{number}": drawn, "3.1/cuda:0": drawn + 1}, "3.0", device)
    assert [(state.tolist(), of) for state, of in restored] == [(drawn.tolist(), device)] * 2
    restore_random({f"3.0/cuda:{number}": drawn}, "3.0", torch.device("cpu"))
    assert len(restored) == 2


def loader_of(count: int, *, workers: int = 0, shuffle: bool = True) -> Any:
    """Give a loader of samples that are their own indices."""
    data = [torch.tensor([float(index)]) for index in range(count)]
    return torch.utils.data.DataLoader(data, batch_size=4, shuffle=shuffle, num_workers=workers)


@pytest.mark.parametrize("workers", [0, 2])
def test_each_batch_has_its_indices(workers: int) -> None:
    """Over epochs, with a last batch that is smaller, with workers that fetch ahead."""
    loader, removals = loader_of(22, workers=workers), []
    tell = track_samples(loader, removals)
    for _ in range(2):
        for batch in loader:
            assert tell({"input": batch}) == tuple(int(one) for one in batch)
    removals[0]()
    assert type(loader.batch_sampler.sampler).__name__ == "RandomSampler"


@pytest.mark.parametrize("workers", [0, 2])
def test_a_dropped_batch_ends_the_indices(workers: int) -> None:
    """None is told rather than a wrong one."""
    loader = loader_of(80, workers=workers)
    tell = track_samples(loader, [])
    told = []
    for number, batch in enumerate(loader):
        if number != 5:
            found = tell([batch])
            assert found is None or found == tuple(int(one) for one in batch)
            told.append(found)
    assert all(told[:5])
    assert told[5:] == [None] * len(told[5:])


@pytest.mark.parametrize(
    ("make", "batch"),
    [
        (lambda: loader_of(8), {"text": "no tensor"}),
        (lambda: [1, 2], torch.ones(2)),
        (lambda: torch.utils.data.DataLoader(range(8), batch_size=None), torch.ones(2)),
    ],
    ids=["a batch of no size", "no loader", "no batches"],
)
def test_no_indices_where_none_are_to_be_had(make: Callable[[], Any], batch: Any) -> None:
    """Nothing raises."""
    assert track_samples(make(), [])(batch) is None
