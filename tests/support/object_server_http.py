"""HTTP/1.1 for the object server: strict requests, answers that may misbehave.

A Response is delivered as it stands. The fields under "misbehaviour" are set
by object_server_faults alone.
"""

import dataclasses
import re
import select
import socket
import struct
import urllib.parse

MAX_HEADER_BYTES = 64 * 1024
MAX_BODY_BYTES = 1 << 30
REASONS = {100: "Continue", 200: "OK", 204: "No Content",
           206: "Partial Content", 304: "Not Modified",
           307: "Temporary Redirect", 400: "Bad Request",
           401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
           405: "Method Not Allowed", 409: "Conflict", 411: "Length Required",
           412: "Precondition Failed", 416: "Range Not Satisfiable",
           429: "Too Many Requests", 500: "Internal Server Error",
           501: "Not Implemented", 503: "Service Unavailable"}
# The characters that RFC 3986 allows in a path and a query; others must be
# escaped.
TARGET = re.compile(r"/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*")
FIELD = re.compile(r"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):(.*)", re.S)


class Refused(Exception):
    """A request that is answered by an error of the store's own."""

    def __init__(self, status, code, message, **details):
        super().__init__(message)
        self.status, self.code, self.details = status, code, details


class Gone(Exception):
    """The other side ended the connection."""


@dataclasses.dataclass
class Request:
    method: str
    target: str   # as it was sent
    headers: list  # of (name as it was sent, value)
    body: bytes = b""
    rule: dict = None  # of the fault plan

    @property
    def raw_path(self):
        return self.target.partition("?")[0]

    @property
    def raw_query(self):
        return self.target.partition("?")[2]

    @property
    def path(self):
        return urllib.parse.unquote(self.raw_path, errors="strict")

    def query(self):
        """The parameters; one without "=" has the value ""."""
        return dict(urllib.parse.parse_qsl(self.raw_query,
                                           keep_blank_values=True,
                                           errors="strict"))

    def header(self, name):
        values = [v for n, v in self.headers if n.lower() == name.lower()]
        return ",".join(v.strip() for v in values) if values else None


@dataclasses.dataclass
class Response:
    status: int = 200
    headers: dict = dataclasses.field(default_factory=dict)
    body: bytes = b""
    length: int = None    # of a HEAD's answer, which has no body
    close: bool = False   # said in the headers

    # Misbehaviour.
    wait_seconds: float = 0      # before the answer
    silent: bool = False         # no answer at all
    cut_after: int = None        # body bytes; then the connection ends,
    reset: bool = False          # by a reset
    stall_after: int = None      # body bytes; then nothing
    stall_seconds: float = 0     # for so long
    drip_bytes: int = None       # at a time, stall_seconds apart
    claimed_length: int = None   # instead of the true one
    chunked: bool = False        # legal
    no_length: bool = False      # legal: the body ends with the connection
    raw_head: bytes = b""        # before raw, once
    raw: bytes = None            # in place of all of the above
    endless: bool = False        # raw again and again
    close_unsaid: bool = False   # a keep-alive connection that ends


class Connection:
    """One client's connection. One thread at a time."""

    def __init__(self, sock, number):
        self.sock, self.number = sock, number
        self.buffer = b""

    def receive(self):
        data = self.sock.recv(256 * 1024)
        if not data:
            raise Gone
        self.buffer += data

    def read_request(self, on_head):
        """The next request; None at the end of the connection. on_head is
        called with it before its body is read."""
        while b"\r\n\r\n" not in self.buffer:
            if len(self.buffer) > MAX_HEADER_BYTES:
                raise Refused(400, "RequestHeaderSectionTooLarge",
                              "Your request header section is too large.")
            try:
                self.receive()
            except (Gone, OSError):
                return None
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        request = parse_head(head)
        on_head(request)
        request.body = self.read_body(request)
        return request

    def read_body(self, request):
        if request.header("transfer-encoding") is not None:
            raise Refused(411, "MissingContentLength",
                          "You must provide the Content-Length HTTP header.")
        text = request.header("content-length")
        if text is None:
            if request.method in ("PUT", "POST"):
                raise Refused(411, "MissingContentLength", "You must provide "
                              "the Content-Length HTTP header.")
            return b""
        if not text.isascii() or not text.isdigit():
            raise Refused(400, "InvalidArgument", "Bad Content-Length.")
        length = int(text)
        if length > MAX_BODY_BYTES:
            raise Refused(400, "EntityTooLarge", "Your proposed upload "
                          "exceeds the maximum allowed object size.")
        if (request.header("expect") or "").lower() == "100-continue":
            self.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        parts, have = [self.buffer], len(self.buffer)
        while have < length:
            self.buffer = b""
            self.receive()
            parts.append(self.buffer)
            have += len(self.buffer)
        whole = b"".join(parts)
        self.buffer = whole[length:]
        return whole[:length]

    def stall(self, seconds):
        """Waits, but not for a client that has gone."""
        ready, _, _ = select.select([self.sock], [], [], seconds)
        if ready and not self.sock.recv(1, socket.MSG_PEEK):
            raise Gone

    def drop(self, after):
        """Takes so many bytes of a body, then resets the connection."""
        have = len(self.buffer)
        while have < after:
            self.buffer = b""
            self.receive()
            have += len(self.buffer)
        self.end(True)

    def end(self, reset):
        if reset:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                 struct.pack("ii", 1, 0))
        raise Gone

    def send(self, request, response):
        """Delivers an answer; raises Gone where the connection is over."""
        if response.wait_seconds:
            self.stall(response.wait_seconds)
        if response.silent:
            self.end(response.reset)
        if response.raw is not None:
            self.sock.sendall(response.raw_head + response.raw)
            while response.endless:
                self.sock.sendall(response.raw)
            self.end(False)
        self.sock.sendall(head_of(response))
        if request.method != "HEAD":
            self.send_body(response)
        if response.close or response.no_length or response.close_unsaid:
            self.end(False)

    def send_body(self, response):
        body = response.body
        if response.chunked:
            body = chunks_of(body)
        cut = len(body) if response.cut_after is None else response.cut_after
        body = body[:cut]
        if response.drip_bytes:
            for i in range(0, len(body), response.drip_bytes):
                self.sock.sendall(body[i:i + response.drip_bytes])
                self.stall(response.stall_seconds)
        elif response.stall_after is not None:
            self.sock.sendall(body[:response.stall_after])
            self.stall(response.stall_seconds)
            self.sock.sendall(body[response.stall_after:])
        else:
            self.sock.sendall(body)
        if response.cut_after is not None:
            if response.reset:
                self.stall(0.02)  # A reset overtakes bytes that are not read.
            self.end(response.reset)


def parse_head(head):
    try:
        lines = head.decode("latin-1").split("\r\n")
        method, target, version = lines[0].split(" ")
    except ValueError:
        raise Refused(400, "BadRequest", "Bad request line.") from None
    if version != "HTTP/1.1" or not re.fullmatch("[A-Z]+", method):
        raise Refused(400, "BadRequest", "Only HTTP/1.1 is spoken here.")
    if not TARGET.fullmatch(target):
        raise Refused(400, "InvalidURI", "Couldn't parse the specified URI.")
    request = Request(method, target, [])
    for line in lines[1:]:
        field = FIELD.fullmatch(line)
        if not field or "\r" in line or "\n" in line or "\0" in line:
            raise Refused(400, "BadRequest", "Bad header line.")
        request.headers.append((field[1], field[2]))
    hosts = [n for n, _ in request.headers if n.lower() == "host"]
    if len(hosts) != 1:
        raise Refused(400, "BadRequest", "There must be one Host header.")
    return request


def head_of(response):
    headers = dict(response.headers)
    if response.chunked:
        headers["Transfer-Encoding"] = "chunked"
    elif not response.no_length and response.status not in (204, 304):
        length = (len(response.body) if response.length is None
                  else response.length)
        headers["Content-Length"] = (length if response.claimed_length is None
                                     else response.claimed_length)
    headers["Connection"] = ("close" if response.close or response.no_length
                             else "keep-alive")
    reason = REASONS.get(response.status, "Unknown")
    lines = [f"HTTP/1.1 {response.status} {reason}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def chunks_of(body, size=1000):
    parts = [body[i:i + size] for i in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in [*parts, b""])
