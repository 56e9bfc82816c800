#include <csignal>
#include <memory>
#include <string>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/files/open_sink.h"
#include "tests/support/bytes.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/object_server.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_identity.h"
#include "tests/support/throws.h"

// Objects that are written appear whole or not at all, whatever happens.
namespace infeed::cloud_upload_test {

using testing::Field;

constexpr char kUrl[] = "s3://shards/out";
constexpr char kPlace[] = "shards/out";

class CloudUploadTest : public CloudFixture {
 protected:
  CloudUploadTest() : CloudFixture({"--min_part=65536"}) {
    // A stall is seen at once, although a whole part went out before it.
    settings_.http.low_speed_bytes = 100'000;
    SetCloudSettings(settings_);
  }

  static void Write(const std::string& url, const std::string& bytes) {
    constexpr std::size_t kStepBytes = 30'011;
    const std::unique_ptr<ByteSink> sink = OpenSink(url);
    for (std::size_t at = 0; at < bytes.size(); at += kStepBytes) {
      sink->Write(AsBytes(std::string_view(bytes).substr(at, kStepBytes)));
    }
    sink->Commit();
  }

  const std::string bytes_ = MadeBytes(400'000);  // A few parts.
};

TEST_F(CloudUploadTest, GoogleStorageTakesThemToo) {
  Write("gs://gs-shards/folder/a b+c", bytes_);
  EXPECT_THAT(server_.Keys("gs-shards"), ElementsAre("folder/a b+c"));
  EXPECT_TRUE(ReadAll("gs://gs-shards/folder/a b+c") == bytes_);
}

// Nobody is left to abort the upload; what it holds is not an object.
using CloudUploadDeathTest = CloudUploadTest;

TEST_F(CloudUploadDeathTest, AWriterThatIsKilledLeavesTheOldObject) {
  server_.Put(kPlace, "old");
  EXPECT_EXIT(
      {
        const std::unique_ptr<ByteSink> sink = OpenSink(kUrl);
        sink->Write(AsBytes(bytes_));
        ::raise(SIGKILL);
      },
      testing::KilledBySignal(SIGKILL), "");
  EXPECT_EQ(server_.Get(kPlace), "old");
  EXPECT_THAT(server_.Keys("shards"), ElementsAre("out"));
}

TEST_F(CloudUploadTest, FaultsThatPassLeaveTheObjectWhole) {
  for (const std::string rule :
       {R"("fault": "status", "status": 503, "method": "PUT")",
        R"("fault": "reset", "method": "PUT")",
        R"("fault": "drop_request", "after": 9999, "method": "PUT")",
        R"("fault": "stall", "seconds": 600, "method": "PUT")",
        R"("fault": "truncate", "after": 0, "method": "PUT")",
        R"("fault": "no_etag", "method": "PUT")",
        R"("fault": "status", "status": 503, "query": "uploads")",
        R"("fault": "end", "query": "^uploads")",
        R"("fault": "status", "status": 500, "method": "POST",)"
        R"( "query": "uploadId")",
        R"("fault": "reset", "method": "POST", "query": "uploadId")",
        R"("fault": "error_in_200", "method": "POST", "query": "uploadId")",
        // Nobody can abort an upload whose name did not arrive.
        R"("fault": "garbage", "query": "^uploads")"}) {
    SCOPED_TRACE(rule);
    server_.ClearLog();
    server_.SetFaults("{" + rule + R"(, "next": 2})");
    Write(kUrl, bytes_);
    EXPECT_TRUE(server_.Get(kPlace) == bytes_);
    EXPECT_TRUE(server_.OpenUploads().empty() ||
                rule.find("garbage") != std::string::npos);
    EXPECT_THAT(server_.log().requests,
                Contains(Field(&LoggedRequest::fault, Not(""))));
    server_.Put(kPlace, "old");
  }
}

// A write to a connection that is gone must not end the process by SIGPIPE.
TEST_F(CloudUploadTest, IsSentAgainWhenTheConnectionGoesOverTlsToo) {
  const TemporaryFolder folder;
  WriteTestCertificate(folder / "certificate.pem", folder / "key.pem");
  const ObjectServer store(
      {"--root=" + folder.path(),
       "--tls_certificate=" + (folder / "certificate.pem"),
       "--tls_key=" + (folder / "key.pem"),
       R"(--faults={"rules": [{"fault": "drop_request", "method": "PUT",)"
       R"( "after": 99999, "next": 3}]})"});
  Set("AWS_ENDPOINT_URL", "https://127.0.0.1:" + std::to_string(store.port()));
  settings_.http.ca_file = folder / "certificate.pem";
  settings_.part_bytes = 8 << 20;
  settings_.byte_budget = 8 << 20;
  SetCloudSettings(settings_);
  constexpr std::int64_t kBytes = 4 << 20;
  const std::string bytes = MadeBytes(kBytes);
  Write(kUrl, bytes);
  EXPECT_TRUE(ReadWholeFile(folder / kPlace, kBytes) == bytes);
}

TEST_F(CloudUploadTest, WhatNeverSucceedsLeavesNothing) {
  for (const auto& [rule, cause] :
       {// S3 may say 200 first and find out later.
        std::pair(R"({"fault": "error_in_200", "method": "POST",)"
                  R"( "query": "uploadId"})",
                  "InternalError"),
        {R"({"fault": "status", "status": 500, "method": "POST",)"
         R"( "query": "uploadId"})",
         "500"},
        {R"({"fault": "status", "status": 403, "method": "PUT", "skip": 2})",
         "403"}}) {
    server_.SetFaults(rule);
    EXPECT_THAT(MessageOf<IoError>([&] { Write(kUrl, bytes_); }),
                AllOf(HasSubstr(kUrl), HasSubstr(cause)));
    EXPECT_THAT(server_.Keys("shards"), IsEmpty());
    EXPECT_THAT(server_.OpenUploads(), IsEmpty());
  }
}

}  // namespace infeed::cloud_upload_test
