"""Which part of each batch this process takes."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple


class Ranks(NamedTuple):
    """This process among those that share each batch."""

    rank: int
    world_size: int
    local_world_size: int


def _from_torch() -> tuple[int, int] | None:
    torch = sys.modules.get("torch")
    if torch is None or not torch.distributed.is_available():
        return None
    if not torch.distributed.is_initialized():
        return None
    return torch.distributed.get_rank(), torch.distributed.get_world_size()


def _from_jax() -> tuple[int, int] | None:
    jax = sys.modules.get("jax")
    # Asking for the number of processes would start JAX's backend.
    if jax is None or not jax.distributed.is_initialized():
        return None
    return jax.process_index(), jax.process_count()


def _from_environment() -> tuple[int, int] | None:
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        return None
    return _number("RANK"), _number("WORLD_SIZE")


def _number(variable: str) -> int:
    try:
        return int(os.environ[variable])
    except ValueError:
        raise ValueError(f"the environment's {variable} is "
                         f"'{os.environ[variable]}': must be an integer"
                         ) from None


def find_group() -> tuple[int, int] | None:
    """(rank, world size) of the group that this process has joined."""
    return _from_torch() or _from_jax()


def find_ranks() -> Ranks:
    """As torch.distributed or JAX say, else RANK and WORLD_SIZE; else one."""
    found = find_group() or _from_environment() or (0, 1)
    local = _number("LOCAL_WORLD_SIZE") if "LOCAL_WORLD_SIZE" in os.environ else 1
    return Ranks(*found, min(local, found[1]))
