"""What an object server can do wrong, and when.

A plan is JSON: {"seed": 1, "rules": [RULE, ...]}. The first rule that fits a
request and has not run out decides. A rule's fields:

  fault        one of FAULTS below; each names its own further fields
  method, path, query  regular expressions for parts of the request
  ranged       true: only requests with a Range header
  next         how many requests it is for (without: all)
  skip         how many it lets pass first
  probability  of striking, drawn with the seed
"""

import json
import random
import re
import threading

from object_server_http import Response

FAULTS = {}
FIELDS = {"fault", "method", "path", "query", "ranged", "next", "skip",
          "probability"}


def fault(*fields, early=False):
    """Registers a fault: early ones come before the store is asked."""
    def register(function):
        function.fields, function.early = set(fields), early
        FAULTS[function.__name__] = function
        return function
    return register


class Plan:
    """Decides which request meets which fault. Thread-safe."""

    def __init__(self, config=None):
        config = config or {}
        if set(config) - {"seed", "rules"}:
            raise ValueError("a plan has seed and rules")
        self.random = random.Random(config.get("seed", 1))
        self.rules = [dict(rule) for rule in config.get("rules", [])]
        self.lock = threading.Lock()
        for rule in self.rules:
            if rule.get("fault") not in FAULTS:
                raise ValueError(f"no such fault: {rule.get('fault')}")
            unknown = set(rule) - FIELDS - FAULTS[rule["fault"]].fields
            if unknown:
                raise ValueError(f"{rule['fault']} has no {sorted(unknown)}")

    def pick(self, request):
        with self.lock:
            for rule in self.rules:
                if rule.get("next") == 0 or not fits(rule, request):
                    continue
                if rule.get("skip", 0) > 0:
                    rule["skip"] -= 1
                    continue
                if self.random.random() >= rule.get("probability", 1):
                    continue
                if "next" in rule:
                    rule["next"] -= 1
                return dict(rule)
        return None


def fits(rule, request):
    return (re.search(rule.get("method", ""), request.method)
            and re.search(rule.get("path", ""), request.raw_path)
            and re.search(rule.get("query", ""), request.raw_query)
            and (not rule.get("ranged")
                 or request.header("range") is not None))


# Early faults: they answer, or change the store, before the request is handled.

@fault("status", "code", "message", "retry_after", early=True)
def status(rule, request, server):
    """An error of the store's (503 SlowDown unless said otherwise)."""
    number = rule.get("status", 503)
    code = rule.get("code", {503: "SlowDown", 500: "InternalError",
                             403: "AccessDenied"}.get(number, "Error"))
    headers = {}
    if "retry_after" in rule:
        headers["Retry-After"] = str(rule["retry_after"])
    return server.error(request, number, code,
                        rule.get("message", "Made by the fault plan."),
                        headers)


@fault("after", early=True)
def drop_request(rule, request, server):
    """A reset after so many bytes (0) of the request's body."""
    raise AssertionError("the server does this before it reads the body")


@fault(early=True)
def reset(rule, request, server):
    """The connection is reset before there is an answer."""
    return Response(silent=True, reset=True)


@fault(early=True)
def end(rule, request, server):
    """The connection is closed before there is an answer."""
    return Response(silent=True)


@fault("seconds", early=True)
def silence(rule, request, server):
    """Nothing for so long, then the end of the connection."""
    return Response(wait_seconds=rule["seconds"], silent=True)


@fault(early=True)
def not_http(rule, request, server):
    return Response(raw=b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")


@fault("bytes", early=True)
def huge_headers(rule, request, server):
    """One header line of so many bytes (1 MiB)."""
    return Response(raw=b"HTTP/1.1 200 OK\r\nX-Long: "
                    + b"a" * rule.get("bytes", 1 << 20) + b"\r\n\r\n")


@fault(early=True)
def endless_headers(rule, request, server):
    return Response(raw=b"X-More: and more\r\n" * 512, endless=True)


@fault(early=True)
def endless_body(rule, request, server):
    """A body without a length that never ends."""
    head = (b"HTTP/1.1 206 Partial Content\r\n" if request.header("range")
            else b"HTTP/1.1 200 OK\r\n")
    head += (b'Content-Range: bytes 0-7/8\r\nETag: "endless"\r\n'
             b"Connection: close\r\n\r\n")
    return Response(raw_head=head, raw=b"endless " * 2048, endless=True)


@fault("location", early=True)
def redirect(rule, request, server):
    return Response(307, {"Location": rule["location"]})


@fault(early=True)
def replace(rule, request, server):
    """Someone puts another object, of the same size, in its place."""
    server.replace(request)


@fault(early=True)
def revoke(rule, request, server):
    """Every bearer token ends now."""
    server.authority.tokens.clear()


@fault(early=True)
def error_in_200(rule, request, server):
    """What S3 answers a completion that fails after its headers were sent."""
    response = server.error(request, 500, "InternalError", "We encountered an "
                            "internal error. Please try again.", {})
    response.status = 200
    return response


# Late faults: they damage the true answer.

@fault("seconds")
def stall(rule, response, data):
    """The answer comes so much later."""
    response.wait_seconds = rule["seconds"]


@fault("seconds", "after")
def stall_body(rule, response, data):
    """So many bytes, nothing for so long, then the rest."""
    response.stall_after = rule.get("after", len(response.body) // 2)
    response.stall_seconds = rule["seconds"]


@fault("seconds", "bytes")
def drip(rule, response, data):
    """A few bytes at a time, with pauses."""
    response.drip_bytes = rule.get("bytes", 1)
    response.stall_seconds = rule["seconds"]


@fault("after")
def reset_body(rule, response, data):
    """A reset after so many bytes of the body."""
    response.cut_after = rule.get("after", len(response.body) // 2)
    response.reset = True


@fault("after")
def truncate(rule, response, data):
    """The connection ends after so many bytes of the body."""
    response.cut_after = rule.get("after", len(response.body) // 2)


@fault("bytes")
def length_more(rule, response, data):
    """Content-Length promises more than comes."""
    response.claimed_length = len(response.body) + rule.get("bytes", 1)
    response.cut_after = len(response.body)


@fault("bytes")
def length_less(rule, response, data):
    """Content-Length promises less; the rest runs into what comes next."""
    response.claimed_length = max(0, len(response.body) - rule.get("bytes", 1))


@fault()
def whole(rule, response, data):
    """200 and the whole object in answer to a range."""
    if response.status == 206 and data is not None:
        response.status, response.body = 200, data
        response.headers.pop("Content-Range", None)


@fault("bytes")
def other_range(rule, response, data):
    """Another range than was asked for, truly labelled."""
    shift_range(response, data, rule.get("bytes", 1), True, True)


@fault("bytes")
def wrong_content_range(rule, response, data):
    """The right bytes under the label of others."""
    shift_range(response, data, rule.get("bytes", 1), False, True)


@fault("bytes")
def wrong_bytes(rule, response, data):
    """Other bytes under the right label: a checksum alone can tell."""
    shift_range(response, data, rule.get("bytes", 1), True, False)


@fault("bytes")
def short_range(rule, response, data):
    """Fewer bytes than were asked for, truly labelled."""
    place = range_of(response)
    if place:
        start, end, size = place
        end = max(start + 1, end - rule.get("bytes", 1))
        response.body = data[start:end]
        set_range(response, start, end, size)


@fault("bytes")
def wrong_size(rule, response, data):
    """A Content-Range with another size of the whole."""
    place = range_of(response)
    if place:
        start, end, size = place
        set_range(response, start, end, size + rule.get("bytes", 1))


@fault("text")
def content_range_text(rule, response, data):
    response.headers["Content-Range"] = rule["text"]


@fault()
def no_content_range(rule, response, data):
    response.headers.pop("Content-Range", None)


@fault("etag")
def other_etag(rule, response, data):
    response.headers["ETag"] = rule.get("etag", '"0123456789abcdef"')


@fault()
def no_etag(rule, response, data):
    response.headers.pop("ETag", None)


@fault("text", "status")
def garbage(rule, response, data):
    """Another body than the true one, under another status if given."""
    response.status = rule.get("status", response.status)
    response.body = rule.get("text", "<ListBucketResult><Contents><Key>a"
                             "</Contents></\0>&bogus;").encode()


@fault()
def chunked(rule, response, data):
    response.chunked = True


@fault()
def no_length(rule, response, data):
    response.no_length = True


@fault()
def hang_up(rule, response, data):
    """Ends a connection that it said it would keep."""
    response.close_unsaid = True


def range_of(response):
    """(start, end, size) of a 206."""
    match = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)",
                         response.headers.get("Content-Range", ""))
    if response.status != 206 or not match:
        return None
    return int(match[1]), int(match[2]) + 1, int(match[3])


def set_range(response, start, end, size):
    response.headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"


def shift_range(response, data, by, shift_bytes, shift_label):
    place = range_of(response)
    if not place:
        return
    start, end, size = place
    by = by if end + by <= size else -min(by, start)
    if shift_bytes:
        response.body = data[start + by:end + by]
    if shift_label:
        set_range(response, start + by, end + by, size)


def parse_plan(text):
    return Plan(json.loads(text))
