#include "records/cloud/object_source.h"

#include <atomic>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/support/bytes.h"
#include "tests/support/cloud_environment.h"
#include "tests/support/loopback_server.h"
#include "tests/support/matchers.h"
#include "tests/support/served_object.h"
#include "tests/support/throws.h"

namespace infeed::object_source_test {

constexpr const char* kUrl = "s3://bucket/shard";

// An object of 100 bytes, fetched in blocks of 10.
class ObjectSourceTest : public ::testing::Test {
 protected:
  ObjectSourceTest() {
    for (int i = 0; i < 100; ++i) {
      bytes_.push_back(static_cast<char>('!' + i % 90));
    }
    settings_.block_bytes = 10;
    settings_.read_ahead_blocks = 2;
    settings_.connections = 3;
    settings_.byte_budget = 1000;
    settings_.retry.attempts = 2;
    settings_.retry.first_delay = std::chrono::milliseconds(1);
    Serve(ServeObject(bytes_));
  }
  ~ObjectSourceTest() override { SetCloudSettings({}); }

  void Serve(LoopbackServer::Handler handler) {
    server_ = std::make_unique<LoopbackServer>(std::move(handler));
    environment_.Set("AWS_ENDPOINT_URL", server_->url());
    SetCloudSettings(settings_);
  }
  static std::string Read(const ByteSource& source, std::int64_t offset,
                          std::size_t count) {
    std::vector<std::byte> place(count);
    return AsText(std::span(place).first(source.ReadAt(offset, place)));
  }
  std::vector<std::string> Ranges() const { return RangesAsked(*server_); }
  static std::shared_ptr<ByteBudget> Budget() {
    return SharedCloudRuntime()->budget;
  }

  CloudEnvironment environment_;
  std::string bytes_;
  CloudSettings settings_;
  std::unique_ptr<LoopbackServer> server_;
};

TEST_F(ObjectSourceTest, KnowsItsSizeAndVersion) {
  const ObjectSource source(kUrl);
  EXPECT_EQ(source.path(), kUrl);
  EXPECT_EQ(source.size(), 100);
  const std::int64_t version = source.version();
  Serve(ServeObject(bytes_, "\"other\""));
  EXPECT_NE(ObjectSource(kUrl).version(), version);
}

TEST_F(ObjectSourceTest, EndsWhereTheObjectEnds) {
  const ObjectSource source(kUrl);
  EXPECT_EQ(Read(source, 95, 20), bytes_.substr(95));
  EXPECT_EQ(Read(source, 100, 20), "");
  EXPECT_EQ(Read(source, 1000, 20), "");
  EXPECT_EQ(Read(source, 5, 0), "");
  // A hint beyond it does nothing.
  source.WillRead(100, 10);
  source.WillRead(-1, 10);
  source.WillRead(10, 0);
  EXPECT_EQ(Budget()->peak(), 0);
}

TEST_F(ObjectSourceTest, FetchesWhatIsAskedInBlocksAndOnce) {
  struct Case {
    std::vector<std::pair<int, int>> hints;  // offset and bytes
    std::vector<std::pair<int, int>> reads;
    std::vector<std::string> ranges;
  };
  for (const auto& [hints, reads, ranges] :
       {Case{{}, {{37, 5}, {3, 2}}, {"3-4", "37-41"}},
        Case{{}, {{5, 25}}, {"15-24", "25-29", "5-14"}},
        Case{{{12, 20}, {12, 20}},
             {{12, 4}, {16, 16}},
             {"12-19", "20-29", "30-31"}},
        // Nothing that was read is kept.
        Case{{{10, 10}}, {{10, 10}, {12, 2}}, {"10-19", "12-13"}},
        // Some of it is there already.
        Case{{{20, 10}}, {{15, 20}}, {"15-19", "20-29", "30-34"}}}) {
    Serve(ServeObject(bytes_));
    const ObjectSource source(kUrl);
    for (const auto& [offset, count] : hints) {
      source.WillRead(offset, count);
    }
    for (const auto& [offset, count] : reads) {
      EXPECT_EQ(Read(source, offset, count), bytes_.substr(offset, count));
    }
    EXPECT_EQ(Ranges(), ranges);
  }
}

TEST_F(ObjectSourceTest, ReadsAheadOfWhatIsReadInOrder) {
  const ObjectSource source(kUrl);
  std::string seen;
  for (std::int64_t place = 0; place < 100; place += 4) {
    seen += Read(source, place, 4);
  }
  EXPECT_EQ(seen, bytes_);
  EXPECT_THAT(Ranges(),
              ElementsAre("0-3", "10-19", "20-29", "30-39", "4-9", "40-49",
                          "50-59", "60-69", "70-79", "80-89", "90-99"));
  // Four blocks, and those that a thread has not let go of yet.
  EXPECT_LE(Budget()->peak(), 40 + settings_.connections * 10);
}

TEST_F(ObjectSourceTest, ReadsAheadOfHeadersNearEachOther) {
  const ObjectSource source(kUrl);
  for (std::int64_t place = 0; place < 100; place += 5) {
    EXPECT_EQ(Read(source, place, 1), bytes_.substr(place, 1));
  }
  EXPECT_THAT(Ranges(), ::testing::Contains("50-59"));
  // What was passed over is not kept.
  EXPECT_EQ(Read(source, 80, 1), bytes_.substr(80, 1));
  EXPECT_THAT(Ranges(), ::testing::Contains("80-80"));
}

TEST_F(ObjectSourceTest, DoesWithoutWhatTheBudgetLacks) {
  settings_.byte_budget = 10;
  SetCloudSettings(settings_);
  const ObjectSource source(kUrl);
  source.WillRead(0, 40);
  EXPECT_EQ(Read(source, 0, 100), bytes_);
  EXPECT_EQ(Budget()->peak(), 10);
}

TEST_F(ObjectSourceTest, AnUnreadSourceGivesItsMemoryBack) {
  { ObjectSource(kUrl).WillRead(0, 30); }
  // A thread gives back its unfinished fetches when it ends, and the runtime
  // joins its threads.
  const auto budget = Budget();
  SetCloudSettings(settings_);
  (void)SharedCloudRuntime();
  EXPECT_EQ(budget->held(), 0);
}

TEST_F(ObjectSourceTest, ForgetsWhatWasAnnouncedAndPassedOver) {
  const ObjectSource source(kUrl);
  source.WillRead(0, 40);
  for (int i = 0; i < 70; ++i) {
    (void)Read(source, 99 - i % 3, 1);
  }
  source.WillRead(50, 10);
  EXPECT_EQ(Read(source, 50, 10), bytes_.substr(50, 10));
  EXPECT_LE(Budget()->peak(), 40 + settings_.connections * 10);
}

TEST_F(ObjectSourceTest, ServesManyThreads) {
  const ObjectSource source(kUrl);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::int64_t i = 0; i < 50; ++i) {
        const std::int64_t place = (i * 7 + t * 31) % 90;
        source.WillRead(place, 3);
        EXPECT_EQ(Read(source, place, 10), bytes_.substr(place, 10));
      }
    });
  }
}

TEST_F(ObjectSourceTest, SaysThatTheObjectWasReplaced) {
  const ObjectSource source(kUrl, {.size = 100, .etag = "\"before\""});
  const auto refusal = [&] {
    return MessageOf<IoError>([&] { (void)Read(source, 0, 50); });
  };
  EXPECT_THAT(refusal(), HasSubstr("s3://bucket/shard: cannot read: the object "
                                   "was replaced"));
  source.WillRead(0, 50);
  EXPECT_THAT(refusal(), HasSubstr("was replaced"));
}

TEST_F(ObjectSourceTest, TriesABlockAnewAfterAnError) {
  std::atomic<bool> broken = true;
  Serve([&, serve = ServeObject(bytes_)](const std::string& request) {
    return broken && request.starts_with("GET")
               ? LoopbackServer::Reply{HttpAnswer(500)}
               : serve(request);
  });
  const ObjectSource source(kUrl);
  source.WillRead(0, 10);
  EXPECT_THAT(MessageOf<IoError>([&] { (void)Read(source, 0, 10); }),
              HasSubstr("500"));
  broken = false;
  EXPECT_EQ(Read(source, 0, 10), bytes_.substr(0, 10));
}

TEST_F(ObjectSourceTest, ShowsNoSecretOfAUrl) {
  const ObjectSource source(server_->url() + "/x?sig=secret");
  EXPECT_EQ(source.path(), server_->url() + "/x");
  EXPECT_EQ(Read(source, 1, 2), bytes_.substr(1, 2));
  EXPECT_THAT(server_->requests().back(), StartsWith("GET /x?sig=secret "));
}

}  // namespace infeed::object_source_test
