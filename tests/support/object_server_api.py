"""The S3 / GCS XML interface, plain web files and Google's token endpoint."""

import base64
import email.utils
import hashlib
import json
import re
import secrets
import urllib.parse
import xml.etree.ElementTree
from xml.sax.saxutils import escape as escape_xml

from object_server_http import Refused, Response

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
METADATA = "/computeMetadata/v1/instance/service-accounts/default/token"


def element(name, content):
    """content: text, or a list of elements."""
    inner = ("".join(content) if isinstance(content, list)
             else escape_xml(str(content)))
    return f"<{name}>{inner}</{name}>"


def document(name, children):
    text = HEAD + f'<{name} xmlns="{NAMESPACE}">{"".join(children)}</{name}>'
    return Response(200, {"Content-Type": "application/xml"}, text.encode())


def error_document(request, refused):
    """The stores' XML for what was refused; a HEAD gets its status alone."""
    request_id = secrets.token_hex(8).upper()
    children = [element("Code", refused.code), element("Message", refused)]
    children += [element(k, v) for k, v in refused.details.items()]
    if request is not None:
        children.append(element("Resource", request.raw_path))
    children.append(element("RequestId", request_id))
    text = HEAD + element("Error", children)
    return Response(refused.status, {"Content-Type": "application/xml",
                                     "x-amz-request-id": request_id},
                    text.encode())


def json_response(value, status=200):
    return Response(status, {"Content-Type": "application/json"},
                    json.dumps(value).encode())


class Api:
    """Answers requests from a store, as far as the authority lets it."""

    def __init__(self, store, authority, buckets, max_list=1000):
        self.store, self.authority = store, authority
        self.buckets = buckets  # name -> "s3", "gs" or "public"
        self.max_list = max_list

    def answer(self, request):
        """Returns the answer and the whole object where it is one's range."""
        if request.raw_path == "/token":
            return self.token(request), None
        if request.raw_path == METADATA:
            return self.metadata(request), None
        bucket, key = self.place(request)
        if bucket == "plain":
            if request.method not in ("GET", "HEAD"):
                raise Refused(405, "MethodNotAllowed", "Read only.")
            return self.read(request, "plain", key)
        if bucket not in self.buckets:
            raise Refused(404, "NoSuchBucket",
                          "The specified bucket does not exist",
                          BucketName=bucket)
        self.authorize(request, bucket)
        if request.header("content-md5") is not None:
            check_md5(request)
        if not key:
            return self.answer_bucket(request, bucket), None
        return self.answer_object(request, bucket, key)

    def authorize(self, request, bucket):
        kind = self.buckets[bucket]
        writes = request.method not in ("GET", "HEAD")
        if kind == "public" and not writes and (
                request.header("authorization") is None):
            return
        self.authority.authorize(request, kind, writes)

    def place(self, request):
        """(bucket, key), of path style or virtual-host style."""
        try:
            path = request.path[1:]
        except UnicodeDecodeError:
            raise Refused(400, "InvalidURI",
                          "Couldn't parse the specified URI.") from None
        host = request.header("host").rpartition(":")[0] or (
            request.header("host"))
        label, _, rest = host.partition(".")
        if rest and label in self.buckets:
            return label, path
        bucket, _, key = path.partition("/")
        return bucket, key

    def token(self, request):
        try:
            return json_response(self.authority.exchange(request))
        except Refused as refused:
            return json_response({"error": refused.code,
                                  "error_description": str(refused)},
                                 refused.status)

    def metadata(self, request):
        if request.header("metadata-flavor") != "Google":
            return Response(403, {}, b"Missing Metadata-Flavor:Google header.")
        response = json_response(self.authority.issue(
            {"https://www.googleapis.com/auth/cloud-platform"}))
        response.headers["Metadata-Flavor"] = "Google"
        return response

    # Buckets.

    def answer_bucket(self, request, bucket):
        query = request.query()
        if request.method == "GET" and "uploads" in query:
            return self.list_uploads(bucket)
        if request.method == "GET" and query.get("list-type") == "2":
            return self.list(bucket, query)
        if request.method == "HEAD":
            return Response(200)
        raise Refused(501, "NotImplemented", "A header you provided implies "
                      "functionality that is not implemented")

    def list(self, bucket, query):
        known = {"list-type", "prefix", "delimiter", "max-keys", "start-after",
                 "continuation-token", "encoding-type", "fetch-owner"}
        if set(query) - known or query.get("encoding-type", "url") != "url":
            raise Refused(400, "InvalidArgument", "Invalid list parameters")
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        asked = query.get("max-keys", "1000")
        if not asked.isdigit():
            raise Refused(400, "InvalidArgument",
                          "Provided max-keys not an integer")
        after = query.get("start-after", "")
        if "continuation-token" in query:
            after = read_continuation(query["continuation-token"])
        keys, prefixes, last = self.store.list(
            bucket, prefix, delimiter, after, min(int(asked), self.max_list))
        url = "encoding-type" in query
        text = urllib.parse.quote if url else (lambda name: name)
        children = [element("Name", bucket), element("Prefix", text(prefix)),
                    element("KeyCount", len(keys) + len(prefixes)),
                    element("MaxKeys", asked),
                    element("IsTruncated", "true" if last else "false")]
        if url:
            children.append(element("EncodingType", "url"))
        if last:
            children.append(element("NextContinuationToken",
                                    continuation(last)))
        for key in keys:
            item = self.store.get(bucket, key)
            children.append(element("Contents", [
                element("Key", text(key)),
                element("LastModified", "2026-01-02T03:04:05.000Z"),
                element("ETag", f'"{item.etag}"'),
                element("Size", len(item.data)),
                element("StorageClass", "STANDARD")]))
        children += [element("CommonPrefixes", [element("Prefix", text(name))])
                     for name in prefixes]
        return document("ListBucketResult", children)

    def list_uploads(self, bucket):
        children = [element("Bucket", bucket), element("IsTruncated", "false")]
        children += [element("Upload", [element("Key", upload.key),
                                        element("UploadId", upload_id)])
                     for upload_id, upload in self.store.uploads.items()
                     if upload.bucket == bucket]
        return document("ListMultipartUploadsResult", children)

    # Objects.

    def answer_object(self, request, bucket, key):
        query = request.query()
        if "uploads" in query or "uploadId" in query:
            return self.answer_upload(request, bucket, key, query), None
        if query:
            raise Refused(501, "NotImplemented",
                          "This sub-resource is not implemented")
        if request.method in ("GET", "HEAD"):
            return self.read(request, bucket, key)
        if request.method == "PUT":
            self.check_absent(request, bucket, key)
            item = self.store.put(bucket, key, request.body)
            return Response(200, {"ETag": f'"{item.etag}"'}), None
        if request.method == "DELETE":
            self.store.delete(bucket, key)
            return Response(204), None
        raise Refused(405, "MethodNotAllowed", "The specified method is not "
                      "allowed against this resource.")

    def check_absent(self, request, bucket, key):
        if request.header("if-none-match") is not None:
            if request.header("if-none-match") != "*":
                raise Refused(501, "NotImplemented", "Only * is implemented")
            if self.store.get(bucket, key) is not None:
                raise Refused(412, "PreconditionFailed", "At least one of the "
                              "pre-conditions you specified did not hold")

    def read(self, request, bucket, key):
        item = self.store.get(bucket, key)
        if item is None:
            raise Refused(404, "NoSuchKey", "The specified key does not exist",
                          Key=key)
        etag = f'"{item.etag}"'
        match = request.header("if-match")
        if match is not None and match != "*" and (
                etag not in [tag.strip() for tag in match.split(",")]):
            raise Refused(412, "PreconditionFailed", "At least one of the "
                          "pre-conditions you specified did not hold",
                          Condition="If-Match")
        since = request.header("if-unmodified-since")
        if match is None and since is not None and (
                item.modified >= unix_seconds(since) + 1):
            raise Refused(412, "PreconditionFailed", "At least one of the "
                          "pre-conditions you specified did not hold",
                          Condition="If-Unmodified-Since")
        size = len(item.data)
        headers = {"ETag": etag, "Accept-Ranges": "bytes",
                   "Last-Modified": email.utils.formatdate(
                       item.modified, usegmt=True),
                   "Content-Type": "application/octet-stream"}
        if self.buckets.get(bucket) == "gs":
            headers["x-goog-generation"] = item.generation
        place = parse_range(request.header("range"), size)
        start, end = place or (0, size)
        response = Response(206 if place else 200, headers,
                            item.data[start:end], length=end - start)
        if place:
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
        if request.method != "HEAD":
            response.length = None
        return response, item.data

    # Uploads in parts.

    def answer_upload(self, request, bucket, key, query):
        upload_id = query.get("uploadId")
        if request.method == "POST" and "uploads" in query:
            return document("InitiateMultipartUploadResult", [
                element("Bucket", bucket), element("Key", key),
                element("UploadId", self.store.start_upload(bucket, key))])
        if upload_id is None:
            raise Refused(400, "InvalidArgument", "Missing uploadId")
        if request.method == "PUT":
            if not query.get("partNumber", "").isdigit():
                raise Refused(400, "InvalidArgument", "Part number must be an "
                              "integer between 1 and 10000, inclusive")
            part = self.store.put_part(upload_id, bucket, key,
                                       int(query["partNumber"]), request.body)
            return Response(200, {"ETag": f'"{part.etag}"'})
        if request.method == "POST":
            self.check_absent(request, bucket, key)
            item = self.store.complete(upload_id, bucket, key,
                                       wanted_parts(request.body))
            return document("CompleteMultipartUploadResult", [
                element("Bucket", bucket), element("Key", key),
                element("ETag", f'"{item.etag}"')])
        if request.method == "DELETE":
            self.store.abort(upload_id, bucket, key)
            return Response(204)
        raise Refused(405, "MethodNotAllowed", "The specified method is not "
                      "allowed against this resource.")


def parse_range(text, size):
    """(start, end) of one range; None for the whole."""
    if text is None:
        return None
    match = re.fullmatch(r"bytes=(\d*)-(\d*)", text)
    if not match or match[1] + match[2] == "":
        return None  # What is not understood is ignored, as RFC 9110 says.
    if match[1] == "":
        start, end = max(0, size - int(match[2])), size
    else:
        start = int(match[1])
        end = min(size, int(match[2]) + 1) if match[2] else size
    if start >= size or start >= end:
        raise Refused(416, "InvalidRange", "The requested range is not "
                      "satisfiable", RangeRequested=text, ActualObjectSize=size)
    return start, end


def unix_seconds(text):
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except ValueError:
        return float("inf")  # What is no date is ignored, as RFC 9110 says.


def check_md5(request):
    digest = hashlib.md5(request.body, usedforsecurity=False).digest()
    if request.header("content-md5") != base64.b64encode(digest).decode():
        raise Refused(400, "BadDigest", "The Content-MD5 you specified did "
                      "not match what we received.")


def wanted_parts(body):
    """(number, ETag) of each part that a completion names."""
    try:
        root = xml.etree.ElementTree.fromstring(body)
        if local_name(root) != "CompleteMultipartUpload":
            raise ValueError
        parts = []
        for part in root:
            fields = {local_name(child): child.text for child in part}
            parts.append((int(fields["PartNumber"]),
                          fields["ETag"].strip().strip('"')))
        return parts
    except (xml.etree.ElementTree.ParseError, ValueError, KeyError,
            AttributeError, TypeError):
        raise Refused(400, "MalformedXML", "The XML you provided was not "
                      "well-formed or did not validate") from None


def local_name(node):
    return node.tag.rpartition("}")[2]


# A token has characters that must be escaped in a query.
def continuation(last):
    return "1/" + base64.b64encode(last.encode()).decode() + "+="


def read_continuation(token):
    try:
        if not token.startswith("1/") or not token.endswith("+="):
            raise ValueError
        return base64.b64decode(token[2:-2], validate=True).decode()
    except ValueError:
        raise Refused(400, "InvalidArgument", "The continuation token "
                      "provided is incorrect") from None
