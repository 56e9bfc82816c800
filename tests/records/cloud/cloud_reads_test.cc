#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "records/cloud/cloud_runtime.h"
#include "tests/support/cloud_fixture.h"
#include "tests/support/object_server.h"

// Many ranges at a time, within bounds.
namespace infeed {
namespace {

// Answers come late, so that requests of the same time are seen as such.
constexpr char kLate[] =
    R"({"fault": "stall", "seconds": 0.05, "ranged": true})";

class CloudReadsTest : public CloudFixture {
 protected:
  CloudReadsTest() { server_.Put("shards/a", bytes_); }

  const std::string bytes_ = MadeBytes(2 << 20);
};

// Threads sign and fetch until the very end.
using CloudReadsDeathTest = CloudReadsTest;

TEST_F(CloudReadsDeathTest, AProcessMayEndWhileRangesAreFetched) {
  settings_.connections = 16;
  settings_.retry.attempts = 100'000;
  settings_.retry.max_delay = std::chrono::milliseconds(1);
  settings_.read_ahead_blocks = 16;
  SetCloudSettings(settings_);
  server_.SetFaults(R"({"fault": "status", "status": 503, "ranged": true})");
  const auto end_at_once = [] {
    const std::unique_ptr<ByteSource> source = OpenSource("s3://shards/a");
    source->WillRead(0, source->size());
    std::exit(0);
  };
  for (int i = 0; i < 5; ++i) {
    EXPECT_EXIT(end_at_once(), testing::ExitedWithCode(0), "");
  }
}

TEST_F(CloudReadsTest, RangesAreFetchedAheadSideBySide) {
  server_.SetFaults(kLate);
  EXPECT_TRUE(ReadAll("s3://shards/a") == bytes_);
  EXPECT_GT(server_.log().peak_requests, 1);
}

TEST_F(CloudReadsTest, NoMoreThanTheBudgetIsUnderWay) {
  constexpr int kReaders = 4;
  settings_.connections = 16;
  settings_.read_ahead_blocks = 8;
  settings_.byte_budget = 3 * settings_.block_bytes;
  SetCloudSettings(settings_);
  server_.SetFaults(kLate);
  std::vector<std::jthread> readers;
  std::vector<std::string> results(kReaders);
  for (std::string& result : results) {
    readers.emplace_back([&result] { result = ReadAll("s3://shards/a"); });
  }
  readers.clear();
  EXPECT_THAT(results, testing::Each(bytes_));
  // Blocks of the budget, and what each reader asks for itself.
  EXPECT_LE(server_.log().peak_requests, 3 + kReaders);
  const std::int64_t peak = SharedCloudRuntime()->budget->peak();
  EXPECT_GT(peak, 0);
  EXPECT_LE(peak, settings_.byte_budget);
}

TEST_F(CloudReadsTest, EmptyObjectsHaveNoBytes) {
  server_.Put("shards/empty", "");
  server_.Put("plain/empty", "");
  EXPECT_EQ(ReadAll("s3://shards/empty"), "");
  EXPECT_EQ(ReadAll(server_.url() + "/plain/empty"), "");
}

TEST_F(CloudReadsTest, WebServersAreReadToo) {
  Set("INFEED_HTTP_BEARER_TOKEN", "of-a-mirror");
  SetCloudSettings(settings_);
  server_.Put("plain/folder/a%20b", bytes_);
  server_.SetFaults(R"({"fault": "no_etag"})");
  EXPECT_TRUE(ReadAll(server_.url() + "/plain/folder/a%20b") == bytes_);
  EXPECT_THAT(server_.log().requests,
              testing::Each(testing::Field(&LoggedRequest::proof, "Bearer")));
}

}  // namespace
}  // namespace infeed
