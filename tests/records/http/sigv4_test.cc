#include "records/http/sigv4.h"

#include <chrono>
#include <ostream>
#include <string>

#include "tests/support/bytes.h"
#include "tests/support/matchers.h"

// The published vectors: AWS's Signature Version 4 test suite, and the
// examples in S3's documentation of the Authorization header.
namespace infeed {
namespace {

SigV4Time At(std::chrono::year_month_day day, std::chrono::minutes time) {
  return std::chrono::sys_days(day) + time;
}

constexpr auto kEmptyHash =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

struct Vector {
  std::string name;
  SigV4Request request;
  std::string signed_names;
  std::string signature;
};

std::ostream& operator<<(std::ostream& out, const Vector& vector) {
  return out << vector.name;
}

// A request of the suite: host and date are part of each.
Vector Suite(std::string name, std::string method, std::string path,
             std::string query, HttpHeaders headers, std::string names,
             std::string signature, std::string_view body = "") {
  headers.emplace_back("Host", "example.amazonaws.com");
  headers.emplace_back("X-Amz-Date", "20150830T123600Z");
  return {.name = std::move(name),
          .request = {.method = std::move(method),
                      .path = std::move(path),
                      .query = std::move(query),
                      .headers = std::move(headers),
                      .payload_hash = Sha256Hex(AsBytes(body))},
          .signed_names = std::move(names),
          .signature = std::move(signature)};
}

class SigV4SuiteTest : public ::testing::TestWithParam<Vector> {};

TEST_P(SigV4SuiteTest, SignsAsPublished) {
  const AwsKeys keys = {
      .access_key = "AKIDEXAMPLE",
      .secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
  const SigV4Scope scope = {.region = "us-east-1", .service = "service"};
  const SigV4Time time =
      At(std::chrono::year(2015) / 8 / 30, std::chrono::minutes(12 * 60 + 36));
  EXPECT_EQ(SigV4Authorization(GetParam().request, keys, scope, time),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/"
            "service/aws4_request, SignedHeaders=" +
                GetParam().signed_names +
                ", Signature=" + GetParam().signature);
}

INSTANTIATE_TEST_SUITE_P(
    Vectors, SigV4SuiteTest,
    ::testing::Values(
        Suite("get-vanilla", "GET", "/", "", {}, "host;x-amz-date",
              "5fa00fa31553b73ebf1942676e86291e"
              "8372ff2a2260956d9b8aae1d763fbf31"),
        Suite("post-vanilla", "POST", "/", "", {}, "host;x-amz-date",
              "5da7c1a2acd57cee7505fc6676e4e544"
              "621c30862966e37dddb68e92efbe5d6b"),
        Suite("get-unreserved", "GET",
              "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
              "abcdefghijklmnopqrstuvwxyz",
              "", {}, "host;x-amz-date",
              "07ef7494c76fa4850883e2b006601f94"
              "0f8a34d404d0cfa977f52a65bbf5f24f"),
        Suite("get-vanilla-query-order-key-case", "GET", "/",
              "Param2=value2&Param1=value1", {}, "host;x-amz-date",
              "b97d918cfa904a5beff61c982a1b6f45"
              "8b799221646efd99d3219ec94cdf2500"),
        Suite("get-vanilla-query-order-value", "GET", "/",
              "Param1=value2&Param1=value1", {}, "host;x-amz-date",
              "5772eed61e12b33fae39ee5e7012498b"
              "51d56abc0abb7c60486157bd471c4694"),
        Suite("get-vanilla-utf8-query", "GET", "/", "\xE1\x88\xB4=bar", {},
              "host;x-amz-date",
              "2cdec8eed098649ff3a119c94853b13c"
              "643bcf08f8b0a1d91e12c9027818dd04"),
        Suite("get-header-key-duplicate", "GET", "/", "",
              {{"My-Header1", "value2"},
               {"My-Header1", "value2"},
               {"My-Header1", "value1"}},
              "host;my-header1;x-amz-date",
              "c9d5ea9f3f72853aea855b47ea873832"
              "890dbdd183b4468f858259531a5138ea"),
        Suite("get-header-value-order", "GET", "/", "",
              {{"My-Header1", "value4"},
               {"My-Header1", "value1"},
               {"My-Header1", "value3"},
               {"My-Header1", "value2"}},
              "host;my-header1;x-amz-date",
              "08c7e5a9acfcfeb3ab6b2185e75ce8b1"
              "deb5e634ec47601a50643f830c755c01"),
        Suite("get-header-value-trim", "GET", "/", "",
              {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}},
              "host;my-header1;my-header2;x-amz-date",
              "acc3ed3afb60bb290fc8d2dd0098b991"
              "1fcaa05412b367055dee359757a9c736"),
        Suite("post-x-www-form-urlencoded", "POST", "/", "",
              {{"Content-Type", "application/x-www-form-urlencoded"}},
              "content-type;host;x-amz-date",
              "ff11897932ad3f4e8b18135d722051e5"
              "ac45fc38421b1da7b9d196a0fe09473a",
              "Param1=value1")),
    [](const auto& parameter) {
      std::string name = parameter.param.name;
      std::erase(name, '-');
      return name;
    });

// The requests that S3's documentation signs, all at the start of 24 May 2013.
TEST(SigV4Test, SignsTheExamplesOfS3) {
  const AwsKeys keys = {
      .access_key = "AKIAIOSFODNN7EXAMPLE",
      .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
  struct Case {
    SigV4Request request;
    std::string end;
  };
  for (Case example :
       {Case{{"GET", "/test.txt", "", {{"Range", "bytes=0-9"}}, kEmptyHash},
             "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/"
             "us-east-1/s3/aws4_request, SignedHeaders=host;range;"
             "x-amz-content-sha256;x-amz-date, Signature="
             "f0e8bdb87c964420e857bd35b5d6ed31"
             "0bd44f0170aba48dd91039c6036bdb41"},
        Case{{"PUT",
              "/test%24file.text",
              "",
              {{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
               {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
              Sha256Hex(AsBytes("Welcome to Amazon S3."))},
             "98ad721746da40c64f1a55b78f14c238"
             "d841ea1380cd77a1b5971af0ece108bd"},
        Case{{"GET", "/", "lifecycle", {}, kEmptyHash},
             "fea454ca298b7da1c68078a5d1bdbfbb"
             "e0d65c699e0f91ac7a200a0136783543"},
        Case{{"GET", "/", "max-keys=2&prefix=J", {}, kEmptyHash},
             "34b48302e7b5fa45bde8084f4b7868a8"
             "6f0a534bc59db6670ed5711ef69dc6f7"}}) {
    example.request.headers.emplace_back("Host",
                                         "examplebucket.s3.amazonaws.com");
    EXPECT_THAT(
        SignedHeaders(
            example.request, keys, {.region = "us-east-1", .service = "s3"},
            At(std::chrono::year(2013) / 5 / 24, std::chrono::minutes(0)))
            .back()
            .second,
        EndsWith(example.end));
  }
}

std::string CanonicalQueryOf(std::string query) {
  const std::string text = CanonicalSigV4Request({.method = "GET",
                                                  .path = "/",
                                                  .query = std::move(query),
                                                  .headers = {},
                                                  .payload_hash = "h"});
  EXPECT_THAT(text, StartsWith("GET\n/\n"));
  return text.substr(6, text.find('\n', 6) - 6);
}

TEST(CanonicalQueryTest, EncodesWhatMustBe) {
  EXPECT_EQ(CanonicalQueryOf("q=a%20b"), "q=a%20b");
  EXPECT_EQ(CanonicalQueryOf("q=a+b"), "q=a%2Bb");
  EXPECT_EQ(CanonicalQueryOf("q=a*b"), "q=a%2Ab");
  EXPECT_EQ(CanonicalQueryOf("q=100%25"), "q=100%25");
  EXPECT_EQ(CanonicalQueryOf("q=1=2"), "q=1%3D2");
  EXPECT_EQ(CanonicalQueryOf("q=a/b"), "q=a%2Fb");
}

TEST(CanonicalQueryTest, SortsWhatIsEncoded) {
  EXPECT_EQ(CanonicalQueryOf("b&a=1&"), "a=1&b=");
  EXPECT_EQ(CanonicalQueryOf("x=a.b&x=a%2Fb"), "x=a%2Fb&x=a.b");
  EXPECT_EQ(CanonicalQueryOf("a=1&a=1"), "a=1&a=1");
  EXPECT_EQ(CanonicalQueryOf("a-b=1&a=2"), "a=2&a-b=1");
}

TEST(SigV4Test, SendsTheTokenOfATemporaryKey) {
  const auto sign = [](const std::string& token) {
    return SignedHeaders(
        {.method = "GET",
         .path = "/",
         .query = "",
         .headers = {{"host", "h"}},
         .payload_hash = kEmptyHash},
        {.access_key = "A", .secret_key = "S", .session_token = token},
        {.region = "r", .service = "s3"}, SigV4Time());
  };
  EXPECT_THAT(sign("token"), Contains(Pair("x-amz-security-token", "token")));
  EXPECT_THAT(sign("token").back().second,
              ::testing::HasSubstr(";x-amz-security-token,"));
  EXPECT_THAT(sign(""), Not(Contains(Pair("x-amz-security-token", ""))));
}

TEST(SigV4Test, FormatsTime) {
  EXPECT_EQ(FormatSigV4Time(SigV4Time()), "19700101T000000Z");
  EXPECT_EQ(FormatSigV4Time(At(std::chrono::year(2024) / 2 / 29,
                               std::chrono::minutes(23 * 60 + 59)) +
                            std::chrono::milliseconds(59'999)),
            "20240229T235959Z");
}

}  // namespace
}  // namespace infeed
