#include "pipeline/memory/batch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/memory/batch_pool.h"
#include "pipeline/memory/page_memory.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

bool IsAligned(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % 64 == 0;
}

TEST(BatchTest, HasAlignedPartsOfTheRightSize) {
  Batch batch({.size = 3, .image_size = 5});
  EXPECT_EQ(batch.pixels().size(), 75U);
  EXPECT_EQ(batch.labels().size(), 3U);
  EXPECT_EQ(batch.weights().size(), 3U);
  EXPECT_TRUE(IsAligned(batch.pixels().data()));
  EXPECT_TRUE(IsAligned(batch.labels().data()));
  EXPECT_TRUE(IsAligned(batch.weights().data()));
  EXPECT_EQ(batch.slot_pixels(0).data(), batch.pixels().data());
  EXPECT_EQ(batch.slot_pixels(2).data(), batch.pixels().data() + 50);
  EXPECT_EQ(batch.slot_pixels(2).size(), 25U);
}

TEST(BatchTest, HoldsImagesThatAreNotSquare) {
  Batch batch({.size = 3, .image_size = {5, 8}});
  EXPECT_EQ(batch.image_size(), ImageSize(5, 8));
  EXPECT_EQ(batch.pixels().size(), 120U);
  EXPECT_EQ(batch.slot_pixels(2).data(), batch.pixels().data() + 80);
  EXPECT_EQ(batch.Clone()->image_size(), ImageSize(5, 8));
  EXPECT_EQ(Batch::MemoryBytes({.size = 64, .image_size = {100, 200}}),
            Batch::MemoryBytes({.size = 64, .image_size = {200, 100}}));
}

TEST(BatchTest, HoldsRgbBytesInsteadOfWords) {
  Batch batch({.size = 3, .image_size = 5, .content = BatchContent::kRgb});
  EXPECT_TRUE(batch.pixels().empty());
  EXPECT_EQ(batch.rgb().size(), 225U);
  EXPECT_EQ(batch.image_bytes().size(), 225U);
  EXPECT_TRUE(IsAligned(batch.rgb().data()));
  EXPECT_TRUE(IsAligned(batch.labels().data()));
  EXPECT_EQ(batch.slot_rgb(2).data(), batch.rgb().data() + 150);
  EXPECT_EQ(batch.slot_rgb(2).size(), 75U);
  EXPECT_EQ(Batch({.size = 3, .image_size = 5}).image_bytes().size(), 300U);
  EXPECT_EQ(
      Batch::MemoryBytes({.size = 16, .image_size = 32}) -
          Batch::MemoryBytes(
              {.size = 16, .image_size = 32, .content = BatchContent::kRgb}),
      16 * 32 * 32);
  std::ranges::fill(batch.rgb(), std::uint8_t{7});
  batch.BlankSlot(0);
  EXPECT_THAT(batch.slot_rgb(0), Each(0));
  EXPECT_THAT(batch.slot_rgb(1), Each(7));
  EXPECT_EQ(batch.labels()[0], -1);
  EXPECT_EQ(batch.weights()[0], 0);
}

TEST(BatchTest, BlanksOneSlotOnly) {
  Batch batch({.size = 2, .image_size = 4});
  for (const int slot : {0, 1}) {
    std::ranges::fill(batch.slot_pixels(slot), 7U);
    batch.labels()[static_cast<std::size_t>(slot)] = 3;
    batch.weights()[static_cast<std::size_t>(slot)] = 1;
  }
  batch.BlankSlot(1);
  EXPECT_THAT(batch.slot_pixels(0), Each(7U));
  EXPECT_THAT(batch.slot_pixels(1), Each(0U));
  EXPECT_THAT(batch.labels(), ElementsAre(3, -1));
  EXPECT_THAT(batch.weights(), ElementsAre(1, 0));
}

TEST(BatchTest, ACloneHasTheSameContentInItsOwnMemory) {
  Batch batch({.size = 2, .image_size = 4});
  std::ranges::fill(batch.pixels(), 7U);
  std::ranges::copy(std::vector{3, -1}, batch.labels().begin());
  std::ranges::copy(std::vector{1.0F, 0.0F}, batch.weights().begin());
  batch.records()[0] = 11;
  batch.fingerprints()[0] = 21;
  batch.fingerprints()[1] = ~std::uint64_t{0};
  batch.fed = 4;
  batch.positions()[0] = 12;
  batch.epoch = 5;
  batch.number = 6;
  batch.next = {.epoch = 5, .position = 14, .past_epochs = 1};
  const std::unique_ptr<Batch> clone = batch.Clone();
  batch.BlankSlot(0);
  EXPECT_THAT(clone->pixels(), Each(7U));
  EXPECT_THAT(clone->labels(), ElementsAre(3, -1));
  EXPECT_THAT(clone->weights(), ElementsAre(1, 0));
  EXPECT_THAT(clone->records(), ElementsAre(11, -1));
  EXPECT_THAT(clone->positions(), ElementsAre(12, -1));
  EXPECT_EQ(batch.fingerprints()[0], 0U);
  EXPECT_THAT(clone->fingerprints(), ElementsAre(21, ~std::uint64_t{0}));
  EXPECT_EQ(clone->fingerprint(), 20U);
  EXPECT_EQ(clone->fed, 4U);
  EXPECT_EQ(clone->epoch, 5U);
  EXPECT_EQ(clone->number, 6);
  EXPECT_EQ(clone->next, batch.next);
}

TEST(BatchTest, APlanHasAllButImagesViewsAndFixedFields) {
  Batch batch({.size = 2,
               .image_size = 4,
               .fields = {{.key = "row",
                           .kind = FeatureKind::kInt64,
                           .shape = std::vector<std::int64_t>{3}},
                          {.key = "list", .kind = FeatureKind::kInt64}},
               .views = {{.image_size = {5, 6}}}});
  std::ranges::copy(std::vector{3, -1}, batch.labels().begin());
  std::ranges::copy(std::vector{1.0F, 0.0F}, batch.weights().begin());
  batch.records()[0] = 11;
  batch.fields() = {{}, {.offsets = {0, 2, 2}, .int64s = {7, 8}}};
  batch.geometry(1)[0].x = 9;
  batch.number = 6;
  const std::unique_ptr<Batch> plan = batch.ClonePlan();
  batch.BlankSlot(0);
  EXPECT_TRUE(plan->image_bytes().empty());
  EXPECT_TRUE(plan->view(0).empty());
  EXPECT_TRUE(plan->fixed(0).empty());
  EXPECT_EQ(plan->content(), BatchContent::kPixels);
  EXPECT_EQ(plan->image_size(), ImageSize(4));
  EXPECT_EQ(plan->view_shapes()[0].image_size, ImageSize(5, 6));
  EXPECT_THAT(plan->labels(), ElementsAre(3, -1));
  EXPECT_THAT(plan->weights(), ElementsAre(1, 0));
  EXPECT_THAT(plan->records(), ElementsAre(11, -1));
  EXPECT_EQ(plan->fields()[1].int64s, (std::vector<std::int64_t>{7, 8}));
  EXPECT_EQ(plan->geometry(1)[0].x, 9);
  EXPECT_EQ(plan->number, 6);
}

TEST(BoxColumnTest, ClearMakesMovedOffsetsBeginAtZero) {
  BoxColumn boxes;
  boxes.Append(std::vector<float>{1, 2, 3, 4});
  boxes.offsets.front() = 7;
  boxes.Clear();
  EXPECT_EQ(boxes, BoxColumn());
}

TEST(BatchDeathTest, AbortsOnSlotsThatAreNotThereOrOfAnotherLayout) {
  Batch words({.size = 2, .image_size = 4});
  EXPECT_DEATH((void)words.slot_pixels(2), "the slot is in the batch");
  Batch rgb({.size = 2, .image_size = 4, .content = BatchContent::kRgb});
  EXPECT_DEATH((void)words.slot_rgb(0), "the batch holds RGB bytes");
  EXPECT_DEATH((void)rgb.slot_pixels(0), "the batch holds words");
}

// The blocks that are pinned at the moment, by address.
class PinnedMemory {
 public:
  BatchMemory hooks() {
    return {
        .pin =
            [this](std::span<std::byte> bytes) {
              EXPECT_TRUE(pinned_.emplace(bytes.data(), bytes.size()).second);
              bytes.front() = std::byte{1};  // It is mapped.
              bytes.back() = std::byte{1};
            },
        .unpin =
            [this](std::span<std::byte> bytes) {
              const auto found = pinned_.find(bytes.data());
              ASSERT_NE(found, pinned_.end());
              EXPECT_EQ(found->second, bytes.size());
              bytes.back() = std::byte{2};  // It is mapped still.
              pinned_.erase(found);
            }};
  }
  [[nodiscard]] std::size_t count() const { return pinned_.size(); }

 private:
  std::map<std::byte*, std::size_t> pinned_;
};

TEST(BatchMemoryTest, EachBatchOfAPoolIsPinnedWhileItIsThere) {
  PinnedMemory memory;
  {
    BatchPool pool(3, {.size = 2, .image_size = 8}, memory.hooks());
    EXPECT_EQ(memory.count(), 3U);
    pool.Take().reset();
    EXPECT_EQ(memory.count(), 3U);
  }
  EXPECT_EQ(memory.count(), 0U);
}

TEST(BatchMemoryTest, ABatchThatOutlivesItsPoolStaysPinned) {
  PinnedMemory memory;
  BatchHandle survivor;
  {
    BatchPool pool(2, {.size = 2, .image_size = 8}, memory.hooks());
    survivor = pool.Take();
    pool.Close();
  }
  EXPECT_EQ(memory.count(), 1U);
  survivor.reset();
  EXPECT_EQ(memory.count(), 0U);
}

TEST(BatchMemoryTest, APoolsMemoryStaysMappedWhileItIsHeld) {
  BatchPool pool(2, {.size = 1, .image_size = 8});
  std::vector<std::shared_ptr<const PageMemory>> memory = pool.memory();
  ASSERT_EQ(memory.size(), 2U);
  const BatchHandle batch = pool.Take();
  EXPECT_EQ(std::ranges::count(memory, batch->memory()), 1);
  EXPECT_EQ(std::ranges::count(memory, batch->Clone()->memory()), 0);
  pool.Take()->pixels()[0] = 7;
  pool.Close();
  EXPECT_EQ(memory[0]->bytes()[0] | memory[1]->bytes()[0], std::byte{7});
  memory.clear();
  EXPECT_THAT(pool.memory(), ElementsAre(batch->memory()));
}

TEST(BatchMemoryTest, AMovedBatchIsUnpinnedOnce) {
  PinnedMemory memory;
  {
    Batch batch({.size = 2, .image_size = 8}, memory.hooks());
    const Batch moved = std::move(batch);
    EXPECT_EQ(memory.count(), 1U);
  }
  EXPECT_EQ(memory.count(), 0U);
}

TEST(BatchMemoryTest, WhatCannotBePinnedIsNotUnpinned) {
  PinnedMemory memory;
  int asked = 0;
  const BatchMemory hooks = {.pin =
                                 [&](std::span<std::byte> bytes) {
                                   if (++asked == 2) {
                                     throw std::bad_alloc();
                                   }
                                   memory.hooks().pin(bytes);
                                 },
                             .unpin = memory.hooks().unpin};
  EXPECT_THROW(BatchPool(3, {.size = 2, .image_size = 8}, hooks),
               std::bad_alloc);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(memory.count(), 0U);
}

TEST(BatchPoolTest, LendsEachBatchOnceAndAgainWhenItIsBack) {
  BatchPool pool(2, {.size = 1, .image_size = 1});
  BatchHandle first = pool.Take();
  const BatchHandle second = pool.Take();
  const Batch* const returned = first.get();
  EXPECT_NE(first.get(), second.get());
  first.reset();
  EXPECT_EQ(pool.Take().get(), returned);
}

TEST(BatchPoolTest, WaitsUntilABatchIsBack) {
  BatchPool pool(1, {.size = 1, .image_size = 1});
  BatchHandle only = pool.Take();
  const Batch* taken = nullptr;
  std::jthread waiting([&] { taken = pool.Take().get(); });
  const Batch* const lent = only.get();
  only.reset();
  waiting.join();
  EXPECT_EQ(taken, lent);
}

TEST(BatchPoolTest, EndsAWaitOnClose) {
  BatchPool pool(1, {.size = 1, .image_size = 1});
  const BatchHandle only = pool.Take();
  bool ended = false;
  std::jthread waiting([&] { ended = pool.Take() == nullptr; });
  pool.Close();
  waiting.join();
  EXPECT_TRUE(ended);
  EXPECT_EQ(pool.Take(), nullptr);
}

TEST(BatchPoolTest, CopiesWhatWouldBeOneLentTooMany) {
  BatchPool pool(3, {.size = 1, .image_size = 1});
  const auto next = [&] { return pool.Lend(pool.Take(), 2); };
  BatchHandle first = next();
  const BatchHandle second = next();
  const BatchHandle copy = next();
  EXPECT_NE(first.get_deleter().pool, nullptr);
  EXPECT_NE(second.get_deleter().pool, nullptr);
  EXPECT_EQ(copy.get_deleter().pool, nullptr);
  EXPECT_EQ(pool.free(), 1);
  first.reset();
  EXPECT_EQ(pool.free(), 2);
  first = next();
  EXPECT_NE(first.get_deleter().pool, nullptr);
  EXPECT_EQ(next().get_deleter().pool, nullptr);
}

TEST(BatchPoolTest, CopiesNothingWithoutALimit) {
  BatchPool pool(2, {.size = 1, .image_size = 1});
  const BatchHandle first = pool.Lend(pool.Take(), 0);
  const BatchHandle second = pool.Lend(pool.Take(), 0);
  EXPECT_NE(second.get_deleter().pool, nullptr);
  EXPECT_EQ(pool.free(), 0);
}

TEST(BatchPoolTest, NeverLendsOneBatchToTwoThreads) {
  BatchPool pool(3, {.size = 1, .image_size = 1});
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      for (int i = 0; i < 500; ++i) {
        const BatchHandle batch = pool.Take();
        batch->labels()[0] = t;
        ASSERT_EQ(batch->labels()[0], t);
      }
    });
  }
}

}  // namespace
}  // namespace infeed
