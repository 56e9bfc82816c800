#include "records/http/cloud_credentials.h"

#include <filesystem>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/cloud_environment.h"
#include "tests/support/matchers.h"
#include "tests/support/test_identity.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

// Credentials that are found in an environment of the test's own.
class CloudCredentialsTest : public ::testing::Test {
 protected:
  CloudAccess Find(UrlScheme scheme) {
    return FindCloudAccess(scheme, client_);
  }
  AwsKeys Keys(UrlScheme scheme) { return Find(scheme).keys.value(); }
  std::string Refusal(UrlScheme scheme) {
    return MessageOf<UsageError>([&] { (void)Find(scheme); });
  }
  void WriteHome(const std::string& name, const std::string& text) {
    const std::string path = environment_.home() / name;
    MakeFolder(std::filesystem::path(path).parent_path());
    WriteFileAtomically(path, text);
  }

  CloudEnvironment environment_;
  HttpClient client_;
};

TEST_F(CloudCredentialsTest, NothingIsAnonymous) {
  for (const UrlScheme scheme :
       {UrlScheme::kS3, UrlScheme::kGs, UrlScheme::kHttps}) {
    EXPECT_FALSE(Find(scheme).keys);
    EXPECT_FALSE(Find(scheme).token);
    EXPECT_THAT(AuthorizedHeaders(Find(scheme), {.url = "http://far/x"}, {}),
                IsEmpty());
  }
}

TEST_F(CloudCredentialsTest, AwsKeysComeFromTheEnvironment) {
  environment_.Set("AWS_ACCESS_KEY_ID", "A");
  environment_.Set("AWS_SECRET_ACCESS_KEY", "S\n");
  environment_.Set("AWS_SESSION_TOKEN", "T");
  const AwsKeys keys = Keys(UrlScheme::kS3);
  EXPECT_EQ(keys.access_key, "A");
  EXPECT_EQ(keys.secret_key, "S");
  EXPECT_EQ(keys.session_token, "T");
}

TEST_F(CloudCredentialsTest, HalfAPairOfKeysIsRefused) {
  environment_.Set("AWS_SECRET_ACCESS_KEY", "secret");
  EXPECT_THAT(Refusal(UrlScheme::kS3),
              AllOf(HasSubstr("AWS_SECRET_ACCESS_KEY"),
                    HasSubstr("AWS_ACCESS_KEY_ID"), Not(HasSubstr("secret"))));
  environment_.Set("GS_ACCESS_KEY_ID", "A");
  EXPECT_THAT(Refusal(UrlScheme::kGs), HasSubstr("GS_SECRET_ACCESS_KEY"));
}

TEST_F(CloudCredentialsTest, AwsKeysComeFromTheProfile) {
  WriteHome(".aws/credentials",
            "# mine\n[default]\naws_access_key_id = A\n"
            "aws_secret_access_key=S\n\n[ work ]\r\n"
            "aws_access_key_id = B\r\naws_secret_access_key = T=\r\n"
            "aws_session_token = U\r\n");
  WriteHome(".aws/config",
            "[default]\nregion = eu-west-1\ns3 =\n  max = 10\n"
            "[profile work]\nregion = eu-west-2\n");
  EXPECT_EQ(Keys(UrlScheme::kS3).access_key, "A");
  EXPECT_EQ(Find(UrlScheme::kS3).scope.region, "eu-west-1");
  environment_.Set("AWS_PROFILE", "work");
  EXPECT_EQ(Keys(UrlScheme::kS3).secret_key, "T=");
  EXPECT_EQ(Keys(UrlScheme::kS3).session_token, "U");
  EXPECT_EQ(Find(UrlScheme::kS3).scope.region, "eu-west-2");
}

TEST_F(CloudCredentialsTest, ABadProfileIsRefusedWithoutItsText) {
  WriteHome(".aws/credentials", "[default]\naws_access_key_id = A\n");
  environment_.Set("AWS_PROFILE", "work");
  EXPECT_THAT(Refusal(UrlScheme::kS3),
              AllOf(HasSubstr("/.aws/credentials"), HasSubstr("'work'")));
  WriteHome(".aws/credentials", "[default]\nsecret\n");
  EXPECT_THAT(Refusal(UrlScheme::kS3), AllOf(HasSubstr("credentials: line 2"),
                                             Not(HasSubstr("secret"))));
  WriteHome(".aws/credentials", "[default\n");
  EXPECT_THAT(Refusal(UrlScheme::kS3), HasSubstr("line 1"));
}

TEST_F(CloudCredentialsTest, AwsIsWhereItsRegionIs) {
  EXPECT_EQ(Find(UrlScheme::kS3).endpoint,
            "https://s3.us-east-1.amazonaws.com");
  environment_.Set("AWS_DEFAULT_REGION", "cn-north-1");
  EXPECT_EQ(Find(UrlScheme::kS3).endpoint,
            "https://s3.cn-north-1.amazonaws.com.cn");
  environment_.Set("AWS_REGION", "evil.com/");
  EXPECT_THAT(Refusal(UrlScheme::kS3), HasSubstr("region"));
}

TEST_F(CloudCredentialsTest, AnEndpointIsAskedByPath) {
  environment_.Set("AWS_ENDPOINT_URL", "https://general.example");
  environment_.Set("AWS_ENDPOINT_URL_S3", "https://minio.example:9000/");
  const CloudAccess access = Find(UrlScheme::kS3);
  EXPECT_EQ(RequestUrl(access, ParseUrl("s3://b/a b/c")),
            "https://minio.example:9000/b/a%20b/c");
  EXPECT_EQ(RequestUrl(access, ParseUrl("s3://b/"), "list-type=2"),
            "https://minio.example:9000/b?list-type=2");
  for (const char* endpoint : {"https://h/path", "s3://h", "https://h?x"}) {
    environment_.Set("AWS_ENDPOINT_URL_S3", endpoint);
    EXPECT_NE(Refusal(UrlScheme::kS3), "") << endpoint;
  }
}

TEST_F(CloudCredentialsTest, ABucketIsAHostUnlessItHasDots) {
  const CloudAccess access = Find(UrlScheme::kS3);
  EXPECT_EQ(RequestUrl(access, ParseUrl("s3://b/k")),
            "https://b.s3.us-east-1.amazonaws.com/k");
  EXPECT_EQ(RequestUrl(access, ParseUrl("s3://b/"), "q=1"),
            "https://b.s3.us-east-1.amazonaws.com/?q=1");
  EXPECT_EQ(RequestUrl(access, ParseUrl("s3://b.c/k")),
            "https://s3.us-east-1.amazonaws.com/b.c/k");
}

TEST_F(CloudCredentialsTest, GoogleTakesHmacKeys) {
  environment_.Set("GS_ACCESS_KEY_ID", "A");
  environment_.Set("GS_SECRET_ACCESS_KEY", "S");
  const CloudAccess access = Find(UrlScheme::kGs);
  EXPECT_EQ(access.keys.value().access_key, "A");
  EXPECT_EQ(access.scope.region, "auto");
  EXPECT_EQ(RequestUrl(access, ParseUrl("gs://b/k")),
            "https://storage.googleapis.com/b/k");
}

TEST_F(CloudCredentialsTest, GoogleTakesATokenAndAnEmulator) {
  environment_.Set("CLOUDSDK_AUTH_ACCESS_TOKEN", "other");
  environment_.Set("GOOGLE_OAUTH_ACCESS_TOKEN", "ya29.x");
  environment_.Set("STORAGE_EMULATOR_HOST", "localhost:4443");
  const CloudAccess access = Find(UrlScheme::kGs);
  EXPECT_EQ(access.token(), "ya29.x");
  EXPECT_EQ(access.endpoint, "http://localhost:4443");
  environment_.Set("GS_ENDPOINT_URL", "https://mine.example");
  EXPECT_EQ(Find(UrlScheme::kGs).endpoint, "https://mine.example");
}

TEST_F(CloudCredentialsTest, GoogleTakesAServiceAccount) {
  const std::string path = environment_.home() / "account.json";
  TestServiceAccount().WriteJson(path, "https://token.example/token");
  environment_.Set("GOOGLE_APPLICATION_CREDENTIALS", path);
  EXPECT_TRUE(Find(UrlScheme::kGs).token);
}

TEST_F(CloudCredentialsTest, ABearerTokenIsOneHeader) {
  environment_.Set("INFEED_HTTP_BEARER_TOKEN", "token");
  const CloudAccess access = Find(UrlScheme::kHttps);
  EXPECT_THAT(AuthorizedHeaders(access, {.url = "https://h/x"}, {}),
              ElementsAre(Pair("Authorization", "Bearer token")));
  EXPECT_EQ(RequestUrl(access, ParseUrl("https://h/x?y")), "https://h/x?y");
}

TEST_F(CloudCredentialsTest, WhatGoogleChangesOnTheWayIsNotSigned) {
  CloudAccess access;
  access.keys = {.access_key = "A", .secret_key = "S"};
  const HttpHeaders headers = AuthorizedHeaders(
      access,
      {.url = "https://h/x",
       .headers = {{"Accept-Encoding", "gzip"}, {"Range", "bytes=0-1"}}},
      {});
  EXPECT_THAT(headers, Contains(Pair("Accept-Encoding", "gzip")));
  EXPECT_THAT(headers.back().second, HasSubstr("SignedHeaders=host;range;x-"));
}

TEST_F(CloudCredentialsTest, SecretsAreNotSentInTheOpen) {
  const CloudAccess access = {.token = [] { return "secret"; }};
  const auto send = [&](const std::string& url) {
    return MessageOf<UsageError>(
        [&] { (void)AuthorizedHeaders(access, {.url = url}, {}); });
  };
  EXPECT_THAT(send("http://far.example/x"),
              AllOf(StartsWith("http://far.example/x: "),
                    HasSubstr("INFEED_ALLOW_HTTP_CREDENTIALS=1"),
                    Not(HasSubstr("secret"))));
  EXPECT_EQ(send("http://127.0.0.1:80/x"), "");
  EXPECT_EQ(send("https://far.example/x"), "");
  environment_.Set("INFEED_ALLOW_HTTP_CREDENTIALS", "1");
  EXPECT_EQ(send("http://far.example/x"), "");
}

}  // namespace
}  // namespace infeed
