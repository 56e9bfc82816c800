#!/usr/bin/env python3
"""An object store for tests: S3, GCS's XML interface, plain web files.

Checks what the real stores check and can be told to misbehave; the other
object_server_*.py say how. Prints "listening on PORT" and ends when its
standard input does. Never put it on a network: who can reach it can read and
write everything through the control paths:

  POST /__faults     a plan (object_server_faults.py) from now on
  GET  /__log        what was asked, as JSON; POST clears it
  PUT, GET, DELETE /__objects/BUCKET/KEY, GET /__objects/BUCKET
  GET  /__uploads    the keys of uploads in parts that are not complete
"""

import argparse
import itertools
import os
import socket
import ssl
import sys
import threading
import time
import urllib.parse

import object_server_faults
from object_server_api import Api, error_document, json_response
from object_server_auth import READ_SCOPES, Authority, Key, ServiceAccount
from object_server_auth import WRITE_SCOPES
from object_server_http import Connection, Gone, Refused, Request
from object_server_http import Response
from object_server_store import MIN_PART_BYTES, Store


class Log:
    """What was asked, and how much at the same time. Thread-safe."""

    def __init__(self):
        self.lock = threading.Lock()
        self.clear()

    def clear(self):
        with self.lock:
            self.entries = []
            self.active = self.active_bytes = 0
            self.peak = self.peak_bytes = 0

    def start(self, request, connection):
        entry = {"method": request.method, "path": request.raw_path,
                 "query": request.raw_query, "range": request.header("range"),
                 "connection": connection.number, "start": time.monotonic(),
                 "proof": (request.header("authorization") or "").split(" ")[0],
                 "status": None, "fault": None, "bytes": 0}
        with self.lock:
            self.entries.append(entry)
            self.active += 1
            self.peak = max(self.peak, self.active)
        return entry

    def sending(self, entry, size):
        with self.lock:
            entry["bytes"] = size
            self.active_bytes += size
            self.peak_bytes = max(self.peak_bytes, self.active_bytes)

    def end(self, entry):
        with self.lock:
            entry["end"] = time.monotonic()
            self.active -= 1
            self.active_bytes -= entry["bytes"]

    def report(self):
        with self.lock:
            return {"requests": [dict(e) for e in self.entries],
                    "peak_requests": self.peak, "peak_bytes": self.peak_bytes}


class Server:
    """Accepts connections, each served by a thread of its own."""

    def __init__(self, api, plan, tls=None):
        self.api, self.plan, self.log, self.tls = api, plan, Log(), tls
        self.store, self.authority = api.store, api.authority
        self.numbers = itertools.count(1)

    def listen(self, port):
        self.socket = socket.create_server(("127.0.0.1", port), backlog=128)
        return self.socket.getsockname()[1]

    def serve(self):
        while True:
            sock, _ = self.socket.accept()
            threading.Thread(target=self.talk, args=(sock,),
                             daemon=True).start()

    def talk(self, sock):
        with sock:
            try:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self.tls:
                    sock = self.tls.wrap_socket(sock, server_side=True)
                with sock:
                    self.talk_http(Connection(sock, next(self.numbers)))
            except (Gone, OSError):
                pass  # The client or a fault ended it.

    def talk_http(self, connection):
        while True:
            try:
                request = connection.read_request(
                    lambda head: self.choose_fault(connection, head))
            except Refused as refused:
                response = error_document(None, refused)
                response.close = True
                connection.send(Request("GET", "/", []), response)
            if request is None:
                return
            if request.raw_path.startswith("/__"):
                connection.send(request, self.control(request))
            else:
                self.answer(connection, request)

    def choose_fault(self, connection, request):
        if request.raw_path.startswith("/__"):
            return
        request.rule = self.plan.pick(request)
        if request.rule and request.rule["fault"] == "drop_request":
            entry = self.log.start(request, connection)
            entry["fault"] = "drop_request"
            self.log.end(entry)
            connection.drop(request.rule.get("after", 0))

    def answer(self, connection, request):
        entry = self.log.start(request, connection)
        try:
            response = self.response_to(request, entry)
            entry["status"] = response.status
            self.log.sending(entry, len(response.body))
            if request.method == "HEAD" and response.length is None:
                response.length = len(response.body)
            connection.send(request, response)
        finally:
            self.log.end(entry)

    def response_to(self, request, entry):
        rule = request.rule
        fault = object_server_faults.FAULTS[rule["fault"]] if rule else None
        if rule:
            entry["fault"] = rule["fault"]
        if fault and fault.early:
            response = fault(rule, request, self)
            if response is not None:
                return response
        data = None
        try:
            response, data = self.api.answer(request)
        except Refused as refused:
            response = error_document(request, refused)
        if fault and not fault.early:
            fault(rule, response, data)
        return response

    # For faults.

    def error(self, request, status, code, message, headers):
        response = error_document(request, Refused(status, code, message))
        response.headers.update(headers)
        return response

    def replace(self, request):
        self.store.replace(*self.api.place(request))

    # Control.

    def control(self, request):
        name, _, rest = request.raw_path[len("/__"):].partition("/")
        if name == "faults" and request.method == "POST":
            try:
                self.plan = object_server_faults.parse_plan(request.body)
            except (ValueError, TypeError, AttributeError) as error:
                return Response(400, {}, f"{error}\n".encode())
            return Response(204)
        if name == "log":
            if request.method == "POST":
                self.log.clear()
            return json_response(self.log.report())
        if name == "uploads":
            return json_response([u.key for u in self.store.uploads.values()])
        if name == "objects":
            return self.control_object(request, urllib.parse.unquote(rest))
        return Response(404)

    def control_object(self, request, place):
        bucket, _, key = place.partition("/")
        if request.method == "PUT":
            self.store.put(bucket, key, request.body)
            return Response(204)
        if request.method == "DELETE":
            self.store.delete(bucket, key)
            return Response(204)
        if not key:
            keys, _, _ = self.store.list(bucket, "", "", "", 1 << 30)
            return json_response(keys)
        item = self.store.get(bucket, key)
        return Response(200, {}, item.data) if item else Response(404)


def parse_flags(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add = parser.add_argument
    add("--port", type=int, default=0)
    add("--root", help="folder of the objects, BUCKET/KEY; default: memory")
    add("--bucket", action="append", default=[], metavar="KIND:NAME",
        help="KIND is s3, gs or public (read by anyone); NAME plain is there "
        "always, without any check.\nDefault: s3:shards gs:gs-shards "
        "public:open")
    add("--key", action="append", default=[], metavar="KIND:ACCESS:SECRET",
        help="an access key (HMAC key of gs), with :SESSION_TOKEN if wanted")
    add("--bearer", action="append", default=[], metavar="TOKEN",
        help="a bearer token for gs that lasts; read:TOKEN may only read")
    add("--service_account", metavar="EMAIL:MODULUS",
        help="modulus of the public key in hex")
    add("--token_seconds", type=int, default=3600)
    add("--region", default="us-east-1")
    add("--min_part", type=int, default=MIN_PART_BYTES)
    add("--max_list", type=int, default=1000, help="keys in a page of a list")
    add("--faults", help="a plan, as JSON")
    add("--tls_certificate", metavar="PEM", help="speak https with this")
    add("--tls_key", metavar="PEM")
    return parser.parse_args(arguments)


def make_authority(flags):
    authority = Authority(flags.region, flags.token_seconds)
    for text in flags.key:
        kind, access, secret, *session = text.split(":")
        authority.keys[access] = Key(secret, kind, *session)
    forever = float("inf")
    for token in flags.bearer:
        reads_only = token.startswith("read:")
        authority.tokens[token.removeprefix("read:")] = (
            forever, READ_SCOPES - WRITE_SCOPES if reads_only
            else WRITE_SCOPES)
    if flags.service_account:
        address, _, modulus = flags.service_account.rpartition(":")
        authority.account = ServiceAccount(address, int(modulus, 16))
    return authority


def end_with_standard_input():
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(0)


def main():
    flags = parse_flags(sys.argv[1:])
    kinds = flags.bucket or ["s3:shards", "gs:gs-shards", "public:open"]
    buckets = {name: kind for kind, name in (k.split(":") for k in kinds)}
    api = Api(Store(flags.root, flags.min_part), make_authority(flags),
              buckets, flags.max_list)
    plan = object_server_faults.parse_plan(flags.faults or "{}")
    tls = None
    if flags.tls_certificate:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(flags.tls_certificate, flags.tls_key)
    server = Server(api, plan, tls)
    print(f"listening on {server.listen(flags.port)}", flush=True)
    threading.Thread(target=end_with_standard_input, daemon=True).start()
    server.serve()


if __name__ == "__main__":
    main()
