"""Which part of each batch this process takes."""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple

from infeed import _arguments


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
    if jax is None or not _has_joined(jax):
        return None
    return jax.process_index(), jax.process_count()


def _has_joined(jax: Any) -> bool:
    # Asking for the number of processes would start JAX's backend.
    if hasattr(jax.distributed, "is_initialized"):
        return bool(jax.distributed.is_initialized())
    own = sys.modules.get("jax._src.distributed")  # of JAX before 0.5
    return own is not None and own.global_state.client is not None


def _from_environment() -> tuple[int, int] | None:
    names = ("RANK", "WORLD_SIZE")
    found = [name for name in names if name in os.environ]
    if not found:
        return None
    for name in names:
        if name not in found:
            raise ValueError(f"the environment's {found[0]} is set, but {name} is "
                             "not: set both, or give rank and world_size")
    return _number("RANK", 0), _number("WORLD_SIZE", 1)


def _number(variable: str, least: int) -> int:
    text = os.environ[variable]
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise ValueError(f"the environment's {variable} is '{text}': must be an "
                         f"integer from {least}")
    return number


def find_group() -> tuple[int, int] | None:
    """(rank, world size) of the group that this process has joined."""
    return _from_torch() or _from_jax()


def data_loader_workers() -> int:
    """The workers of the DataLoader that this process works for; 0: of none."""
    data = sys.modules.get("torch.utils.data")
    info = data and data.get_worker_info()
    return info.num_workers if info else 0


def called_by_trainer() -> bool:
    """The loop of Lightning's Trainer over a training's epochs calls the caller."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_globals.get("__name__") in (
                "lightning.pytorch.loops.fit_loop",
                "pytorch_lightning.loops.fit_loop"):
            return True
    return False


def _given(rank: Any, world_size: Any) -> tuple[int, int] | None:
    """(rank, world_size), or None where neither is given."""
    own = None if rank is None else _arguments.whole("rank", rank, 0)
    size = (None if world_size is None else
            _arguments.whole("world_size", world_size, 1))
    if own is not None and size is not None:
        return own, size
    if own is None and size is None:
        return None
    name, other = (("rank", "world_size") if size is None else
                   ("world_size", "rank"))
    raise TypeError(f"{name}={size if own is None else own}: give {other} too, or "
                    "neither of the two")


def find_ranks(rank: Any, world_size: Any) -> Ranks:
    """As given, else as torch.distributed or JAX say, else RANK and WORLD_SIZE;
    else one.
    """
    found = (_given(rank, world_size) or find_group() or _from_environment()
             or (0, 1))
    local = (_number("LOCAL_WORLD_SIZE", 1)
             if "LOCAL_WORLD_SIZE" in os.environ else 1)
    return Ranks(*found, min(local, found[1]))
