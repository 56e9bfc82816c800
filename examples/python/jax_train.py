#!/usr/bin/env python3
"""JAX on all of its devices, and processes: batches are global arrays. Orbax
keeps the weights and the place in the data, and a run goes on exactly there.

usage: jax_train.py SHARDS [--epochs N] [--checkpoint DIR] [--stop_after STEPS]
"""

from __future__ import annotations

import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import infeed
from example_flags import read_flags

SPLIT = PartitionSpec("data")
WHOLE = PartitionSpec()
WIDTHS = (3, 32, 64, 128, 128)


def network() -> list[jax.Array]:
    keys = jax.random.split(jax.random.key(0), len(WIDTHS))
    layers = [jax.random.normal(key, (3, 3, inputs, outputs))
              * (2 / (9 * inputs)) ** 0.5
              for key, inputs, outputs in zip(keys, WIDTHS, WIDTHS[1:])]
    return [*layers, jnp.zeros((WIDTHS[-1], 10))]


def logits(weights: list[jax.Array], images: jax.Array) -> jax.Array:
    x = images / 127.5 - 1
    for kernel in weights[:-1]:
        x = jax.lax.conv_general_dilated(
            x, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        # Batch norm, with the batch's own statistics in evaluations too.
        x = jax.nn.relu(jax.nn.standardize(x, axis=(0, 1, 2)))
    return jnp.asarray(x.mean((1, 2)) @ weights[-1])


def loss(weights: list[jax.Array], images: jax.Array,
         labels: jax.Array) -> jax.Array:
    scores = jax.nn.log_softmax(logits(weights, images))
    return -jnp.take_along_axis(scores, labels[:, None], 1).mean()


@jax.jit
def train_step(state: Any, images: jax.Array, labels: jax.Array) -> Any:
    """SGD with momentum."""
    gradients = jax.grad(loss)(state["weights"], images, labels)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state["momentum"],
                            gradients)
    return {"momentum": momentum, "weights": jax.tree.map(
        lambda w, m: w - 0.1 * m, state["weights"], momentum)}


@jax.jit
def hits(weights: list[jax.Array], images: jax.Array,
         labels: jax.Array) -> jax.Array:
    return logits(weights, images).argmax(1) == labels


def main() -> None:
    flags = read_flags()
    # On several hosts jax.distributed.initialize() goes first.
    mesh = Mesh(np.array(jax.devices()), ("data",))
    train, validation = (infeed.Loader(
        flags.shards, global_batch_size=48, image_size=64, seed=1,
        framework="jax", sharding=NamedSharding(mesh, SPLIT), training=training)
        for training in (True, False))
    weights = jax.device_put(network(), NamedSharding(mesh, WHOLE))
    state = {"weights": weights, "momentum": jax.tree.map(jnp.zeros_like, weights)}
    if flags.checkpoint:
        import orbax.checkpoint as ocp
        manager = ocp.CheckpointManager(os.path.abspath(flags.checkpoint))
        if manager.latest_step() is not None:
            saved = manager.restore(None, args=ocp.args.Composite(
                state=ocp.args.StandardRestore(state),
                data=ocp.args.JsonRestore()))
            state = saved["state"]
            train.load_state_dict(saved["data"])
    for epoch in range(train.epoch, flags.epochs):
        for batch in train:
            state = train_step(state, batch.images, batch.labels)
            step = epoch * len(train) + batch.number + 1
            if step == flags.stop_after:
                manager.save(step, args=ocp.args.Composite(
                    state=ocp.args.StandardSave(state),
                    data=ocp.args.JsonSave(batch.state_dict())))
                manager.close()
                return
    right = images = 0.0
    for images_, labels, used in validation:
        right += float((hits(state["weights"], images_, labels) * used).sum())
        images += float(used.sum())
    digest = sum(float(np.abs(np.float64(w)).sum()) for w in state["weights"])
    print(f"top-1 {right / images:.4f}, weights {digest}")


if __name__ == "__main__":
    main()
