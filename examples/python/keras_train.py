#!/usr/bin/env python3
"""Keras 3: fit() on a generator, resumed within the epoch. Backends: jax, torch.

usage: KERAS_BACKEND=jax keras_train.py SHARDS
           [--epochs N] [--checkpoint FILE.keras] [--stop_after STEPS]
"""

from __future__ import annotations

import collections
import json
import os
from collections.abc import Iterator
from typing import Any

import keras
import numpy as np

import infeed
from example_flags import read_flags


class Epoch(keras.callbacks.Callback):
    """Batches for fit(), which takes them ahead of training, and the place after
    the last one that was trained on."""

    def __init__(self, loader: infeed.Loader, stop_after: int = 0,
                 checkpoint: str = "") -> None:
        super().__init__()
        self.loader, self.ahead = loader, collections.deque[Any]()
        self.stop_after, self.checkpoint = stop_after, checkpoint

    def batches(self) -> Iterator[tuple[Any, Any, Any]]:
        for batch in self.loader:
            self.ahead.append(batch.state_dict())
            # A slot of weight 0 has the label -1, which Keras does not take.
            yield batch.images, np.maximum(batch.labels, 0), batch.weights

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        place = self.ahead.popleft()
        if int(self.model.optimizer.iterations) == self.stop_after:
            self.model.save(self.checkpoint)
            with open(self.checkpoint + ".json", "w") as file:
                json.dump(place, file)
            raise SystemExit


def network() -> Any:
    layers = [keras.Input((64, 64, 3)), keras.layers.Rescaling(1 / 127.5, -1)]
    for width in (32, 64, 128, 128):
        layers += [keras.layers.Conv2D(width, 3, strides=2, padding="same"),
                   keras.layers.BatchNormalization(), keras.layers.ReLU()]
    model = keras.Sequential([*layers, keras.layers.GlobalAveragePooling2D(),
                              keras.layers.Dense(10)])
    model.compile(
        keras.optimizers.SGD(0.05, momentum=0.9),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        weighted_metrics=["accuracy"])
    return model


def main() -> None:
    flags = read_flags()
    keras.utils.set_random_seed(0)
    train, validation = (infeed.Loader(
        flags.shards, batch_size=50, image_size=64, seed=1, training=training)
        for training in (True, False))
    model = network()
    if flags.checkpoint and os.path.exists(flags.checkpoint):
        model = keras.models.load_model(flags.checkpoint)
        with open(flags.checkpoint + ".json") as file:
            train.load_state_dict(json.load(file))
    # One fit() an epoch: the first may be the rest of one.
    for epoch in range(train.epoch, flags.epochs):
        data = Epoch(train, flags.stop_after, flags.checkpoint)
        rest = (epoch + 1) * len(train) - int(model.optimizer.iterations)
        model.fit(data.batches(), steps_per_epoch=rest, shuffle=False,
                  initial_epoch=epoch, epochs=epoch + 1, callbacks=[data],
                  verbose=0)
    _, top_1 = model.evaluate(Epoch(validation).batches(),
                              steps=len(validation), verbose=0)
    weights = sum(float(np.abs(value, dtype=np.float64).sum())
                  for value in model.get_weights())
    print(f"top-1 {top_1:.4f}, weights {weights}")


if __name__ == "__main__":
    main()
