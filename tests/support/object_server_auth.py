"""Who may do what: AWS Signature Version 4, bearer tokens, service accounts.

Written from the specifications, and apart from the library's own signer, so
that each checks the other.
"""

import base64
import binascii
import calendar
import dataclasses
import hashlib
import hmac
import json
import re
import secrets
import time
import urllib.parse

from object_server_http import Refused

MAX_SKEW_SECONDS = 15 * 60
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
SCOPES = "https://www.googleapis.com/auth/"
READ_SCOPES = {SCOPES + s for s in (
    "devstorage.read_only", "devstorage.read_write", "devstorage.full_control",
    "cloud-platform", "cloud-platform.read-only")}
WRITE_SCOPES = {SCOPES + s for s in (
    "devstorage.read_write", "devstorage.full_control", "cloud-platform")}

# For each dialect of the signature: the prefix of its headers, the end of its
# scope and of the secret's prefix, and its services.
DIALECTS = {"AWS4-HMAC-SHA256": ("x-amz-", "aws4_request", "AWS4", {"s3"}),
            "GOOG4-HMAC-SHA256": ("x-goog-", "goog4_request", "GOOG4",
                                  {"storage"})}
AUTHORIZATION = re.compile(
    r"(AWS4|GOOG4)-HMAC-SHA256 +Credential=([^,/ ]+)/(\d{8})/([^,/ ]+)/"
    r"([^,/ ]+)/([^,/ ]+), *SignedHeaders=([^, ]+), *Signature=([0-9a-f]{64})")


def escape(text):
    """The one escape of SigV4: all but A-Z a-z 0-9 - . _ ~."""
    return urllib.parse.quote(text, safe="-._~")


def canonical_query(raw):
    """Names and values unescaped, escaped anew and sorted."""
    pairs = []
    for part in raw.split("&") if raw else []:
        name, _, value = part.partition("=")
        pairs.append(tuple(escape(urllib.parse.unquote_to_bytes(
            text.replace("+", " "))) for text in (name, value)))
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def canonical_request(request, signed_headers, payload_hash):
    path = "/".join(escape(urllib.parse.unquote_to_bytes(segment))
                    for segment in request.raw_path.split("/"))
    lines = [request.method, path, canonical_query(request.raw_query)]
    for name in signed_headers:
        values = [v for n, v in request.headers if n.lower() == name]
        lines.append(name + ":" + ",".join(" ".join(v.split())
                                           for v in values))
    return "\n".join([*lines, "", ";".join(signed_headers), payload_hash])


def string_to_sign(algorithm, stamp, scope, canonical):
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return "\n".join([algorithm, stamp, scope, digest])


def signature(secret, scope, text, prefix="AWS4"):
    key = (prefix + secret).encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.new(key, text.encode(), "sha256").hexdigest()


@dataclasses.dataclass
class Key:
    secret: str
    kind: str               # "s3" or "gs": the stores that it opens
    session_token: str = ""  # must come with each request where given


@dataclasses.dataclass
class ServiceAccount:
    email: str
    modulus: int
    exponent: int = 65537


class Authority:
    """Knows keys, tokens and one service account."""

    def __init__(self, region="us-east-1", token_seconds=3600,
                 now=time.time):
        self.region, self.token_seconds, self.now = region, token_seconds, now
        self.keys = {}      # access key -> Key
        self.tokens = {}    # bearer token -> (end, scopes)
        self.account = None  # ServiceAccount

    def authorize(self, request, kind, writes):
        """Returns how the request proved itself; raises Refused."""
        text = request.header("authorization")
        if text is None:
            raise Refused(403, "AccessDenied", "Access Denied.")
        if text.startswith("Bearer "):
            if kind == "s3":
                raise Refused(400, "InvalidRequest", "The authorization "
                              "mechanism you have provided is not supported.")
            self.check_token(text[len("Bearer "):], writes)
            return "bearer"
        self.check_signature(request, kind, text)
        return "sigv4"

    def check_signature(self, request, kind, text):
        match = AUTHORIZATION.fullmatch(text)
        if not match:
            raise Refused(400, "AuthorizationHeaderMalformed",
                          "The authorization header is malformed.")
        dialect, access, day, region, service, ending, names, given = \
            match.groups()
        algorithm = dialect + "-HMAC-SHA256"
        prefix, true_ending, secret_prefix, services = DIALECTS[algorithm]
        key = self.keys.get(access)
        if key is None or kind not in (key.kind, "public"):
            raise Refused(403, "InvalidAccessKeyId", "The AWS Access Key Id "
                          "you provided does not exist in our records.",
                          AWSAccessKeyId=access)
        if ending != true_ending or service not in services or (
                dialect == "GOOG4" and kind == "s3"):
            raise Refused(400, "AuthorizationHeaderMalformed", "The "
                          "authorization header is malformed; bad scope.")
        if kind == "s3" and region != self.region:
            raise Refused(400, "AuthorizationHeaderMalformed", "The "
                          "authorization header is malformed; the region "
                          f"'{region}' is wrong; expecting '{self.region}'",
                          Region=self.region)
        stamp = self.check_time(request, prefix, day)
        signed = names.split(";")
        check_signed_headers(request, signed, prefix)
        payload_hash = check_payload(request, prefix)
        canonical = canonical_request(request, signed, payload_hash)
        scope = "/".join([day, region, service, ending])
        to_sign = string_to_sign(algorithm, stamp, scope, canonical)
        true = signature(key.secret, scope, to_sign, secret_prefix)
        if not hmac.compare_digest(true, given):
            raise Refused(403, "SignatureDoesNotMatch", "The request "
                          "signature we calculated does not match the "
                          "signature you provided. Check your key and "
                          "signing method.", AWSAccessKeyId=access,
                          StringToSign=to_sign, SignatureProvided=given,
                          CanonicalRequest=canonical)
        if (request.header("x-amz-security-token") or "") != key.session_token:
            raise Refused(400, "InvalidToken", "The provided token is "
                          "malformed or otherwise invalid.")

    def check_time(self, request, prefix, day):
        stamp = request.header(prefix + "date") or ""
        if not re.fullmatch(r"\d{8}T\d{6}Z", stamp) or stamp[:8] != day:
            raise Refused(403, "AccessDenied", "AWS authentication requires "
                          "a valid Date or x-amz-date header")
        then = time.strptime(stamp + " UTC", "%Y%m%dT%H%M%SZ %Z")
        if abs(calendar.timegm(then) - self.now()) > MAX_SKEW_SECONDS:
            raise Refused(403, "RequestTimeTooSkewed", "The difference "
                          "between the request time and the current time is "
                          "too large.")
        return stamp

    def check_token(self, token, writes):
        end, scopes = self.tokens.get(token, (0, set()))
        if end <= self.now():
            raise Refused(401, "AuthenticationRequired",
                          "Invalid Credentials")
        if not scopes & (WRITE_SCOPES if writes else READ_SCOPES):
            raise Refused(403, "AccessDenied", "Provided scope(s) are not "
                          "authorized")

    def issue(self, scopes):
        token = "ya29." + secrets.token_urlsafe(48)
        self.tokens[token] = (self.now() + self.token_seconds, scopes)
        return {"access_token": token, "expires_in": self.token_seconds,
                "token_type": "Bearer"}

    def exchange(self, request):
        """The token endpoint: a signed JWT for a token."""
        kind = (request.header("content-type") or "").partition(";")[0]
        if (request.method != "POST"
                or kind != "application/x-www-form-urlencoded"):
            raise Refused(400, "invalid_request", "POST a form.")
        form = dict(urllib.parse.parse_qsl(request.body.decode("ascii")))
        if form.get("grant_type") != GRANT or "assertion" not in form:
            raise Refused(400, "unsupported_grant_type",
                          "Invalid grant_type: " + form.get("grant_type", ""))
        claims = self.check_jwt(form["assertion"])
        audience = f"http://{request.header('host')}{request.raw_path}"
        if claims.get("aud") not in (audience, "https" + audience[4:]):
            raise Refused(400, "invalid_grant", "Invalid JWT: aud.")
        scopes = set(str(claims.get("scope", "")).split())
        if not scopes or not scopes <= READ_SCOPES | WRITE_SCOPES:
            raise Refused(400, "invalid_scope",
                          "Invalid OAuth scope or ID token audience provided.")
        return self.issue(scopes)

    def check_jwt(self, text):
        try:
            head, claims, proof = text.split(".")
            if json.loads(unbase64url(head)).get("alg") != "RS256":
                raise ValueError("alg")
            claims = json.loads(unbase64url(claims))
            number = int.from_bytes(unbase64url(proof), "big")
        except (ValueError, binascii.Error, AttributeError):
            raise Refused(400, "invalid_grant", "Bad JWT.") from None
        signed = text.rpartition(".")[0].encode()
        if self.account is None or claims.get("iss") != self.account.email:
            raise Refused(400, "invalid_grant",
                          "Invalid grant: account not found")
        if not is_rs256(self.account, signed, number):
            raise Refused(400, "invalid_grant", "Invalid JWT Signature.")
        now, start, end = self.now(), claims.get("iat"), claims.get("exp")
        if (not isinstance(start, int) or not isinstance(end, int)
                or not start - 60 <= now < end or end - start > 3600):
            raise Refused(400, "invalid_grant", "Invalid JWT: Token must be "
                          "a short-lived token (60 minutes) and in a "
                          "reasonable timeframe.")
        return claims


def check_signed_headers(request, signed, prefix):
    present = {name.lower() for name, _ in request.headers}
    must = {"host"} | {n for n in present if n.startswith(prefix)}
    if signed != sorted(set(signed)) or not must <= set(signed) <= present:
        raise Refused(403, "AccessDenied", "There were headers present in the "
                      "request which were not signed", HeadersNotSigned=", "
                      .join(sorted(must - set(signed))))


def check_payload(request, prefix):
    payload_hash = request.header(prefix + "content-sha256")
    if payload_hash is None:
        raise Refused(400, "InvalidRequest", "Missing required header for "
                      f"this request: {prefix}content-sha256")
    if payload_hash != "UNSIGNED-PAYLOAD" and (
            payload_hash != hashlib.sha256(request.body).hexdigest()):
        raise Refused(400, "XAmzContentSHA256Mismatch", "The provided "
                      "'x-amz-content-sha256' header does not match what was "
                      "computed.")
    return payload_hash


def unbase64url(text):
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        raise ValueError("base64url")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def is_rs256(account, signed, number):
    """RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017, 8.2.2)."""
    size = (account.modulus.bit_length() + 7) // 8
    digest_info = (bytes.fromhex("3031300d060960864801650304020105000420")
                   + hashlib.sha256(signed).digest())
    padded = (b"\x00\x01" + b"\xff" * (size - len(digest_info) - 3) + b"\x00"
              + digest_info)
    return pow(number, account.exponent, account.modulus) == int.from_bytes(
        padded, "big")
