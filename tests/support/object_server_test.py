"""Checks the object server's verdicts: `object_server.py --self_test`.

Signatures come from AWS's published examples, so a verifier that is lenient
or wrong in its own way fails here.
"""

import hashlib
import unittest

import object_server_auth as auth
import object_server_faults as faults
from object_server_api import Api, parse_range, wanted_parts
from object_server_http import Refused, Request, parse_head
from object_server_store import Store

# The S3 documentation's examples.
KEY = ("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
TIME = 1369353600  # 20130524T000000Z
EMPTY = hashlib.sha256().hexdigest()
HOST = "examplebucket.s3.amazonaws.com"


def s3_example(method, target, signed, proof, extra=(), body=b""):
    digest = hashlib.sha256(body).hexdigest()
    headers = [("Host", HOST), ("x-amz-content-sha256", digest),
               ("x-amz-date", "20130524T000000Z"), *extra]
    headers.append(("Authorization", "AWS4-HMAC-SHA256 Credential=" + KEY[0]
                    + "/20130524/us-east-1/s3/aws4_request,SignedHeaders="
                    + signed + ",Signature=" + proof))
    return Request(method, target, headers, body)


PLAIN = "host;x-amz-content-sha256;x-amz-date"
EXAMPLES = {
    "get": s3_example(
        "GET", "/test.txt", "host;range;x-amz-content-sha256;x-amz-date",
        "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        [("Range", "bytes=0-9")]),
    "put": s3_example(
        "PUT", "/test$file.text",
        "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
        "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
        [("Date", "Fri, 24 May 2013 00:00:00 GMT"),
         ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
        b"Welcome to Amazon S3."),
    "lifecycle": s3_example(
        "GET", "/?lifecycle", PLAIN,
        "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
    "list": s3_example(
        "GET", "/?max-keys=2&prefix=J", PLAIN,
        "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
}

# From AWS's test suite for Signature Version 4: name -> method, target, headers
# other than Host and X-Amz-Date, signature.
SUITE = {
    "get-vanilla": (
        "GET", "/", [],
        "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    "post-vanilla": (
        "POST", "/", [],
        "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    "get-vanilla-query-order-key-case": (
        "GET", "/?Param2=value2&Param1=value1", [],
        "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
    "get-vanilla-query-unreserved": (
        "GET", "/?-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        "abcdefghijklmnopqrstuvwxyz=-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        "abcdefghijklmnopqrstuvwxyz", [],
        "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"),
    "get-header-value-trim": (
        "GET", "/", [("My-Header1", " value1"),
                     ("My-Header2", ' "a   b   c"')],
        "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"),
    "get-utf8": (
        "GET", "/%E1%88%B4", [],
        "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
}

# RFC 7515, A.2.
RSA_MODULUS = (
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qP"
    "CJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47s"
    "oMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2"
    "R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoud"
    "F8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ")
JWS = (
    "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0"
    "dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
    "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4B"
    "h-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZ"
    "LgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_d"
    "O--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6"
    "LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw")


class SignatureTest(unittest.TestCase):
    def setUp(self):
        self.authority = auth.Authority(now=lambda: TIME)
        self.authority.keys[KEY[0]] = auth.Key(KEY[1], "s3")

    def verdict(self, request, kind="s3"):
        try:
            return self.authority.authorize(request, kind, False)
        except Refused as refused:
            return refused.code

    def changed(self, name, header, value):
        request = EXAMPLES[name]
        headers = [(n, value if n.lower() == header else v)
                   for n, v in request.headers]
        return Request(request.method, request.target, headers, request.body)

    def test_published_s3_examples_hold(self):
        for name, request in EXAMPLES.items():
            with self.subTest(name):
                self.assertEqual(self.verdict(request), "sigv4")

    def test_published_suite_gives_the_same_signatures(self):
        for name, (method, target, extra, proof) in SUITE.items():
            with self.subTest(name):
                request = Request(method, target, [
                    ("Host", "example.amazonaws.com"),
                    ("X-Amz-Date", "20150830T123600Z"), *extra])
                signed = sorted(n.lower() for n, _ in request.headers)
                scope = "20150830/us-east-1/service/aws4_request"
                text = auth.string_to_sign(
                    "AWS4-HMAC-SHA256", "20150830T123600Z", scope,
                    auth.canonical_request(request, signed, EMPTY))
                self.assertEqual(auth.signature(
                    "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", scope, text),
                    proof)

    def test_whatever_is_altered_is_refused(self):
        wrong = "SignatureDoesNotMatch"
        self.assertEqual(self.verdict(
            self.changed("get", "range", "bytes=0-8")), wrong)
        self.assertEqual(self.verdict(
            self.changed("get", "host", "other.s3.amazonaws.com")), wrong)
        request = EXAMPLES["list"]
        for method, target in (("HEAD", request.target),
                               ("GET", "/?max-keys=3&prefix=J"),
                               ("GET", "/x?max-keys=2&prefix=J"),
                               ("GET", "/?max-keys=2&prefix=J&a")):
            self.assertEqual(self.verdict(Request(
                method, target, request.headers)), wrong)
        self.authority.keys[KEY[0]].secret += "x"
        self.assertEqual(self.verdict(request), wrong)

    def test_body_key_store_and_region_are_checked(self):
        request = EXAMPLES["put"]
        self.assertEqual(self.verdict(Request(
            "PUT", request.target, request.headers, b"other")),
            "XAmzContentSHA256Mismatch")
        self.assertEqual(self.verdict(request, "gs"), "InvalidAccessKeyId")
        self.authority.region = "eu-west-1"
        self.assertEqual(self.verdict(request), "AuthorizationHeaderMalformed")

    def test_a_public_bucket_takes_anyones_key(self):
        self.assertEqual(self.verdict(EXAMPLES["get"], "public"), "sigv4")

    def test_headers_of_the_service_must_be_signed(self):
        request = EXAMPLES["get"]
        extra = [*request.headers, ("x-amz-meta-a", "b")]
        self.assertEqual(self.verdict(Request("GET", request.target, extra)),
                         "AccessDenied")

    def test_a_quarter_of_an_hour_is_the_most(self):
        request = EXAMPLES["get"]
        for now, verdict in ((TIME + 900, "sigv4"), (TIME - 900, "sigv4"),
                             (TIME + 901, "RequestTimeTooSkewed"),
                             (TIME - 901, "RequestTimeTooSkewed")):
            self.authority.now = lambda now=now: now
            self.assertEqual(self.verdict(request), verdict)

    def test_tokens_end_and_have_a_scope(self):
        token = self.authority.issue({auth.SCOPES + "devstorage.read_only"})
        request = Request("GET", "/", [("Authorization",
                                        "Bearer " + token["access_token"])])
        self.assertEqual(self.verdict(request, "gs"), "bearer")
        self.assertEqual(self.verdict(request, "s3"), "InvalidRequest")
        with self.assertRaises(Refused):
            self.authority.authorize(request, "gs", True)
        self.authority.now = lambda: TIME + 3600
        self.assertEqual(self.verdict(request, "gs"), "AuthenticationRequired")

    def test_rs256_holds_for_the_published_example_alone(self):
        account = auth.ServiceAccount("joe", int.from_bytes(
            auth.unbase64url(RSA_MODULUS), "big"))
        number = int.from_bytes(auth.unbase64url(JWS[1]), "big")
        self.assertTrue(auth.is_rs256(account, JWS[0].encode(), number))
        self.assertFalse(auth.is_rs256(account, JWS[0].encode() + b"a",
                                       number))
        self.assertFalse(auth.is_rs256(account, JWS[0].encode(), number + 1))


class ApiTest(unittest.TestCase):
    def setUp(self):
        self.store = Store()
        self.api = Api(self.store, auth.Authority(), {"open": "public"}, 2)

    def ask(self, method, target, body=b"", **headers):
        lines = [("Host", "localhost:1")]
        lines += [(n.replace("_", "-"), v) for n, v in headers.items()]
        return self.api.answer(Request(method, target, lines, body))[0]

    def code(self, *arguments, **headers):
        with self.assertRaises(Refused) as caught:
            self.ask(*arguments, **headers)
        return caught.exception.status, caught.exception.code

    def test_ranges(self):
        for text, place in ((None, None), ("bytes=0-0", (0, 1)),
                            ("bytes=2-", (2, 10)), ("bytes=-3", (7, 10)),
                            ("bytes=5-99", (5, 10)), ("lines=1-2", None)):
            self.assertEqual(parse_range(text, 10), place)
        for text in ("bytes=10-11", "bytes=3-2", "bytes=-0"):
            self.assertRaises(Refused, parse_range, text, 10)

    def test_reading_is_conditional_and_in_parts(self):
        item = self.store.put("open", "a/b c", b"0123456789")
        answer = self.ask("GET", "/open/a/b%20c", range="bytes=2-4",
                          if_match=f'"{item.etag}"')
        self.assertEqual((answer.status, answer.body), (206, b"234"))
        self.assertEqual(answer.headers["Content-Range"], "bytes 2-4/10")
        self.assertEqual(self.code("GET", "/open/a/b%20c", if_match='"x"'),
                         (412, "PreconditionFailed"))
        self.assertEqual(self.ask("HEAD", "/open/a/b%20c").length, 10)

    def test_reading_may_depend_on_the_time(self):
        self.store.put("open", "a", b"x")
        self.assertEqual(self.code(
            "GET", "/open/a",
            if_unmodified_since="Sat, 29 Oct 1994 19:43:31 GMT")[0], 412)
        modified = self.ask("GET", "/open/a").headers["Last-Modified"]
        self.assertEqual(self.ask("GET", "/open/a",
                                  if_unmodified_since=modified).status, 200)

    def test_lists_go_page_by_page(self):
        for key in ("a/1", "a/2", "b", "c/1", "d&<"):
            self.store.put("open", key, b"")
        first = self.ask("GET", "/open/?list-type=2&delimiter=%2F").body
        self.assertIn(b"<CommonPrefixes><Prefix>a/</Prefix>", first)
        self.assertIn(b"<IsTruncated>true</IsTruncated>", first)
        token = first.split(b"Token>")[1].split(b"<")[0].decode()
        second = self.ask("GET", "/open/?list-type=2&delimiter=%2F&"
                          "continuation-token=" + auth.escape(token)).body
        self.assertIn(b"<Prefix>c/</Prefix>", second)
        self.assertIn(b"<Key>d&amp;&lt;</Key>", second)
        self.assertNotIn(b"<Key>b</Key>", second)

    def test_a_bucket_may_be_named_by_the_host(self):
        self.store.put("open", "a", b"x")
        request = Request("GET", "/a", [("Host", "open.localhost:1")])
        self.assertEqual(self.api.answer(request)[0].body, b"x")

    def test_writing_needs_a_proof_even_where_reading_does_not(self):
        self.assertEqual(self.code("PUT", "/open/a", b"x"),
                         (403, "AccessDenied"))


class UploadTest(unittest.TestCase):
    def setUp(self):
        self.store = Store(min_part_bytes=4)
        self.id = self.store.start_upload("b", "k")

    def part(self, number, data):
        return self.store.put_part(self.id, "b", "k", number, data).etag

    def refusal(self, wanted):
        with self.assertRaises(Refused) as caught:
            self.store.complete(self.id, "b", "k", wanted)
        self.assertIsNone(self.store.get("b", "k"))
        return caught.exception.code

    def test_the_object_is_there_when_it_is_complete(self):
        etags = [self.part(1, b"abcd"), self.part(2, b"e")]
        self.assertIsNone(self.store.get("b", "k"))
        item = self.store.complete(self.id, "b", "k",
                                   list(enumerate(etags, 1)))
        self.assertEqual(item.data, b"abcde")
        self.assertRegex(item.etag, "^[0-9a-f]{32}-2$")
        self.assertEqual(self.store.uploads, {})

    def test_parts_are_checked(self):
        small, other = self.part(1, b"abc"), self.part(2, b"abcd")
        self.assertEqual(self.refusal([(1, small), (2, other)]),
                         "EntityTooSmall")
        self.assertEqual(self.refusal([(2, other), (1, small)]),
                         "InvalidPartOrder")
        self.assertEqual(self.refusal([(1, other)]), "InvalidPart")
        self.assertEqual(self.refusal([(3, other)]), "InvalidPart")
        self.assertEqual(self.refusal([]), "MalformedXML")

    def test_an_aborted_upload_is_gone(self):
        self.store.abort(self.id, "b", "k")
        self.assertEqual(self.refusal([(1, "")]), "NoSuchUpload")

    def test_a_completion_must_be_well_formed(self):
        self.assertRaises(Refused, wanted_parts, b"<CompleteMultipartUpload>")
        self.assertRaises(Refused, wanted_parts, b"<Other></Other>")


class PlanTest(unittest.TestCase):
    def test_rules_are_skipped_and_run_out(self):
        plan = faults.Plan({"rules": [
            {"fault": "status", "method": "GET", "skip": 1, "next": 2}]})
        request = Request("GET", "/a", [])
        struck = [plan.pick(request) is not None for _ in range(5)]
        self.assertEqual(struck, [False, True, True, False, False])
        self.assertIsNone(plan.pick(Request("PUT", "/a", [])))

    def test_mistakes_in_a_plan_are_told(self):
        for rule in ({"fault": "nonsense"}, {"fault": "reset", "after": 1}):
            self.assertRaises(ValueError, faults.Plan, {"rules": [rule]})


class HttpTest(unittest.TestCase):
    def test_requests_must_be_well_formed(self):
        for head in (b"GET / HTTP/1.0\r\nHost: a", b"GET /", b"GET /\r\nHost",
                     b"GET /a b HTTP/1.1\r\nHost: a",
                     b"GET /\xe1\x88\xb4 HTTP/1.1\r\nHost: a",
                     b"GET /%2 HTTP/1.1\r\nHost: a", b"GET / HTTP/1.1\r\nA: b",
                     b"GET / HTTP/1.1\r\nHost: a\r\nBad Name: b",
                     b"GET / HTTP/1.1\r\nHost: a\r\nHost: b"):
            with self.subTest(head), self.assertRaises(Refused):
                parse_head(head)


def run():
    """Returns the exit code."""
    suite = unittest.defaultTestLoader.loadTestsFromName(__name__)
    return 0 if unittest.TextTestRunner().run(suite).wasSuccessful() else 1
