#include "pipeline/memory/batch_windows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "pipeline/memory/batch.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using testing::Each;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int kSide = 8;  // 64 pixels
constexpr int kSlots = 4;

// Three times the images' room: eight more than the images themselves.
class BatchWindowsTest : public testing::Test {
 protected:
  BatchWindowsTest() { windows_.Clear(); }

  [[nodiscard]] const ResizeWindow& At(std::size_t slot) const {
    return windows_.windows()[slot];
  }

  Batch batch_{
      kSlots, kSide, {}, BatchContent::kWindows, ResizeKernel::kBilinear};
  BatchWindows& windows_ = *batch_.windows();
};

TEST_F(BatchWindowsTest, LieBehindEachOtherAsTheyAreTaken) {
  EXPECT_THAT(windows_.used(), IsEmpty());
  const std::span<std::uint32_t> second =
      windows_.TakeWindow(2, 9, 9, /*mirrored=*/true);
  const std::span<std::uint32_t> first =
      windows_.TakeWindow(0, 10, 8, /*mirrored=*/false);
  EXPECT_THAT(second, SizeIs(81));
  EXPECT_THAT(first, SizeIs(80));
  EXPECT_EQ(second.data(), windows_.used().data());
  EXPECT_EQ(first.data(), second.data() + 84);  // The next multiple of four.
  EXPECT_THAT(windows_.used(), SizeIs(84 + 80));
  EXPECT_EQ(At(2).offset, 0U);
  EXPECT_EQ(At(2).width, 9);
  EXPECT_EQ(At(2).height, 9);
  EXPECT_EQ(At(2).mirrored, 1U);
  EXPECT_EQ(At(0).offset, 84U / kWindowAlignment);
  EXPECT_EQ(At(0).width, 10);
  EXPECT_EQ(At(0).height, 8);
  EXPECT_EQ(At(0).mirrored, 0U);
}

TEST_F(BatchWindowsTest, LeaveEverySlotTheRoomOfItsImage) {
  // All that there is but three images.
  EXPECT_THAT(windows_.TakeWindow(0, 64, 9, false), SizeIs(576));
  EXPECT_THAT(windows_.TakeWindow(1, 13, 5, false), IsEmpty());
  for (const int slot : {1, 2, 3}) {
    EXPECT_THAT(windows_.TakeImage(slot), SizeIs(kSide * kSide));
  }
  EXPECT_EQ(std::ssize(windows_.used()), BatchWindows::Capacity(kSlots, kSide));
  EXPECT_EQ(At(3).width, kSide);
  EXPECT_EQ(At(3).mirrored, 0U);
}

TEST_F(BatchWindowsTest, RefuseWhatNoWindowSays) {
  EXPECT_THAT(windows_.TakeWindow(0, 1 << 16, 1, false), IsEmpty());
  Batch large(1, 1024, {}, BatchContent::kWindows);
  EXPECT_THAT(large.windows()->TakeWindow(0, 1 << 16, 1, false), IsEmpty());
  EXPECT_THAT(large.windows()->TakeWindow(0, (1 << 16) - 1, 1, false),
              SizeIs((1 << 16) - 1));
}

TEST_F(BatchWindowsTest, GiveASlotThatIsTakenAgainItsOwnRoom) {
  const std::span<std::uint32_t> window = windows_.TakeWindow(1, 5, 5, false);
  const std::size_t used = windows_.used().size();
  EXPECT_THAT(windows_.TakeWindow(1, 9, 9, true), IsEmpty());
  EXPECT_EQ(windows_.TakeWindow(1, 16, 4, true).data(), window.data());
  EXPECT_EQ(windows_.TakeImage(1).data(), window.data());
  EXPECT_EQ(windows_.used().size(), used);
  EXPECT_EQ(At(1).width, kSide);
}

TEST_F(BatchWindowsTest, AreAllFreeAgainOnceCleared) {
  EXPECT_THAT(windows_.TakeWindow(0, 64, 9, false), SizeIs(576));
  windows_.Clear();
  EXPECT_THAT(windows_.used(), IsEmpty());
  EXPECT_THAT(windows_.TakeWindow(1, 64, 9, false), SizeIs(576));
}

TEST_F(BatchWindowsTest, BlankASlotByAPixel) {
  std::ranges::fill(windows_.TakeWindow(3, 8, 8, true), ~0U);
  batch_.BlankSlot(3);
  EXPECT_EQ(At(3).width, 1);
  EXPECT_EQ(At(3).height, 1);
  EXPECT_EQ(windows_.used()[0], 0U);
  EXPECT_EQ(batch_.labels()[3], -1);
  EXPECT_EQ(batch_.weights()[3], 0);
}

// Whoever comes first, nobody has what is another's.
TEST(BatchWindowsThreadsTest, TakeSlotsAtOnce) {
  constexpr int kMany = 64;
  Batch batch(kMany, kSide, {}, BatchContent::kWindows);
  std::vector<std::span<std::uint32_t>> taken(kMany);
  const auto fill = [&](int first) {
    for (int slot = first; slot < kMany; slot += 2) {
      std::span<std::uint32_t> pixels =
          batch.windows()->TakeWindow(slot, 8 + slot, 8, false);
      if (pixels.empty()) {
        pixels = batch.windows()->TakeImage(slot);
      }
      std::ranges::fill(pixels, static_cast<std::uint32_t>(slot));
      taken[static_cast<std::size_t>(slot)] = pixels;
    }
  };
  {
    const std::jthread other(fill, 1);
    fill(0);
  }
  for (std::size_t slot = 0; slot < taken.size(); ++slot) {
    EXPECT_THAT(taken[slot], Each(slot));
  }
}

TEST(BatchWindowsMemoryTest, IsThreeTimesThatOfImages) {
  EXPECT_EQ(BatchWindows::Capacity(10, 8), 10 * 3 * 64);
  EXPECT_EQ(BatchWindows::Capacity(2, 3), 2 * 3 * 12);
  const std::int64_t images = std::int64_t{256} * 224 * 224 * 4;
  EXPECT_GE(Batch::MemoryBytes(256, 224, BatchContent::kWindows), 3 * images);
  EXPECT_LT(Batch::MemoryBytes(256, 224, BatchContent::kWindows),
            3 * images + (4 << 20));
}

// A batch's windows are free whenever it is lent.
TEST(BatchWindowsMemoryTest, BatchesComeEmptyFromTheirPool) {
  BatchPool pool(1, kSlots, kSide, {}, BatchContent::kWindows);
  for (int i = 0; i < 3; ++i) {
    const BatchHandle batch = pool.Take();
    EXPECT_EQ(batch->content(), BatchContent::kWindows);
    EXPECT_THAT(batch->pixels(), IsEmpty());
    EXPECT_THAT(batch->windows()->TakeImage(1), SizeIs(kSide * kSide));
  }
}

}  // namespace
}  // namespace infeed
