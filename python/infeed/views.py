"""View: one of the images, or the labels of pixels, that batches have of a sample."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from infeed import _arguments

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from infeed._options import Images

Labels = Literal["uint8", "int32"]

_LABELS = ("uint8", "int32")
_OWN = ("key", "draws", "labels", "fill")


@dataclasses.dataclass(frozen=True, init=False)
class View:
    """An image of each sample: batch.images[v] of Loader(views=[View(), ...]).

    key: of the encoded image in the records; default: the loader's image_key. All
    other options are the loader's of the group Images, such as image_size, recipe,
    crop_scale and augment; default: those of the first view, and the loader's own
    options are the first view's.

    draws: the number of an earlier view, from 0, whose random crop, flip and
    augmentation the view has; default: random ones of its own. labels: the image
    is a PNG, grey or with a palette, whose values are labels of the pixels of view
    `draws`, by default 0: they are cropped and flipped as that one and resized to
    the nearest value. True: uint8 [N, H, W], "int32": int32 [N, H, W]. fill: the
    label where there is no image.
    """

    key: str | None
    draws: int | None
    labels: Labels | None
    fill: int
    options: tuple[tuple[str, Any], ...]

    def __init__(self, key: str | None = None, *, draws: int | None = None,
                 labels: bool | Labels = False, fill: int = 255,
                 **options: Unpack[Images]) -> None:
        check, put = _arguments, object.__setattr__
        put(self, "key", None if key is None else _key(key))
        put(self, "draws", None if draws is None else
            check.whole("draws", draws, 0, 2**31 - 1))
        put(self, "labels", _labels(labels))
        limits = np.iinfo(self.labels or "uint8")
        put(self, "fill", check.whole("fill", fill, int(limits.min),
                                      int(limits.max)))
        given = check.options(options, _OWN)
        for name, value in given.items():
            if not check.is_of_views(name):
                raise ValueError(f"{name}={check.shown(value)}: is an option of "
                                 "the loader, of all views: give it there")
        put(self, "options", tuple(sorted(given.items())))
        self._check()

    def _check(self) -> None:
        if self.labels is None:
            if self.fill != 255:
                raise ValueError(f"fill={self.fill}: is of labels, give labels=True")
            return
        if self.key is None:
            raise ValueError(f"labels={self.labels!r}: give the key of the labels")
        for name, value in self.options:
            if name != "image_size":
                raise ValueError(f"{name}={_arguments.shown(value)}: labels follow "
                                 "the view whose draws they have; give it to that "
                                 "one")

    def _settings(self) -> dict[str, Any]:
        """What the engine takes of a view that is not the first one."""
        own = {"key": self.key, "draws": self.draws, "labels": self.labels,
               "fill": self.fill if self.labels else None}
        return {**{name: value for name, value in own.items()
                   if value is not None}, **dict(self.options)}


def _key(value: Any) -> str:
    key = _arguments.text("key", value)
    if not key:
        raise ValueError("key='': must be the key of an image, or None")
    return key


def _labels(value: Any) -> str | None:
    if isinstance(value, str):
        return _arguments.choice("labels", value, _LABELS)
    try:
        return "uint8" if _arguments.truth("labels", value) else None
    except TypeError:
        raise _arguments.wrong("labels", value,
                               "True, False, 'uint8' or 'int32'") from None


def checked_views(value: Any) -> tuple[View, ...]:
    """The views of a loader's argument."""
    if value is None:
        return (View(),)
    if not isinstance(value, (tuple, list)) or not all(
            isinstance(view, View) for view in value):
        raise _arguments.wrong("views", value, "a list of infeed.View, () for "
                               "batches without images, or None")
    return tuple(value)


def with_first(views: tuple[View, ...],
               options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a loader, and those of its first view, which is its image."""
    given = dict(options)
    if not views:
        return given
    first = views[0]
    for name in ("draws", "labels"):
        value = getattr(first, name)
        if value is not None:
            raise ValueError(f"views: the first view has {name}={value!r}: it is "
                             "the image, and has no view before it")
    own = dict(first.options)
    if first.key is not None:
        own["image_key"] = first.key
    for name, value in own.items():
        if given.get(name, value) != value:
            raise ValueError(f"{name}={_arguments.shown(given[name])}, and "
                             f"{name}={_arguments.shown(value)} of the first view: "
                             "give one of the two")
    return {**given, **own}
