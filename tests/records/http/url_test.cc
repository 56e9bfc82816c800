#include "records/http/url.h"

#include <string>

#include "base/error.h"
#include "base/shown_text.h"
#include "records/http/secrets_guard.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

TEST(UrlTest, TakesABucketAndAKeyByteForByte) {
  const Url url = ParseUrl("s3://My.bucket_1/a b/%41?x=#y");
  EXPECT_EQ(url.scheme, UrlScheme::kS3);
  EXPECT_EQ(url.host, "My.bucket_1");
  EXPECT_EQ(url.path, "a b/%41?x=#y");
  EXPECT_EQ(url.query, "");
  EXPECT_EQ(ParseUrl("gs://bucket").path, "");
  EXPECT_EQ(ParseUrl("gs://bucket/").path, "");
}

TEST(UrlTest, TakesAWebServersUrlApart) {
  const Url url = ParseUrl("https://Host.example:8443/a%20b/c?sig=1&x");
  EXPECT_EQ(url.host, "host.example:8443");
  EXPECT_EQ(url.path, "/a%20b/c");
  EXPECT_EQ(url.query, "sig=1&x");
  EXPECT_EQ(ParseUrl("http://h?q").path, "/");
  EXPECT_EQ(ParseUrl("http://[::1]:80/x").host, "[::1]:80");
}

TEST(UrlTest, FormatsWhatItParsed) {
  for (const char* url :
       {"s3://b/", "s3://b/k/ l", "gs://b/k", "http://h:1/", "https://h/p?q"}) {
    EXPECT_EQ(FormatUrl(ParseUrl(url)), url);
  }
}

TEST(UrlTest, RefusesABadOneByName) {
  for (const std::string url :
       {"", "ftp://h/x", "s3:///key", "s3://b?c/k", "gs://b c/k", "http:///x",
        "http://h:0/", "http://h:65536/", "http://h:8x/", "http://[::1/x",
        "http://[::1]x/", "http://h/a b", "http://h/%4", "http://h/%zz",
        "http://h/a#b", "http://h/\xC3\xA4"}) {
    EXPECT_THAT([&] { (void)ParseUrl(url); },
                ThrowsMessage<UsageError>(HasSubstr("'")))
        << url;
  }
}

TEST(UrlTest, RefusesControlCharactersAndShowsNone) {
  EXPECT_THAT([] { (void)ParseUrl("s3://b/a\nb"); },
              ThrowsMessage<UsageError>(
                  AllOf(HasSubstr("s3://b/a\\x0ab"), Not(HasSubstr("\n")))));
}

TEST(UrlTest, NeverShowsAPasswordOrASignature) {
  EXPECT_THAT([] { (void)ParseUrl("https://user:secret@h/x?sig=secret"); },
              ThrowsMessage<UsageError>(
                  AllOf(HasSubstr("user name"), Not(HasSubstr("secret")))));
  EXPECT_EQ(UrlForMessages("https://u:p@h/x?sig=1"), "https://h/x");
  EXPECT_EQ(UrlForMessages("https://h/a@b"), "https://h/a@b");
  EXPECT_EQ(UrlForMessages("s3://b/k?x"), "s3://b/k?x");
}

TEST(PercentEncodingTest, LeavesTheUnreservedAlone) {
  EXPECT_EQ(PercentEncode("AZaz09-._~", Slashes::kEncode), "AZaz09-._~");
  EXPECT_EQ(PercentEncode("a b/=%*+\xC3", Slashes::kEncode),
            "a%20b%2F%3D%25%2A%2B%C3");
  EXPECT_EQ(PercentEncode("a/b", Slashes::kKeep), "a/b");
}

TEST(PercentEncodingTest, IsUndone) {
  std::string all;
  for (int i = 0; i < 256; ++i) {
    all.push_back(static_cast<char>(i));
  }
  EXPECT_EQ(PercentDecode(PercentEncode(all, Slashes::kEncode)), all);
}

TEST(LoopbackTest, IsThisMachineAlone) {
  for (const char* host : {"localhost", "localhost:80", "127.0.0.1:9000",
                           "127.8.9.1", "[::1]", "[::1]:80"}) {
    EXPECT_TRUE(IsLoopback(host)) << host;
  }
  for (const char* host : {"localhost.evil.com", "127.evil.com", "128.0.0.1",
                           "[::2]", "10.0.0.1", ""}) {
    EXPECT_FALSE(IsLoopback(host)) << host;
  }
}

TEST(IsSecretNameTest, KnowsTheUsualWords) {
  for (const char* const name :
       {"INFEED_HTTP_BEARER_TOKEN", "AWS_SECRET_ACCESS_KEY", "X_PASSWORD"}) {
    EXPECT_TRUE(IsSecretName(name)) << name;
  }
  for (const char* const name : {"OMP_NUM_THREADS", "INFEED_DATA_DIR"}) {
    EXPECT_FALSE(IsSecretName(name)) << name;
  }
}

}  // namespace
}  // namespace infeed
