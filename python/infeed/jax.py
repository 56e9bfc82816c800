"""For JAX: words to pixels inside a compiled function."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

__all__ = ["unpack"]


def unpack(words: Any) -> Any:
    """uint32 [N, H, W] of R << 24 | G << 16 | B << 8 as uint8 [N, H, W, 3]."""
    shifts = jnp.array([24, 16, 8], jnp.uint32)
    return ((words[..., None] >> shifts) & 255).astype(jnp.uint8)
