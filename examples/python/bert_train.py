#!/usr/bin/env python3
"""Transformers: BERT on sentences, as PyTorch/XLA's guide trains it.

usage: [torchrun --standalone --nproc-per-node 2] bert_train.py RECORDS
           [--epochs N] [--best FILE] [--parallel_loader]
           [--checkpoint FILE] [--stop_after STEPS]

RECORDS is the output of sentences_to_records.py.
"""

from __future__ import annotations

import collections
import os
import pathlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
import torch.distributed as dist
from sklearn.metrics import roc_auc_score
from torch import nn

import infeed
from example_flags import flag_parser
from small_bert import LENGTH, Classifier, adamw
from small_net import digest

Dict = dict[str, Any]


def load(folder: str, split: str, size: int, **options: Any) -> infeed.Loader:
    return infeed.Loader(
        folder, split=split, batch_size=size, framework="torch", views=(),
        fields={"input_ids": infeed.Field("int64", LENGTH, pad=0),
                "target": infeed.Field("float32", ())}, **options)


class ParallelLoader:
    """In the place of torch_xla's, which also takes eight dicts ahead."""

    def __init__(self, loader: Iterable[Dict]) -> None:
        self.loader = loader

    def __iter__(self) -> Iterator[Dict]:
        batches = iter(self.loader)

        def take() -> Dict | None:
            return next(batches, None)
        with ThreadPoolExecutor(1) as thread:
            ahead = collections.deque(thread.submit(take) for _ in range(8))
            while batch := ahead.popleft().result():
                ahead.append(thread.submit(take))
                yield batch


def average_gradients(model: nn.Module) -> None:
    """As xm.optimizer_step() does before it updates the weights."""
    for weights in model.parameters():
        if dist.is_initialized() and weights.grad is not None:
            dist.all_reduce(weights.grad)
            weights.grad /= dist.get_world_size()


@torch.no_grad()
def auc(model: nn.Module, batches: Iterable[Dict]) -> float:
    """Of all ranks' rows, each once: slots that only fill up have weight 0."""
    model.eval()
    rows = torch.cat([torch.stack([model(batch), batch["target"],
                                   batch["weights"]]) for batch in batches], 1)
    parts = [rows]
    if dist.is_initialized():
        parts = [torch.empty_like(rows) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, rows)
    scores, targets, weights = torch.cat(parts, 1).numpy()
    return float(roc_auc_score(targets, scores, sample_weight=weights))


def main() -> None:
    parser = flag_parser(epochs=3)
    parser.add_argument("--best", default="best.pt")
    parser.add_argument("--parallel_loader", action="store_true")
    flags = parser.parse_args()
    if "WORLD_SIZE" in os.environ:
        dist.init_process_group("gloo")
    rank = dist.get_rank() if dist.is_initialized() else 0
    train = load(flags.shards, "train", 32, shuffle="torch",
                 rank_share="strided", seed=1)
    validation, test = (load(flags.shards, split, 64, training=False)
                        for split in ("validation", "test"))
    words = pathlib.Path(flags.shards, "vocab.txt").read_text().splitlines()
    torch.manual_seed(0)
    model = Classifier(len(words))
    optimizer, best, step = adamw(model), 0.0, 0
    if flags.checkpoint and os.path.exists(flags.checkpoint):
        saved = torch.load(flags.checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        train.load_state_dict(saved["data"])
        best, step = saved["best"], saved["step"]
    wrap: Any = ParallelLoader if flags.parallel_loader else iter
    for _ in range(train.epoch, flags.epochs):
        model.train()
        # A loader from which batches are taken ahead is further on, so each
        # batch has its own state.
        for batch in wrap(train.dicts(states=True)):
            torch.manual_seed(step * 1000 + rank)  # dropout, also if resumed
            loss = nn.functional.binary_cross_entropy_with_logits(
                model(batch), batch["target"])
            optimizer.zero_grad()
            loss.backward()
            average_gradients(model)
            optimizer.step()
            step += 1
            if step == flags.stop_after:
                if rank == 0:
                    torch.save({"model": model.state_dict(), "best": best,
                                "optimizer": optimizer.state_dict(), "step": step,
                                "data": batch["state_dict"]}, flags.checkpoint)
                return
        area = auc(model, validation.dicts())
        if area > best and rank == 0:  # The same on all ranks.
            torch.save(model.state_dict(), flags.best)
        best = max(best, area)
    trained = digest(model)
    if dist.is_initialized():
        dist.barrier()  # The best weights are written.
    model.load_state_dict(torch.load(flags.best))
    area = auc(model, test.dicts())
    if rank == 0:
        print(f"AUC {best:.4f}, test {area:.4f}, weights {trained}")


if __name__ == "__main__":
    main()
