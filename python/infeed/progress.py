"""A bar for each epoch, drawn by tqdm."""

from __future__ import annotations

import importlib
from typing import Any


class NoBar:
    """A bar that shows nothing."""

    n = total = 0

    def __init__(self, **words: Any) -> None:
        pass

    def __enter__(self) -> NoBar:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def update(self, images: int) -> None:
        """More images are done."""


def find_tqdm() -> Any:
    """The class, for terminals or notebooks."""
    try:
        return importlib.import_module("tqdm.auto").tqdm
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("progress=True needs tqdm: pip install tqdm",
                                  name=error.name) from error
