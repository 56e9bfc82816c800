#!/usr/bin/env python3
"""A linear model of small images, with JAX on all of its devices.

usage: jax_train.py SHARDS [--epochs N]
"""

from __future__ import annotations

import argparse

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import infeed

SIZE = 16
SPLIT = PartitionSpec("data")  # type: ignore[no-untyped-call]


def logits(weights: jax.Array, images: jax.Array) -> jax.Array:
    pixels = images.reshape(images.shape[0], -1) / 127.5 - 1
    return pixels @ weights


def loss(weights: jax.Array, images: jax.Array, labels: jax.Array) -> jax.Array:
    scores = jax.nn.log_softmax(logits(weights, images))
    return jnp.asarray(-jnp.take_along_axis(scores, labels[:, None], 1).mean())


@jax.jit
def step(weights: jax.Array, images: jax.Array,
         labels: jax.Array) -> jax.Array:
    return weights - 0.01 * jax.grad(loss)(weights, images, labels)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("shards")
    parser.add_argument("--epochs", type=int, default=5)
    flags = parser.parse_args()
    mesh = Mesh(np.array(jax.devices()), ("data",))
    train = infeed.Loader(
        flags.shards, global_batch_size=64, image_size=SIZE, seed=1,
        framework="jax", sharding=NamedSharding(mesh, SPLIT))
    validation = infeed.Loader(flags.shards, batch_size=50, image_size=SIZE,
                               training=False)
    weights = jnp.zeros((SIZE * SIZE * 3, 10))
    for _ in range(flags.epochs):
        for batch in train:
            weights = step(weights, batch.images, batch.labels)
    right = sum(
        int(((logits(weights, jnp.asarray(batch.images)).argmax(1)
              == batch.labels) * batch.weights).sum())
        for batch in validation)
    print(f"top-1 {right / len(validation.index):.4f}")


if __name__ == "__main__":
    main()
