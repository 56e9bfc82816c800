#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/environment_variable.h"
#include "tests/support/matchers.h"
#include "tests/support/object_server.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_identity.h"
#include "tests/support/throws.h"

// Who we are, proven to a server that checks it, and secrets that stay ours.
namespace infeed {
namespace {

using testing::Field;

class CloudAuthTest : public CloudFixture {
 protected:
  explicit CloudAuthTest(const std::vector<std::string>& flags = {})
      : CloudFixture(flags) {
    for (const std::string bucket : {"shards", "gs-shards", "open"}) {
      server_.Put(bucket + "/a", bytes_);
    }
  }

  // Credentials are found anew.
  void Renew() { SetCloudSettings(settings_); }
  std::string MessageFor(const std::string& url) {
    Renew();
    return MessageOf<IoError>([&] { (void)ReadAll(url); });
  }
  void UseNoGsKeys() {
    Set("GS_ACCESS_KEY_ID", "");
    Set("GS_SECRET_ACCESS_KEY", "");
  }

  const std::string bytes_ = MadeBytes(200'000);
};

TEST_F(CloudAuthTest, SignsForEachStore) {
  EXPECT_TRUE(ReadAll("s3://shards/a") == bytes_);
  EXPECT_TRUE(ReadAll("gs://gs-shards/a") == bytes_);
  EXPECT_TRUE(ReadAll("s3://open/a") == bytes_);
  EXPECT_THAT(server_.log().requests,
              Each(Field(&LoggedRequest::proof, "AWS4-HMAC-SHA256")));
}

TEST_F(CloudAuthTest, ARefusalIsToldAndNoSecretShown) {
  for (const auto& [name, value, url, told, secret] :
       {std::tuple("AWS_SECRET_ACCESS_KEY", "wrong/Secret", "s3://shards/a",
                   "credentials", std::string_view("wrong/Secret")),
        {"AWS_REGION", "eu-west-1", "s3://shards/a", "region", kS3SecretKey},
        {"GS_ACCESS_KEY_ID", "GOOGUNKNOWN", "gs://gs-shards/a", "403",
         kGsSecretKey}}) {
    const EnvironmentVariable wrong(name, value);
    EXPECT_THAT(MessageFor(url),
                AllOf(HasSubstr(url), HasSubstr(told), Not(HasSubstr(secret))));
  }
}

TEST_F(CloudAuthTest, SessionsAreUsedAndNotShown) {
  Set("AWS_ACCESS_KEY_ID", std::string(kSessionKey));
  Set("AWS_SECRET_ACCESS_KEY", std::string(kSessionSecret));
  Set("AWS_SESSION_TOKEN", std::string(kSessionToken));
  Renew();
  EXPECT_TRUE(ReadAll("s3://shards/a") == bytes_);
  Set("AWS_SESSION_TOKEN", "ended/session=token");
  EXPECT_THAT(MessageFor("s3://shards/a"),
              AllOf(Not(""), Not(HasSubstr("ended/session")),
                    Not(HasSubstr(kSessionSecret))));
}

TEST_F(CloudAuthTest, BearerTokensOpenGoogleStorage) {
  UseNoGsKeys();
  Set("GOOGLE_OAUTH_ACCESS_TOKEN", std::string(kReadToken));
  Renew();
  EXPECT_TRUE(ReadAll("gs://gs-shards/a") == bytes_);
  EXPECT_THAT(server_.log().requests,
              Each(Field(&LoggedRequest::proof, "Bearer")));
  Set("GOOGLE_OAUTH_ACCESS_TOKEN", "ya29.ended-long-ago");
  EXPECT_THAT(MessageFor("gs://gs-shards/a"),
              AllOf(HasSubstr("gs://gs-shards/a"), HasSubstr("401"),
                    Not(HasSubstr("ended-long-ago"))));
}

TEST_F(CloudAuthTest, WhatIsPublicNeedsNoCredentials) {
  Set("AWS_ACCESS_KEY_ID", "");
  Set("AWS_SECRET_ACCESS_KEY", "");
  Renew();
  EXPECT_TRUE(ReadAll("s3://open/a") == bytes_);
  EXPECT_THAT(MessageFor("s3://shards/a"), HasSubstr("403"));
  EXPECT_THAT(server_.log().requests, Each(Field(&LoggedRequest::proof, "")));
}

// A service account: a key pair that stands for access tokens.
class CloudServiceAccountTest : public CloudAuthTest {
 protected:
  CloudServiceAccountTest() : CloudServiceAccountTest(TestServiceAccount()) {}
  explicit CloudServiceAccountTest(const TestServiceAccount& account)
      : CloudAuthTest({account.server_flag()}) {
    UseNoGsKeys();
    Use(account);
  }
  void Use(const TestServiceAccount& account) {
    account.WriteJson(folder_ / "account.json", server_.url() + "/token");
    Set("GOOGLE_APPLICATION_CREDENTIALS", folder_ / "account.json");
    Renew();
  }
  [[nodiscard]] int TokensAsked() const { return server_.log().Count("POST"); }

  TemporaryFolder folder_;
};

TEST_F(CloudServiceAccountTest, OneTokenServesManyRequests) {
  EXPECT_TRUE(ReadAll("gs://gs-shards/a") == bytes_);
  EXPECT_EQ(TokensAsked(), 1);
  EXPECT_GT(server_.log().Count("GET"), 1);
}

TEST_F(CloudServiceAccountTest, AnotherKeyIsToldAndNotShown) {
  const TestServiceAccount other;
  Use(other);
  const std::string message = MessageFor("gs://gs-shards/a");
  EXPECT_THAT(message, AllOf(HasSubstr(server_.url() + "/token"),
                             HasSubstr("Invalid JWT Signature"),
                             Not(HasSubstr("PRIVATE KEY"))));
  EXPECT_THAT(message, Not(HasSubstr(other.private_key().substr(40, 20))));
}

TEST_F(CloudServiceAccountTest, AServerOfTokensThatFailsIsAskedAgain) {
  server_.SetFaults(
      R"({"fault": "status", "status": 503, "path": "/token", "next": 2})");
  EXPECT_TRUE(ReadAll("gs://gs-shards/a") == bytes_);
  EXPECT_EQ(TokensAsked(), 3);
}

}  // namespace
}  // namespace infeed
