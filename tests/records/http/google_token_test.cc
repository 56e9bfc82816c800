#include "records/http/google_token.h"

#include <chrono>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/loopback_server.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_identity.h"
#include "tests/support/throws.h"

namespace infeed::google_token_test {

using std::chrono::minutes;
using std::chrono::system_clock;

const RetryPolicy kQuick = {.attempts = 2,
                            .first_delay = std::chrono::milliseconds(1)};

std::string Grant(const std::string& token, int seconds) {
  return HttpAnswer(200, R"({"access_token": ")" + token +
                             R"(", "expires_in": )" + std::to_string(seconds) +
                             R"(, "token_type": "Bearer"})");
}

// An account whose token_uri is a server of the test's own.
class GoogleTokenTest : public ::testing::Test {
 protected:
  void Serve(std::vector<LoopbackServer::Reply> replies) {
    server_ = std::make_unique<LoopbackServer>(InTurn(std::move(replies)));
    account_.client_email = "me@example.iam.gserviceaccount.com";
    account_.private_key = identity_.private_key();
    account_.token_uri = server_->url() + "/token";
    source_ = std::make_unique<GoogleTokenSource>(account_, client_, kQuick,
                                                  [this] { return now_; });
  }
  std::string Refusal() {
    return MessageOf<IoError>([&] { (void)source_->Token(); });
  }
  std::string WriteFile(const std::string& text) {
    WriteFileAtomically(folder_ / "a.json", text);
    return MessageOf<UsageError>(
        [&] { (void)ReadServiceAccount(folder_ / "a.json"); });
  }

  inline static const TestServiceAccount identity_;
  const TemporaryFolder folder_;
  system_clock::time_point now_ = system_clock::now();
  HttpClient client_;
  ServiceAccount account_;
  std::unique_ptr<LoopbackServer> server_;
  std::unique_ptr<GoogleTokenSource> source_;
};

TEST_F(GoogleTokenTest, IsFetchedOnceAndRenewedBeforeItEnds) {
  Serve({{Grant("one", 3600)}, {Grant("two", 3600)}});
  EXPECT_EQ(source_->Token(), "one");
  now_ += minutes(54);
  EXPECT_EQ(source_->Token(), "one");
  now_ += minutes(2);
  EXPECT_EQ(source_->Token(), "two");
  EXPECT_EQ(server_->requests().size(), 2);
}

TEST_F(GoogleTokenTest, AsksAsTheGrantDemands) {
  Serve({{Grant("one", 3600)}});
  (void)source_->Token();
  EXPECT_THAT(
      server_->requests().at(0),
      AllOf(StartsWith("POST /token "),
            HasSubstr("Content-Type: application/x-www-form-urlencoded\r\n"),
            HasSubstr("\r\n\r\ngrant_type=urn%3Aietf%3Aparams%3Aoauth%3A"
                      "grant-type%3Ajwt-bearer&assertion=ey")));
}

TEST_F(GoogleTokenTest, PassesOnWhyTheServerRefuses) {
  Serve({{HttpAnswer(400, R"({"error": "invalid_grant",
                              "error_description": "Invalid JWT"})")}});
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("/token: cannot get an access token"),
                               HasSubstr("400 (invalid_grant: Invalid JWT)")));
  EXPECT_EQ(server_->requests().size(), 1);
}

TEST_F(GoogleTokenTest, ShowsNoTokenThatItCannotUse) {
  Serve({{HttpAnswer(200, R"({"access_token": "secret"})")}});
  EXPECT_THAT(Refusal(),
              AllOf(HasSubstr("no access_token"), Not(HasSubstr("secret"))));
  Serve({{HttpAnswer(200, "[1]")}});
  EXPECT_THAT(Refusal(), HasSubstr("no access_token"));
}

TEST_F(GoogleTokenTest, NeedsAKeyThatSigns) {
  Serve({{Grant("one", 3600)}});
  account_.private_key = "-----BEGIN PRIVATE KEY-----\nsecret\n";
  EXPECT_THAT(
      MessageOf<UsageError>([&] { (void)SignedJwt(account_, "s", now_); }),
      AllOf(HasSubstr("private_key"), HasSubstr("me@example"),
            Not(HasSubstr("secret"))));
}

TEST_F(GoogleTokenTest, GoesToNoServerInTheOpen) {
  account_.token_uri = "http://token.example/";
  EXPECT_THROW(GoogleTokenSource(account_, client_), UsageError);
}

TEST_F(GoogleTokenTest, ReadsTheAccountsFile) {
  identity_.WriteJson(folder_ / "a.json", "https://t.example/token");
  const ServiceAccount account = ReadServiceAccount(folder_ / "a.json");
  EXPECT_EQ(account.token_uri, "https://t.example/token");
  EXPECT_EQ(account.private_key, identity_.private_key());
}

TEST_F(GoogleTokenTest, NamesTheFieldThatIsMissing) {
  EXPECT_THAT(WriteFile(R"({"type": "service_account", "client_email": "e",
                            "private_key": 7, "token_uri": "u"})"),
              HasSubstr("a.json: the service account's file has no "
                        "'private_key'"));
  EXPECT_THAT(WriteFile(R"({"type": "authorized_user"})"),
              HasSubstr("'authorized_user'"));
  EXPECT_THAT(WriteFile("{"), HasSubstr("is not the JSON file"));
  EXPECT_THAT(WriteFile("[]"), HasSubstr("is not the JSON file"));
}

}  // namespace infeed::google_token_test
