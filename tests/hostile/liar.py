"""An object store that lies: S3's protocol as far as the programs ask for it,
with answers that are drawn from a case's random numbers."""

import hashlib
import http.server
import pathlib
import threading
import urllib.parse

KEEP_SILENT_SECONDS = 1.0


class Liar(http.server.ThreadingHTTPServer):
    """Serves BUCKET/KEY from a folder while it is entered."""

    daemon_threads = True

    def __init__(self, folder, random, lies, share):
        super().__init__(("127.0.0.1", 0), Answer)
        self.folder = pathlib.Path(folder)
        self.random = random
        self.lies = lies
        self.share = share  # of the answers that are lies
        self.left = random.choice([1, 3, 20, 1000])
        self.lock = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def lie(self, kind):
        """A lie for this answer, or None."""
        with self.lock:
            fitting = [one for one in self.lies if one.startswith(kind)]
            if not fitting or self.left == 0 or \
                    self.random.random() > self.share:
                return None
            self.left -= 1
            return self.random.choice(fitting)

    def draw(self, choices):
        with self.lock:
            return self.random.choice(choices)

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        """A program may close its connection whenever it likes."""


BODIES = [b"", b"<", b"<a>" * 20_000, b"\0" * 5000, b"{}", b"null",
          b"<?xml version='1.0'?><ListBucketResult></Other>",
          b"<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>]>"
          b"<x>&b;</x>",
          b"<html><body>Sign in</body></html>",
          b"<ListBucketResult><IsTruncated>true</IsTruncated>"
          b"</ListBucketResult>",
          b"<Error><Code>\x1b[31m</Code><Message>" + b"x" * 100_000 +
          b"</Message></Error>"]
LIES = ["list garbage", "list again", "list sizes", "list names", "list more",
        "list etag", "get garbage", "get short", "get other bytes",
        "get long", "get status", "get redirect", "get etag", "get range",
        "get length", "get close", "head size", "head status", "get slow"]


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        bucket, _, key = urllib.parse.unquote(
            urllib.parse.urlsplit(self.path).path)[1:].partition("/")
        if bucket == "loop":
            return self.redirect()
        return self.get(key) if key else self.list()

    def do_HEAD(self):
        self.do_GET()

    def send(self, status, body, headers=(), length=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length",
                         str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def redirect(self):
        to = self.server.draw([
            f"{self.server.url}/loop", f"{self.server.url}{self.path}",
            "file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1:1/",
            "http://127.0.0.1:1/", "", "//", "http://" + "x" * 5000])
        self.send(self.server.draw([301, 302, 307, 308]), b"",
                  [("Location", to)])

    def list(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        prefix = query.get("prefix", [""])[0]
        keys = sorted(str(path.relative_to(self.server.folder))
                      for path in self.server.folder.rglob("*")
                      if path.is_file() and "/." not in str(path))
        lie = self.server.lie("list")
        if lie == "list garbage":
            return self.send(200, self.server.draw(BODIES))
        return self.send(200, self.listed(
            [key for key in keys if key.startswith(prefix)],
            query.get("delimiter", [""])[0], prefix, lie).encode())

    def listed(self, keys, delimiter, prefix, lie):
        rest = [key for key in keys
                if not delimiter or delimiter not in key[len(prefix):]]
        folders = sorted({prefix + key[len(prefix):].split(delimiter)[0] + "/"
                          for key in keys if key not in rest})
        if lie == "list names":
            rest += [prefix + self.server.draw(
                ["../../x", "/etc/passwd", "a\nb", "", "x" * 5000, "train-",
                 "train-00000-of-99999", "train-00001-of-00001", "\x01"])]
        if lie == "list again":
            rest = rest * self.server.draw([2, 200])
        entries = "".join(self.entry(key, lie) for key in rest)
        entries += "".join(f"<CommonPrefixes><Prefix>{name}</Prefix>"
                           f"</CommonPrefixes>" for name in folders)
        more = lie in ("list again", "list more")
        token = ("<NextContinuationToken>again</NextContinuationToken>"
                 if more else "")
        return (f"<?xml version='1.0'?><ListBucketResult><Name>bucket</Name>"
                f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>"
                f"{token}{entries}</ListBucketResult>")

    def entry(self, key, lie):
        path = self.server.folder / key
        size = path.stat().st_size if path.is_file() else 5
        if lie == "list sizes":
            size = self.server.draw([-1, 0, 1, size - 1, size + 1, 1 << 40,
                                     1 << 63, 1 << 64, "x", ""])
        etag = "x" if lie == "list etag" else self.etag(path)
        shown = key.replace("&", "&amp;").replace("<", "&lt;")
        return (f"<Contents><Key>{shown}</Key><Size>{size}</Size>"
                f"<ETag>\"{etag}\"</ETag></Contents>")

    @staticmethod
    def etag(path):
        data = path.read_bytes() if path.is_file() else b""
        return hashlib.sha256(data).hexdigest()[:32]

    def get(self, key):
        path = self.server.folder / key
        if not path.is_file() or ".." in key:
            return self.send(404, b"<Error><Code>NoSuchKey</Code></Error>")
        lie = self.server.lie("head" if self.command == "HEAD" else "get")
        data = path.read_bytes()
        if lie and lie.endswith("status"):
            return self.send(self.server.draw(
                [204, 304, 400, 403, 404, 410, 416, 418, 999]),
                self.server.draw(BODIES))
        if lie == "get redirect":
            return self.redirect()
        if lie == "get garbage":
            return self.send(200, self.server.draw(BODIES))
        return self.bytes_of(data, self.etag(path), lie)

    def bytes_of(self, data, etag, lie):
        first, last = 0, len(data) - 1
        asked = self.headers.get("Range", "")
        if asked.startswith("bytes="):
            begin, _, end = asked[6:].partition("-")
            first = int(begin or 0)
            last = min(int(end), last) if end else last
        if first > last and data:
            return self.send(416, b"")
        part, total, length = data[first:last + 1], len(data), None
        if lie == "get short":
            part = part[:len(part) // 2]
        elif lie == "get long":
            part += bytes(self.server.draw([1, 1000, 1 << 22]))
        elif lie == "get other bytes":
            part = part[::-1]
        elif lie == "get range":
            first += self.server.draw([-1, 1, 1 << 40])
        elif lie in ("get length", "head size"):
            total = length = self.server.draw([0, 1, 1 << 40, 1 << 62])
        elif lie == "get slow":
            threading.Event().wait(KEEP_SILENT_SECONDS)
        headers = [("ETag", '"x"' if lie == "get etag" else f'"{etag}"'),
                   ("Accept-Ranges", "bytes")]
        if asked:
            headers.append(("Content-Range", f"bytes {first}-{last}/{total}"))
        if lie in ("get length", "get close"):
            self.close_connection = True
        if lie == "get close":
            length, part = len(part), part[:-1]
        self.send(206 if asked else 200, part, headers, length)
