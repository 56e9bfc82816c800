#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/tfrecord/reader.h"
#include "records/tfrecord/writer.h"
#include "tests/support/closed_port.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/object_server.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_identity.h"
#include "tests/support/throws.h"

// Whatever a server or the network does: the same bytes or a clear error, and
// never a hang. A stall in here is far longer than a test may take.
namespace infeed {
namespace cloud_faults_test {

using testing::AllOf;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

constexpr std::size_t kObjectBytes = 300'000;  // A few blocks.
constexpr char kUrl[] = "s3://shards/a";

// A rule of the plan, without its brackets.
struct Fault {
  std::string name;
  std::string rule;
};

std::string NameOf(const testing::TestParamInfo<Fault>& info) {
  return info.param.name;
}

class CloudFaultsTest : public CloudFixture {
 protected:
  CloudFaultsTest() { server_.Put("shards/a", bytes_); }

  // From the second range on.
  void Strike(const std::string& rule, const std::string& more = "") {
    server_.SetFaults("{" + rule + R"(, "ranged": true, "skip": 1)" + more +
                      "}");
  }
  std::string Message() {
    return MessageOf<IoError>([&] { (void)ReadAll(kUrl); });
  }

  const std::string bytes_ = MadeBytes(kObjectBytes);
};

// --- What passes, passes unseen. ---

class CloudPassingFaultTest : public CloudFaultsTest,
                              public testing::WithParamInterface<Fault> {};

TEST_P(CloudPassingFaultTest, GivesTheSameBytes) {
  Strike(GetParam().rule, R"(, "next": 2)");
  EXPECT_TRUE(ReadAll(kUrl) == bytes_);
  EXPECT_THAT(server_.log().requests,
              testing::Contains(Field(&LoggedRequest::fault, Not(""))));
}

INSTANTIATE_TEST_SUITE_P(
    All, CloudPassingFaultTest,
    testing::Values(
        Fault{"SlowDown", R"("fault": "status", "status": 503)"},
        Fault{"SlowDownAndWhen",
              R"("fault": "status", "status": 503, "retry_after": 1)"},
        Fault{"InternalError", R"("fault": "status", "status": 500)"},
        Fault{"BadGateway", R"("fault": "status", "status": 502)"},
        Fault{"TooManyRequests", R"("fault": "status", "status": 429)"},
        Fault{"Reset", R"("fault": "reset")"},
        Fault{"End", R"("fault": "end")"},
        Fault{"NotHttp", R"("fault": "not_http")"},
        Fault{"HugeHeaders", R"("fault": "huge_headers")"},
        Fault{"ResetInTheBody", R"("fault": "reset_body")"},
        Fault{"TruncatedBody", R"("fault": "truncate")"},
        Fault{"LongerThanTheBody", R"("fault": "length_more")"},
        Fault{"ShorterThanTheBody", R"("fault": "length_less")"},
        Fault{"ShortRange", R"("fault": "short_range")"},
        Fault{"OtherRange", R"("fault": "other_range")"},
        Fault{"WrongContentRange", R"("fault": "wrong_content_range")"},
        Fault{"NoContentRange", R"("fault": "no_content_range")"},
        Fault{"ContentRangeOfWords",
              R"("fault": "content_range_text", "text": "bytes all of it")"},
        Fault{"OtherBody", R"("fault": "garbage")"},
        Fault{"Stall", R"("fault": "stall", "seconds": 600)"},
        Fault{"StallInTheBody",
              R"("fault": "stall_body", "after": 100, "seconds": 600)"},
        Fault{"Drip", R"("fault": "drip", "bytes": 10, "seconds": 0.5)"},
        // These are allowed.
        Fault{"ShortStall", R"("fault": "stall", "seconds": 0.05)"},
        Fault{"Chunked", R"("fault": "chunked")"},
        Fault{"NoLength", R"("fault": "no_length")"},
        Fault{"HangUp", R"("fault": "hang_up")"}),
    NameOf);

// --- What stays is told. ---

class CloudLastingFaultTest : public CloudFaultsTest,
                              public testing::WithParamInterface<Fault> {};

TEST_P(CloudLastingFaultTest, IsAnErrorThatNamesTheObject) {
  settings_.retry.attempts = 2;
  SetCloudSettings(settings_);
  Strike(GetParam().rule);
  EXPECT_THAT(Message(), AllOf(HasSubstr(std::string(kUrl) + ": cannot read"),
                               Not(HasSubstr(kS3SecretKey))));
}

INSTANTIATE_TEST_SUITE_P(
    All, CloudLastingFaultTest,
    testing::Values(
        Fault{"SlowDown", R"("fault": "status", "status": 503)"},
        Fault{"Forbidden", R"("fault": "status", "status": 403)"},
        Fault{"Reset", R"("fault": "reset")"},
        Fault{"ResetInTheBody", R"("fault": "reset_body")"},
        Fault{"TruncatedBody", R"("fault": "truncate")"},
        Fault{"LongerThanTheBody", R"("fault": "length_more")"},
        Fault{"Whole", R"("fault": "whole")"},
        Fault{"OtherRange", R"("fault": "other_range")"},
        Fault{"WrongContentRange", R"("fault": "wrong_content_range")"},
        Fault{"WrongSize", R"("fault": "wrong_size")"},
        Fault{"OtherBody", R"("fault": "garbage")"},
        Fault{"NotHttp", R"("fault": "not_http")"},
        Fault{"HugeHeaders", R"("fault": "huge_headers")"},
        Fault{"EndlessHeaders", R"("fault": "endless_headers")"},
        Fault{"EndlessBody", R"("fault": "endless_body")"},
        Fault{"Stall", R"("fault": "stall", "seconds": 600)"},
        Fault{"Silence", R"("fault": "silence", "seconds": 600)"},
        Fault{"StallInTheBody",
              R"("fault": "stall_body", "after": 100, "seconds": 600)"}),
    NameOf);

TEST_F(CloudFaultsTest, ReadsOnThroughAThirdOfFailures) {
  const std::string bytes = MadeBytes(4 << 20);
  server_.Put("shards/big", bytes);
  settings_.retry.attempts = 16;
  SetCloudSettings(settings_);
  server_.SetFaults(
      R"({"fault": "status", "status": 503, "probability": 0.07},)"
      R"({"fault": "status", "status": 500, "probability": 0.07},)"
      R"({"fault": "reset", "probability": 0.07},)"
      R"({"fault": "reset_body", "probability": 0.07},)"
      R"({"fault": "truncate", "probability": 0.07})");
  EXPECT_TRUE(ReadAll("s3://shards/big") == bytes);
}

TEST_F(CloudFaultsTest, GivesUpAfterItsAttemptsAndSaysWhy) {
  server_.SetFaults(R"({"fault": "status", "status": 503})");
  EXPECT_THAT(Message(), AllOf(HasSubstr(kUrl), HasSubstr("503"),
                               HasSubstr("4 attempts")));
  EXPECT_EQ(server_.log().requests.size(), 4U);
}

TEST_F(CloudFaultsTest, AsksOnlyOnceForWhatIsForbidden) {
  Strike(R"("fault": "status", "status": 403, "code": "AccessDenied")");
  settings_.read_ahead_blocks = 0;
  SetCloudSettings(settings_);
  EXPECT_THAT(Message(), AllOf(HasSubstr("403"), HasSubstr("AccessDenied"),
                               HasSubstr("credentials")));
  EXPECT_THAT(server_.log().requests,
              testing::Contains(Field(&LoggedRequest::status, 403)).Times(1));
}

TEST_F(CloudFaultsTest, AServersWordsDoNotReachTheTerminalRaw) {
  Strike(R"("fault": "content_range_text", "text": "bytes \u001b[31mred")");
  EXPECT_THAT(Message(),
              AllOf(HasSubstr("bytes  [31mred"), Not(HasSubstr("\x1b"))));
}

// --- Another object in its place. ---

TEST_F(CloudFaultsTest, AnObjectThatIsReplacedIsAnError) {
  Strike(R"("fault": "replace", "next": 1)");
  EXPECT_THAT(Message(), AllOf(HasSubstr(kUrl), HasSubstr("replaced")));
}

TEST_F(CloudFaultsTest, AnotherETagIsAnErrorEvenWhenTheServerDoesNotMind) {
  Strike(R"("fault": "other_etag")");
  EXPECT_THAT(Message(), AllOf(HasSubstr(kUrl), HasSubstr("replaced")));
}

TEST_F(CloudFaultsTest, AnObjectThatIsDeletedIsAnError) {
  settings_.read_ahead_blocks = 0;
  SetCloudSettings(settings_);
  Strike(R"("fault": "status", "status": 404, "code": "NoSuchKey")");
  EXPECT_THAT(Message(), AllOf(HasSubstr(kUrl), HasSubstr("404")));
}

// --- Where nobody but a checksum can tell. ---

TEST_F(CloudFaultsTest, OtherBytesUnderTheRightLabelFailTheChecksum) {
  std::string file;
  for (int i = 0; i < 100; ++i) {
    AppendFrame(file, MadeBytes(2'000, static_cast<std::uint32_t>(i)));
  }
  server_.Put("shards/records", file);
  Strike(R"("fault": "wrong_bytes")");
  TfrecordReader reader("s3://shards/records");
  EXPECT_THAT(MessageOf<DataError>([&] {
                while (reader.Next()) {
                }
              }),
              HasSubstr("s3://shards/records"));
}

// --- Before there is a server. ---

TEST_F(CloudFaultsTest, AServerThatIsNotThereIsAnError) {
  const ClosedPort closed;
  const std::string url = closed.url() + "/a";
  EXPECT_THAT(MessageOf<IoError>([&] { (void)ReadAll(url); }),
              AllOf(HasSubstr(url), HasSubstr("4 attempts")));
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

}  // namespace cloud_faults_test
}  // namespace infeed
