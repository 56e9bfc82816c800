"""The package's own exceptions."""

from __future__ import annotations


class DataError(ValueError):
    """Damaged data: a record, an image, a checkpoint.

    path, record (from 0 in the file; -1: not known) and offset (of the record's
    first byte; -1: not known) say where, reason says what.
    """

    def __init__(self, message: str, path: str = "", record: int = -1,
                 offset: int = -1, reason: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.record = record
        self.offset = offset
        self.reason = reason
