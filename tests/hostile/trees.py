"""What is in a folder, to see whether it changed."""

import hashlib
import os
import pathlib


def fingerprint(path):
    """The SHA-256 of each file below, by its path; side files, which programs
    may write beside shards, left out."""
    path = pathlib.Path(path)
    if path.is_file():
        return {"": digest(path)}
    found = {}
    for folder, folders, files in os.walk(path):
        if ".infeed" in folders:
            folders.remove(".infeed")
        for name in folders + files:
            place = pathlib.Path(folder, name)
            key = str(place.relative_to(path))
            if place.is_symlink():
                found[key] = "-> " + os.readlink(place)
            else:
                found[key] = digest(place) if place.is_file() else "folder"
    return found


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def first_change(before, after):
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            return f"{name} is gone"
        if name not in before:
            return f"{name} is new"
        if before[name] != after[name]:
            return f"{name} has other bytes"
    return None


def results(folder, ignored=()):
    """The files of a folder of results, less side files and what is named."""
    return {name: value for name, value in fingerprint(folder).items()
            if not name.startswith(".") and "/." not in name
            and value != "folder"
            and not any(word in name for word in ignored)}
