#!/usr/bin/env python3
"""Writes python/infeed/_options.py, the types of the engine's options, from
infeed.option_table(). A test compares."""

import keyword
import pathlib
import textwrap

# Options that the loader's own arguments set, and one that it refuses, as its
# passes are epochs.
OWN = {"batch_size", "training", "rank", "world_size", "layout", "repeat"}

# Types that _arguments.options() turns into the table's.
WIDER = {"crop_scale": "float | tuple[float, float]",
         "workers": "str | list[str] | tuple[str, ...]"}

# Fields that _arguments.options() takes for two options, the first of which is
# the key.
PAIRS = {"scale_jitter_min": """\
    # scale_jitter_min and scale_jitter_max.
    scale_jitter: tuple[float, float]

"""}


def type_of(row):
    if row["name"] in WIDER:
        return WIDER[row["name"]]
    if row["choices"]:
        names = ", ".join(f'"{name}"' for name in row["choices"].split("|"))
        return f"Literal[{names}]"
    if row["unit"] == "bytes":
        return "int | str"
    return {"integer": "int", "number": "float", "text": "str",
            "size": "int | tuple[int, int] | str",
            "true or false": "bool"}[row["type"]]


def comment(row):
    parts = [row["help"]]
    if row["range"] and not row["choices"]:
        parts.append(f"{row['range'][0].upper()}{row['range'][1:]}"
                     f"{' ' + row['unit'] if row['unit'] else ''}.")
    parts.append(f"Default: {row['default']}.")
    return textwrap.fill(" ".join(parts), 78, initial_indent="    # ",
                         subsequent_indent="    # ", break_on_hyphens=False)


def field(row):
    assert not keyword.iskeyword(row["name"])
    text = f"    {row['name']}: {type_of(row)}"
    if len(text) > 79:
        head, rest = text.split("[", 1)
        text = head + "[\n" + textwrap.fill(
            rest[:-1], 78, initial_indent=" " * 8,
            subsequent_indent=" " * 8) + "]"
    return PAIRS.get(row["name"], "") + comment(row) + "\n" + text


def render(table):
    groups = {}
    for row in table:
        if row["name"] not in OWN:
            groups.setdefault(row["group"], []).append(field(row))
    classes = [group.title().replace(" ", "") for group in groups]
    return "\n\n\n".join([
        '"""The engine\'s options as types; python/module/make_options.py writes '
        'this file."""\n\n'
        "from __future__ import annotations\n\n"
        "from typing import Literal, TypedDict",
        *(f"class {name}(TypedDict, total=False):\n"
          f'    """Options of the group {group}."""\n\n' + "\n\n".join(fields)
          for name, (group, fields) in zip(classes, groups.items())),
        f"class Options({', '.join(classes)}):\n"
        '    """Options of Loader beside its own arguments."""']) + "\n"


if __name__ == "__main__":
    import infeed

    root = pathlib.Path(__file__).parents[2]
    (root / "python" / "infeed" / "_options.py").write_text(
        render(infeed.option_table()))
