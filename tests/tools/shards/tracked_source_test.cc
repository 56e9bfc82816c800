#include "tools/shards/tracked_source.h"

#include <array>
#include <memory>
#include <tuple>
#include <vector>

#include "records/bytes/crc32c.h"
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

TEST_F(TrackedSourceTest, IsLikeTheOther) {
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

}  // namespace
}  // namespace infeed
