#!/usr/bin/env python3
"""Lightning: the Trainer's own checkpoints keep the place within the epoch.

usage: lightning_train.py SHARDS [--epochs N] [--checkpoint FILE]
           [--stop_after STEPS]
"""

from __future__ import annotations

import os
from typing import Any

import lightning
import torch
from torch import nn

import infeed
import infeed.torch
from example_flags import read_flags
from small_net import digest, network, pixels


class Classifier(lightning.LightningModule):
    def __init__(self, shards: str) -> None:
        super().__init__()
        self.shards, self.model = shards, network()

    def setup(self, stage: str) -> None:
        # Loaders are made here: only now the ranks are known.
        self.train_data, self.validation_data = (infeed.Loader(
            self.shards, batch_size=50, image_size=64, seed=1,
            framework="torch", training=training) for training in (True, False))

    # The Trainer keeps the state of what it is given: of a prefetch the place
    # after the last batch that was trained on.
    def train_dataloader(self) -> infeed.torch.Prefetch:
        return infeed.torch.prefetch(self.train_data, self.device)

    def val_dataloader(self) -> infeed.torch.Prefetch:
        return infeed.torch.prefetch(self.validation_data, self.device)

    def training_step(self, batch: infeed.Batch, number: int) -> torch.Tensor:
        return nn.functional.cross_entropy(self.model(pixels(batch.images)),
                                           batch.labels)

    def validation_step(self, batch: infeed.Batch, number: int) -> None:
        hits = self.model(pixels(batch.images)).argmax(1) == batch.labels
        images = batch.weights.sum()
        self.log("top-1", (hits * batch.weights).sum() / images.clamp(min=1),
                 batch_size=int(images), sync_dist=True)

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.SGD(self.parameters(), 0.1, momentum=0.9,
                                    weight_decay=5e-4)
        # Not trainer.estimated_stepping_batches: Lightning restores no loader's
        # state once that was asked for.
        steps = (self.trainer.max_epochs or 0) * len(self.train_data)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, steps)
        return [optimizer], [{"scheduler": schedule, "interval": "step"}]


class StopAfter(lightning.Callback):
    """In the place of ModelCheckpoint(every_n_train_steps=...) and a kill."""

    def __init__(self, steps: int, checkpoint: str) -> None:
        self.steps, self.checkpoint = steps, checkpoint

    def on_train_batch_end(self, trainer: lightning.Trainer,
                           *_: object) -> None:
        if trainer.global_step == self.steps:
            trainer.save_checkpoint(self.checkpoint)
            trainer.should_stop = True


def main() -> None:
    flags = read_flags()
    lightning.seed_everything(0)
    model = Classifier(flags.shards)
    trainer = lightning.Trainer(
        max_epochs=flags.epochs, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, callbacks=[
            StopAfter(flags.stop_after, flags.checkpoint)])
    resume = flags.checkpoint if os.path.exists(flags.checkpoint) else None
    trainer.fit(model, ckpt_path=resume)
    print(f"top-1 {float(trainer.callback_metrics['top-1']):.4f}, weights "
          f"{digest(model)}")


if __name__ == "__main__":
    main()
