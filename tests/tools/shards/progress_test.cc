#include "tools/shards/progress.h"

#include <array>
#include <memory>
#include <tuple>
#include <vector>

#include "tests/support/bytes.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

class TrackedSourceTest : public ::testing::Test {
 protected:
  std::size_t Read(std::int64_t offset, std::size_t count) {
    std::vector<std::byte> buffer(count);
    return source_.ReadAt(offset, buffer);
  }

  std::int64_t progress_ = 0;
  TrackedSource source_{std::make_unique<MemorySource>("name", "123456789"),
                        [this](std::int64_t bytes) { progress_ += bytes; }};
};

TEST_F(TrackedSourceTest, TrackedSourcesReadAsTheirSource) {
  EXPECT_EQ(source_.path(), "name");
  EXPECT_EQ(source_.size(), 9);
  std::array<std::byte, 3> bytes{};
  EXPECT_EQ(source_.ReadAt(2, bytes), 3U);
  EXPECT_EQ(AsText(bytes), "345");
  EXPECT_EQ(Read(7, 5), 2U);
}

TEST_F(TrackedSourceTest, CountsEachByteOnce) {
  std::ignore = Read(0, 4);
  std::ignore = Read(2, 4);
  EXPECT_EQ(progress_, 6);
  std::ignore = Read(0, 3);
  EXPECT_EQ(progress_, 6);
  std::ignore = Read(6, 100);
  EXPECT_EQ(progress_, 9);
}

TEST_F(TrackedSourceTest, SumsWhateverWasRead) {
  EXPECT_EQ(source_.Checksum(), 0xE3069283U);  // Nothing so far.
  EXPECT_EQ(source_.Checksum(), 0xE3069283U);
}

TEST_F(TrackedSourceTest, SumsReadsThatOverlapOrLeaveHoles) {
  std::ignore = Read(0, 4);
  std::ignore = Read(2, 4);
  std::ignore = Read(7, 1);
  EXPECT_EQ(source_.Checksum(), 0xE3069283U);
}

TEST(ReadProgressTest, SaysHowFarHowFastAndHowLongStill) {
  EXPECT_EQ(ReadProgressText({.bytes = 1'000'000'000,
                              .total_bytes = 4'000'000'000,
                              .records = 12345,
                              .seconds = 2}),
            "1.0 GB of 4.0 GB  25 %  500.0 MB/s  12345 records  ETA 6s");
  EXPECT_EQ(ReadProgressText({.bytes = 500'000,
                              .total_bytes = 50'000'000,
                              .records = 3,
                              .seconds = 1}),
            "500.0 kB of 50.0 MB  1 %  500.0 kB/s  3 records  ETA 1m39s");
  EXPECT_EQ(ReadProgressText(
                {.bytes = 1, .total_bytes = 7200, .records = 1, .seconds = 1}),
            "1 B of 7.2 kB  0 %  1 B/s  1 record  ETA 1h59m");
}

TEST(ReadProgressTest, KnowsNoRateAtTheStart) {
  EXPECT_EQ(ReadProgressText({.total_bytes = 100}), "0 B of 100 B  0 %");
  EXPECT_EQ(ReadProgressText({}), "0 B of 0 B  100 %");
}

TEST(ReadProgressTest, KeepsTheEtaIn60Columns) {
  EXPECT_EQ(FittedLine(ReadProgressText({.bytes = 123'400'000'000,
                                         .total_bytes = 987'600'000'000,
                                         .records = 1'234'567,
                                         .seconds = 100}),
                       60),
            "123.4 GB of 987.6 GB  12 %  1.2 GB/s  ETA 11m40s");
}

}  // namespace
}  // namespace infeed
