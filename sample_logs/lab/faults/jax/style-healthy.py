"""A small network in JAX and optax on a CPU, printed with absl's logger.

cause: healthy.completed
also: [healthy.running]
not: [learning.plateau, cuda.not-available, numerics.loss-spike]
outcome: completed
signature: ''
runs_as: train_mlp.py
"""
import jax
import jax.numpy as jnp
import optax
from absl import logging
from labkit import note, pick

logging.set_verbosity(logging.INFO)
logging.use_absl_handler()
logging.info("JAX process: %d / %d", jax.process_index(), jax.process_count())
logging.info("JAX local devices: %r", jax.local_devices())
key = jax.random.PRNGKey(0)
true = jax.random.normal(key, (32, 10))
params = {"w1": jax.random.normal(key, (32, 64)) * 0.1, "w2": jax.random.normal(key, (64, 10)) * 0.1}
tx = optax.adamw(pick([3e-3, 2e-3, 5e-3]))
state = tx.init(params)


@jax.jit
def step(params, state, key):
    x = jax.random.normal(key, (256, 32))
    y = jnp.argmax(x @ true, -1)
    loss, grads = jax.value_and_grad(lambda p: optax.softmax_cross_entropy_with_integer_labels(jax.nn.relu(x @ p["w1"]) @ p["w2"], y).mean())(params)
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


for i in range(1, 601):
    key, sub = jax.random.split(key)
    params, state, loss = step(params, state, sub)
    if i % 25 == 0:
        logging.info("[%d] train_loss=%.4f, steps_per_second=%.2f", i, loss, 412.0 + i % 7)
        note("loss", i, float(f"{loss:.4f}"))
logging.info("Finished training at step %d", 600)
