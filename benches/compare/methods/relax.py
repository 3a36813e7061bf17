"""ReLax: the search of Wachter et al. by gradients and growing spheres, everybody at once by `vmap`.

Its own constraints know features that stay, but no directions; the function that it applies its
constraints with is replaced by one that keeps everybody within what they may reach.
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable

# This file has the name of the package.
sys.path.append(sys.path.pop(0))

import jax
import jax.numpy as jnp
import numpy as np
from case import Case, Found, run, together
from relax.methods import GrowingSphere, VanillaCF
from relax.methods.sphere import hyper_sphere_coordindates
from relax.strategy import VmapStrategy


def method(case: Case, seconds: float) -> list[Found]:
    layers = [(jnp.array(weight), jnp.array(bias)) for weight, bias in case.layers]
    lowest, highest = case.room()
    width = len(case.names)

    def probabilities(rows: jax.Array) -> jax.Array:
        # Behind their features rows carry what the person may reach.
        rows = jnp.atleast_2d(rows)[:, :width]
        for number, (weight, bias) in enumerate(layers):
            rows = (jnp.tanh(rows) if number else rows) @ weight.T + bias
        favourable = jax.nn.sigmoid(rows[:, :1])
        return jnp.concatenate([1 - favourable, favourable], axis=1)

    def within(x: jax.Array, reached: jax.Array, **_: object) -> jax.Array:
        kept = jnp.clip(reached[..., :width], x[..., width : 2 * width], x[..., 2 * width :])
        bounds = jnp.broadcast_to(x[..., width:], (*kept.shape[:-1], 2 * width))
        return jnp.concatenate([kept, bounds], axis=-1)

    rows = jnp.array(np.concatenate([case.people, lowest, highest], axis=1))
    targets = jnp.tile(jnp.array([[0.0, 1.0]]), (len(case.people), 1))
    keys = jax.random.split(jax.random.PRNGKey(0), len(case.people))

    def around(key: jax.Array, x: jax.Array, samples: int, high: float, low: float, p_norm: int) -> jax.Array:
        acting = jnp.array(case.actionable)
        moved = hyper_sphere_coordindates(key, x[:, acting], samples, high, low, p_norm)
        return jnp.repeat(x, samples, axis=0).at[:, acting].set(moved)

    def answering(generate: Callable[..., jax.Array]) -> Callable[[], np.ndarray]:
        everybody = jax.jit(lambda *given: VmapStrategy()(generate, given[0], probabilities, *given[1:]))
        return lambda: np.asarray(everybody(rows, targets, keys))

    results = []
    # Sizes are standard deviations and not, as their defaults expect, whole ranges.
    for name, settings in (
        ("VanillaCF", {"n_steps": 1000, "lr": 0.01, "lambda_": 0.1}),
        ("GrowingSphere", {"n_steps": 100, "n_samples": 100, "step_size": 0.05, "p_norm": 1}),
    ):
        try:
            search = (
                VanillaCF(settings) if name == "VanillaCF" else GrowingSphere(settings, perturb_fn=around)
            )
            search.set_apply_constraints_fn(within)
            search.before_generate_cf()
            taken, reached = together(seconds, answering(search.generate_cf), turns=3)
            found = reached.reshape(len(case.people), -1)[:, :width].astype(float)
            # Floats may leave what doubles allow by their rounding.
            found = np.clip(found, case.lowest, case.highest).tolist()
            words = ", ".join(f"{key} {value}" for key, value in settings.items())
            note = f"jax-relax {importlib.metadata.version('jax-relax')}, jax {jax.__version__}, {words}"
            results.append(Found(f"ReLax, {name}", 0.0, taken, found, note))
        except Exception as error:  # noqa: BLE001 - what does not run is told
            results.append(Found(f"ReLax, {name}", 0.0, 0.0, [], f"{type(error).__name__}: {error}"))
    return results


if __name__ == "__main__":
    run(method)
