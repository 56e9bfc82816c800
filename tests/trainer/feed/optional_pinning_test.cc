#include "trainer/feed/optional_pinning.h"

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "pipeline/memory/batch.h"
#include "pipeline/memory/batch_pool.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

// Pins as many batches as `limit` says.
class OptionalPinningTest : public testing::Test {
 protected:
  [[nodiscard]] BatchMemory Memory() {
    const BatchMemory limited = {
        .pin =
            [this](std::span<std::byte>) {
              if (pinned_ == limit_) {
                throw std::runtime_error("out of locked memory");
              }
              ++pinned_;
            },
        .unpin = [this](std::span<std::byte>) { --pinned_; }};
    return PinIfPossible(
        limited, [this](const std::string& line) { said_.push_back(line); });
  }

  int limit_ = 4;
  int pinned_ = 0;
  std::vector<std::string> said_;
};

TEST_F(OptionalPinningTest, GoesOnWithoutAndSaysSoOnce) {
  limit_ = 1;
  const BatchMemory memory = Memory();
  for (int i = 0; i < 2; ++i) {
    BatchPool pool(4, {.size = 1, .image_size = 8}, memory);
    EXPECT_EQ(pinned_, 1);
    EXPECT_EQ(pool.free(), 4);
  }
  EXPECT_EQ(pinned_, 0);  // Only what was pinned is unpinned.
  EXPECT_THAT(said_, ElementsAre(EndsWith(": out of locked memory")));
}

TEST_F(OptionalPinningTest, NeedNotSaySoAndLeavesMemoryWithoutHooksAlone) {
  limit_ = 0;
  const BatchMemory limited = {
      .pin = [](std::span<std::byte>) { throw std::runtime_error("no"); },
      .unpin = [this](std::span<std::byte>) { --pinned_; }};
  {
    const BatchPool pool(4, {.size = 1, .image_size = 8},
                         PinIfPossible(limited, {}));
  }
  EXPECT_EQ(pinned_, 0);
  EXPECT_FALSE(PinIfPossible({}, {}).pin);
  EXPECT_FALSE(PinIfPossible({}, {}).unpin);
}

}  // namespace
}  // namespace infeed
