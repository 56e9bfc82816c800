"""The objects of the object server, in memory or as files of a folder."""

import dataclasses
import hashlib
import os
import pathlib
import secrets
import threading
import time

from object_server_http import Refused

MIN_PART_BYTES = 5 << 20
MAX_PARTS = 10_000


@dataclasses.dataclass
class Object:
    data: bytes
    etag: str        # without its quotes
    modified: float  # seconds since 1970
    generation: int = 0


@dataclasses.dataclass
class Upload:
    bucket: str
    key: str
    parts: dict = dataclasses.field(default_factory=dict)  # number -> Object


def md5(data):
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


class MemoryObjects:
    """bucket -> key -> Object."""

    def __init__(self):
        self.buckets = {}

    def get(self, bucket, key):
        return self.buckets.get(bucket, {}).get(key)

    def put(self, bucket, key, item):
        self.buckets.setdefault(bucket, {})[key] = item

    def delete(self, bucket, key):
        self.buckets.get(bucket, {}).pop(key, None)

    def keys(self, bucket):
        return list(self.buckets.get(bucket, {}))


class FolderObjects:
    """ROOT/BUCKET/KEY. ETags of uploads in parts last as long as the server;
    after that, and for files that others put there, they are the MD5."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.etags = {}  # path -> (size and mtime, etag)

    def path(self, bucket, key):
        if any(part in ("", ".", "..") for part in key.split("/")):
            raise Refused(400, "InvalidArgument",
                          "This key cannot be kept as a file.")
        return self.root / bucket / key

    def get(self, bucket, key):
        path = self.path(bucket, key)
        try:
            data, status = path.read_bytes(), path.stat()
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return None
        state = (status.st_size, status.st_mtime_ns)
        known, etag = self.etags.get(path, (None, None))
        if known != state:
            etag = md5(data)
            self.etags[path] = (state, etag)
        return Object(data, etag, status.st_mtime, status.st_mtime_ns)

    def put(self, bucket, key, item):
        path = self.path(bucket, key)
        path.parent.mkdir(parents=True, exist_ok=True)
        (self.root / ".new").mkdir(parents=True, exist_ok=True)
        temporary = self.root / ".new" / secrets.token_hex(8)
        temporary.write_bytes(item.data)
        os.replace(temporary, path)
        status = path.stat()
        self.etags[path] = ((status.st_size, status.st_mtime_ns), item.etag)

    def delete(self, bucket, key):
        self.path(bucket, key).unlink(missing_ok=True)

    def keys(self, bucket):
        top = self.root / bucket
        return [p.relative_to(top).as_posix() for p in top.rglob("*")
                if p.is_file()]


class Store:
    """Objects and uploads under way. Thread-safe."""

    def __init__(self, root=None, min_part_bytes=MIN_PART_BYTES):
        self.objects = FolderObjects(root) if root else MemoryObjects()
        self.min_part_bytes = min_part_bytes
        self.uploads = {}  # id -> Upload
        self.lock = threading.RLock()
        self.generation = 0

    def get(self, bucket, key):
        with self.lock:
            return self.objects.get(bucket, key)

    def put(self, bucket, key, data, etag=None):
        if len(key.encode()) > 1024:
            raise Refused(400, "KeyTooLongError", "Your key is too long.")
        with self.lock:
            self.generation += 1
            item = Object(data, etag or md5(data), time.time(),
                          self.generation)
            self.objects.put(bucket, key, item)
            return item

    def delete(self, bucket, key):
        with self.lock:
            self.objects.delete(bucket, key)

    def replace(self, bucket, key):
        """Puts other bytes, as many, under the key."""
        with self.lock:
            item = self.objects.get(bucket, key)
            if item is not None:
                self.put(bucket, key, bytes(b ^ 0xff for b in item.data))

    def list(self, bucket, prefix, delimiter, after, limit):
        """Returns (keys, common prefixes, what to go on after or None)."""
        with self.lock:
            names = sorted((k for k in self.objects.keys(bucket)
                            if k.startswith(prefix)), key=str.encode)
        keys, prefixes, last = [], [], None
        for name in names:
            cut = name.find(delimiter, len(prefix)) if delimiter else -1
            entry = name if cut < 0 else name[:cut + len(delimiter)]
            if after and (entry.encode() <= after.encode()):
                continue
            if prefixes and prefixes[-1] == entry:
                continue
            if len(keys) + len(prefixes) == limit:
                return keys, prefixes, last
            (keys if cut < 0 else prefixes).append(entry)
            last = entry
        return keys, prefixes, None

    # Uploads in parts.

    def start_upload(self, bucket, key):
        with self.lock:
            upload_id = secrets.token_urlsafe(24) + "~+/="
            self.uploads[upload_id] = Upload(bucket, key)
            return upload_id

    def upload(self, upload_id, bucket, key):
        found = self.uploads.get(upload_id)
        if found is None or (found.bucket, found.key) != (bucket, key):
            raise Refused(404, "NoSuchUpload", "The specified upload does not "
                          "exist. The upload ID may be invalid, or the upload "
                          "may have been aborted or completed.")
        return found

    def put_part(self, upload_id, bucket, key, number, data):
        if not 1 <= number <= MAX_PARTS:
            raise Refused(400, "InvalidArgument", "Part number must be an "
                          "integer between 1 and 10000, inclusive")
        with self.lock:
            part = Object(data, md5(data), time.time())
            self.upload(upload_id, bucket, key).parts[number] = part
            return part

    def complete(self, upload_id, bucket, key, wanted):
        """wanted: (number, ETag without quotes), in the client's order."""
        with self.lock:
            upload = self.upload(upload_id, bucket, key)
            numbers = [number for number, _ in wanted]
            if not wanted:
                raise Refused(400, "MalformedXML", "The XML you provided was "
                              "not well-formed")
            if numbers != sorted(set(numbers)):
                raise Refused(400, "InvalidPartOrder", "The list of parts was "
                              "not in ascending order.")
            parts = []
            for number, etag in wanted:
                part = upload.parts.get(number)
                if part is None or part.etag != etag:
                    raise Refused(400, "InvalidPart", "One or more of the "
                                  "specified parts could not be found. The "
                                  "part may not have been uploaded, or the "
                                  "specified entity tag may not match.",
                                  PartNumber=number, ETag=etag)
                parts.append(part)
            if any(len(p.data) < self.min_part_bytes for p in parts[:-1]):
                raise Refused(400, "EntityTooSmall", "Your proposed upload is "
                              "smaller than the minimum allowed size")
            digests = b"".join(bytes.fromhex(p.etag) for p in parts)
            item = self.put(bucket, key, b"".join(p.data for p in parts),
                            f"{md5(digests)}-{len(parts)}")
            del self.uploads[upload_id]
            return item

    def abort(self, upload_id, bucket, key):
        with self.lock:
            self.upload(upload_id, bucket, key)
            del self.uploads[upload_id]
