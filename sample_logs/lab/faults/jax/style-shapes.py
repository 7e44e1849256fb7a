"""A dot of two arrays that do not fit, with JAX's shortened traceback.

cause: code.shape-mismatch
also: [code.user-exception]
not: [data.collation, config.arguments]
signature: 'dot_general requires|incompatible shapes'
runs_as: train.py
"""
import jax
import jax.numpy as jnp
from labkit import pick

width = pick([64, 128, 96])
params = {"w1": jnp.zeros((784, width)), "w2": jnp.zeros((width * 2, 10))}


@jax.jit
def loss_fn(p, x, y):
    h = jax.nn.relu(jnp.dot(x, p["w1"]))
    logits = jnp.dot(h, p["w2"])
    return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(len(y)), y])


print("starting epoch 0")
print(loss_fn(params, jnp.zeros((128, 784)), jnp.zeros(128, jnp.int32)))
