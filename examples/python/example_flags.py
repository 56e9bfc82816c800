"""The command line that the examples share."""

from __future__ import annotations

import argparse


def flag_parser(epochs: int = 6) -> argparse.ArgumentParser:
    """SHARDS [--epochs N] [--checkpoint PATH] [--stop_after STEPS]"""
    parser = argparse.ArgumentParser()
    parser.add_argument("shards")
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--checkpoint", default="")
    parser.add_argument("--stop_after", type=int, default=0)
    return parser


def read_flags(epochs: int = 6) -> argparse.Namespace:
    return flag_parser(epochs).parse_args()
