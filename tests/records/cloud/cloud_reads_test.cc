#include <algorithm>
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

using testing::Contains;
using testing::Field;

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

TEST_F(CloudReadsTest, ConnectionsAreKept) {
  EXPECT_TRUE(ReadAll("s3://shards/a") == bytes_);
  int most = 0;
  for (const LoggedRequest& request : server_.log().requests) {
    most = std::max(most, request.connection);
  }
  // The control paths of this test use some too.
  EXPECT_LT(most, 15);
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

TEST_F(CloudReadsTest, SeveralThreadsMayReadOneSource) {
  const std::unique_ptr<ByteSource> source = OpenSource("s3://shards/a");
  std::vector<std::jthread> readers;
  std::vector<std::string> results(4, std::string(500'000, '\0'));
  for (std::size_t i = 0; i < results.size(); ++i) {
    readers.emplace_back([&, i] {
      const std::size_t got =
          source->ReadAt(static_cast<std::int64_t>(i * 500'000),
                         std::as_writable_bytes(std::span(results[i])));
      EXPECT_EQ(got, 500'000U);
    });
  }
  readers.clear();
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_TRUE(results[i] == bytes_.substr(i * 500'000, 500'000));
  }
}

TEST_F(CloudReadsTest, OnlyWhatIsAskedForIsFetched) {
  const std::unique_ptr<ByteSource> source = OpenSource("s3://shards/a");
  std::string piece(10, '\0');
  EXPECT_EQ(source->ReadAt(1'000'000, std::as_writable_bytes(std::span(piece))),
            10U);
  EXPECT_EQ(piece, bytes_.substr(1'000'000, 10));
  EXPECT_THAT(server_.log().requests,
              Contains(Field(&LoggedRequest::range, "bytes=1000000-1000009")));
}

TEST_F(CloudReadsTest, TheEndIsTheEnd) {
  const std::unique_ptr<ByteSource> source = OpenSource("s3://shards/a");
  const auto size = static_cast<std::int64_t>(bytes_.size());
  EXPECT_EQ(source->size(), size);
  std::string piece(10, '\0');
  EXPECT_EQ(source->ReadAt(size - 4, std::as_writable_bytes(std::span(piece))),
            4U);
  EXPECT_EQ(source->ReadAt(size, std::as_writable_bytes(std::span(piece))), 0U);
  EXPECT_EQ(source->ReadAt(size + 9, std::as_writable_bytes(std::span(piece))),
            0U);
}

TEST_F(CloudReadsTest, AVersionIsThatOfTheBytes) {
  server_.Put("shards/same", bytes_);
  server_.Put("shards/other", bytes_ + "x");
  EXPECT_EQ(OpenSource("s3://shards/a")->version(),
            OpenSource("s3://shards/same")->version());
  EXPECT_NE(OpenSource("s3://shards/a")->version(),
            OpenSource("s3://shards/other")->version());
}

TEST_F(CloudReadsTest, EmptyObjectsHaveNoBytes) {
  server_.Put("shards/empty", "");
  server_.Put("plain/empty", "");
  EXPECT_EQ(ReadAll("s3://shards/empty"), "");
  EXPECT_EQ(ReadAll(server_.url() + "/plain/empty"), "");
}

TEST_F(CloudReadsTest, WebServersAreReadToo) {
  server_.Put("plain/folder/a%20b", bytes_);
  EXPECT_TRUE(ReadAll(server_.url() + "/plain/folder/a%20b") == bytes_);
}

TEST_F(CloudReadsTest, WebServersMaySendUsElsewhere) {
  const ObjectServer other;
  other.Put("plain/b", bytes_);
  server_.SetFaults(R"({"fault": "redirect", "location": ")" + other.url() +
                    R"(/plain/b"})");
  EXPECT_TRUE(ReadAll(server_.url() + "/plain/a") == bytes_);
}

TEST_F(CloudReadsTest, WebServersNeedNotKnowHead) {
  server_.Put("plain/a", bytes_);
  server_.SetFaults(R"({"fault": "status", "status": 405, "method": "HEAD"})");
  EXPECT_TRUE(ReadAll(server_.url() + "/plain/a?signature=1") == bytes_);
}

TEST_F(CloudReadsTest, WebServersNeedNotHaveETags) {
  server_.Put("plain/a", bytes_);
  server_.SetFaults(R"({"fault": "no_etag"})");
  EXPECT_TRUE(ReadAll(server_.url() + "/plain/a") == bytes_);
}

TEST_F(CloudReadsTest, TokensForWebServersAreSent) {
  Set("INFEED_HTTP_BEARER_TOKEN", "of-a-mirror");
  SetCloudSettings(settings_);
  server_.Put("plain/a", bytes_);
  EXPECT_TRUE(ReadAll(server_.url() + "/plain/a") == bytes_);
  EXPECT_THAT(server_.log().requests,
              testing::Each(Field(&LoggedRequest::proof, "Bearer")));
}

}  // namespace
}  // namespace infeed
