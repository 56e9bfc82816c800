#include <string>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/object_server.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_identity.h"
#include "tests/support/throws.h"

// Whatever a server or the network does: the same bytes or a clear error, and
// never a hang. A stall in here is far longer than a test may take.
namespace infeed::cloud_faults_test {

using testing::Field;

constexpr std::size_t kObjectBytes = 300'000;  // A few blocks.
constexpr char kUrl[] = "s3://shards/a";

class CloudFaultsTest : public CloudFixture {
 protected:
  CloudFaultsTest() { server_.Put("shards/a", bytes_); }

  // From the second range on.
  void Strike(const std::string& rule, const std::string& more = "") {
    server_.SetFaults("{" + rule + R"(, "ranged": true, "skip": 1)" + more +
                      "}");
  }
  // The error of reading the object; "" if there is none.
  std::string Message() {
    return MessageOf<IoError>([&] { EXPECT_TRUE(ReadAll(kUrl) == bytes_); });
  }

  const std::string bytes_ = MadeBytes(kObjectBytes);
};

// Rules of a plan, without their brackets.
TEST_F(CloudFaultsTest, WhatPassesGivesTheSameBytes) {
  for (const std::string rule :
       {R"("fault": "status", "status": 503)",
        R"("fault": "status", "status": 503, "retry_after": 1)",
        R"("fault": "reset")", R"("fault": "end")", R"("fault": "not_http")",
        R"("fault": "huge_headers")", R"("fault": "reset_body")",
        R"("fault": "truncate")", R"("fault": "length_more")",
        R"("fault": "length_less")", R"("fault": "short_range")",
        R"("fault": "other_range")", R"("fault": "wrong_content_range")",
        R"("fault": "no_content_range")",
        R"("fault": "content_range_text", "text": "bytes all of it")",
        R"("fault": "garbage")", R"("fault": "stall", "seconds": 600)",
        R"("fault": "stall_body", "after": 100, "seconds": 600)",
        R"("fault": "drip", "bytes": 10, "seconds": 0.5)",
        // These are allowed.
        R"("fault": "stall", "seconds": 0.05)", R"("fault": "chunked")",
        R"("fault": "no_length")", R"("fault": "hang_up")"}) {
    SCOPED_TRACE(rule);
    server_.ClearLog();
    Strike(rule, R"(, "next": 2)");
    EXPECT_EQ(Message(), "");
    EXPECT_THAT(server_.log().requests,
                testing::Contains(Field(&LoggedRequest::fault, Not(""))));
  }
}

TEST_F(CloudFaultsTest, WhatLastsIsAnErrorThatNamesTheObject) {
  settings_.retry.attempts = 2;
  SetCloudSettings(settings_);
  for (const std::string rule :
       {R"("fault": "status", "status": 503)",
        R"("fault": "status", "status": 403)", R"("fault": "reset")",
        R"("fault": "reset_body")", R"("fault": "truncate")",
        R"("fault": "length_more")", R"("fault": "whole")",
        R"("fault": "other_range")", R"("fault": "wrong_content_range")",
        R"("fault": "wrong_size")", R"("fault": "garbage")",
        R"("fault": "not_http")", R"("fault": "huge_headers")",
        R"("fault": "endless_headers")", R"("fault": "endless_body")",
        R"("fault": "stall", "seconds": 600)",
        R"("fault": "silence", "seconds": 600)",
        R"("fault": "stall_body", "after": 100, "seconds": 600)"}) {
    Strike(rule);
    EXPECT_THAT(Message(), AllOf(HasSubstr(std::string(kUrl) + ": cannot read"),
                                 Not(HasSubstr(kS3SecretKey))))
        << rule;
  }
}

TEST_F(CloudFaultsTest, WhatIsToldNamesTheCause) {
  settings_.read_ahead_blocks = 0;
  SetCloudSettings(settings_);
  for (const auto& [rule, cause] :
       {std::pair(R"("fault": "replace", "next": 1)", "replaced"),
        {R"("fault": "other_etag")", "replaced"},
        {R"("fault": "status", "status": 404, "code": "NoSuchKey")", "404"},
        // Control characters do not reach the terminal.
        {R"("fault": "content_range_text", "text": "bytes \u001b[31mred")",
         "bytes  [31mred"}}) {
    Strike(rule);
    EXPECT_THAT(Message(), AllOf(HasSubstr(kUrl), HasSubstr(cause),
                                 Not(HasSubstr("\x1b"))));
  }
}

TEST_F(CloudFaultsTest, AHostWithoutAnAddressIsAnError) {
  settings_.retry.attempts = 1;
  SetCloudSettings(settings_);
  const std::string url = "http://nowhere.invalid/a";
  EXPECT_THAT(MessageOf<IoError>([&] { (void)ReadAll(url); }),
              AllOf(HasSubstr(url), HasSubstr("check the network")));
}

TEST_F(CloudFaultsTest, RedirectsDoNotTakeCredentialsElsewhere) {
  const ObjectServer other;
  other.Put("shards/a", bytes_);
  server_.SetFaults(R"({"fault": "redirect", "location": ")" + other.url() +
                    R"(/shards/a"})");
  EXPECT_THAT(Message(), HasSubstr("307"));
  EXPECT_EQ(other.log().requests.size(), 0U);
}

TEST_F(CloudFaultsTest, CertificatesAreVerified) {
  const TemporaryFolder folder;
  WriteTestCertificate(folder / "certificate.pem", folder / "key.pem");
  MakeFolder(folder / "plain");
  WriteFileAtomically(folder / "plain/a", bytes_);
  const ObjectServer server(
      {"--root=" + folder.path(),
       "--tls_certificate=" + (folder / "certificate.pem"),
       "--tls_key=" + (folder / "key.pem")});
  const std::string url =
      "https://127.0.0.1:" + std::to_string(server.port()) + "/plain/a";
  EXPECT_THAT(
      MessageOf<IoError>([&] { (void)ReadAll(url); }),
      AllOf(HasSubstr(url), HasSubstr("certificate"), HasSubstr("1 attempt")));
  settings_.http.ca_file = folder / "certificate.pem";
  SetCloudSettings(settings_);
  EXPECT_TRUE(ReadAll(url) == bytes_);

  settings_.http.ca_file = "";
  Set("SSL_CERT_FILE", folder / "certificate.pem");
  SetCloudSettings(settings_);
  EXPECT_TRUE(ReadAll(url) == bytes_);
}

}  // namespace infeed::cloud_faults_test
