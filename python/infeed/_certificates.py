"""Certificate authorities where the system has none."""

from __future__ import annotations

import importlib
import os

from infeed._engine import certificate_file


def use_certifi() -> None:
    """Names certifi's file to the engine and its programs, if it is installed
    and neither SSL_CERT_FILE nor the system, as in a bare container, has one.
    """
    if certificate_file():
        return
    try:
        certifi = importlib.import_module("certifi")
    except ImportError:
        return
    os.environ["SSL_CERT_FILE"] = certifi.where()
