"""JAX with jax_debug_nans: the square root of a distance that is zero has no gradient.

cause: numerics.unstable-op
also: [numerics.nonfinite-unknown]
not: [numerics.bad-batch, numerics.lr-divergence]
signature: 'FloatingPointError'
runs_as: train_points.py
"""
import jax
import jax.numpy as jnp
from labkit import pick

jax.config.update("jax_debug_nans", True)
print(jax.devices())
points = jax.random.normal(jax.random.PRNGKey(1), (64, 3))


def loss_fn(p, w):
    d = p[:, None] - p[None]
    return jnp.mean(jnp.sqrt(jnp.sum(d ** 2, -1) + w))


grad = jax.jit(jax.value_and_grad(loss_fn))
for i in range(pick([12, 15, 9])):
    loss, g = grad(points, 1e-6)
    points = points - 0.1 * g
    print(f"iteration {i} loss {loss:.5f}")
print("smoothing off")
loss, g = grad(points, 0.0)
print(f"loss {loss:.5f}")
