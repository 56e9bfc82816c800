"""The network of bert_train.py, from random weights, and its optimizer."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from transformers import BertConfig, BertModel

LENGTH = 64


class Classifier(nn.Module):
    def __init__(self, words: int) -> None:
        super().__init__()
        self.bert = BertModel(BertConfig(
            vocab_size=words, hidden_size=128, num_hidden_layers=2,
            num_attention_heads=4, intermediate_size=256,
            max_position_embeddings=LENGTH))
        self.output = nn.Linear(128, 1)

    def forward(self, batch: dict[str, Any]) -> torch.Tensor:
        ids, lengths = batch["input_ids"], batch["input_ids/length"]
        mask = torch.arange(LENGTH, device=ids.device) < lengths[:, None]
        logits: torch.Tensor = self.output(
            self.bert(ids, mask.long()).pooler_output)
        return logits[:, 0]


def adamw(model: nn.Module) -> torch.optim.Optimizer:
    """Without decay of biases and norms."""
    groups: dict[float, list[nn.Parameter]] = {0.001: [], 0.0: []}
    for name, weights in model.named_parameters():
        plain = name.endswith("bias") or "LayerNorm" in name
        groups[0.0 if plain else 0.001].append(weights)
    return torch.optim.AdamW([{"params": weights, "weight_decay": decay}
                              for decay, weights in groups.items()], 5e-4)
