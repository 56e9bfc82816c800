#include "pipeline/slots/open_batch.h"

#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/memory/batch_pool.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

const BatchPlan kPlan{
    .epoch = 0, .first = 4, .samples = 3, .next = {0, 8}, .last = true};

class OpenBatchTest : public ::testing::Test {
 protected:
  void Begin() { open_.Begin(0, WithRecords(kPlan, epoch_), pool_.Take()); }

  BatchPool pool_{1, {.size = 4, .image_size = 2}};
  SampleOrder order_{10, Shuffle::kNone, 0};
  CurrentEpoch epoch_{order_};
  OpenBatch open_;
};

std::exception_ptr Error(const std::string& text) {
  return std::make_exception_ptr(std::runtime_error(text));
}

TEST_F(OpenBatchTest, KnowsItsRecordsAndBlanksItsPadding) {
  Begin();
  EXPECT_EQ(open_.record(0), 4);
  EXPECT_EQ(open_.record(2), 6);
  EXPECT_EQ(open_.batch().weights()[3], 0);
  EXPECT_EQ(open_.batch().labels()[3], -1);
  EXPECT_EQ(open_.batch().next, (StreamPosition{0, 8}));
}

TEST_F(OpenBatchTest, IsDoneOnceWhicheverSlotIsLast) {
  Begin();
  std::atomic<int> last{0};
  {
    std::vector<std::jthread> threads;
    for (int slot = 0; slot < kPlan.samples; ++slot) {
      threads.emplace_back([&] { last += open_.SlotDone() ? 1 : 0; });
    }
  }
  EXPECT_EQ(last, 1);
}

std::vector<int> SlotsOf(std::span<const BadRecord> bad) {
  std::vector<int> slots;
  for (const BadRecord& one : bad) {
    slots.push_back(10 * one.slot + one.draw);
  }
  return slots;
}

TEST_F(OpenBatchTest, HandsBadRecordsOutInTheOrderOfSlotsAndDraws) {
  Begin();
  open_.AddBadRecord({.slot = 2});
  open_.AddBadRecord({.slot = 0, .draw = 1});
  open_.AddBadRecord({.slot = 0});
  EXPECT_THAT(SlotsOf(open_.BadRecords()), ElementsAre(0, 1, 20));
  open_.TakeBatch().reset();
  Begin();
  EXPECT_THAT(open_.BadRecords(), IsEmpty());
}

TEST_F(OpenBatchTest, LeavesBadRecordsBehindItsErrorOut) {
  Begin();
  for (const int slot : {2, 1, 0}) {
    open_.AddBadRecord({.slot = slot});
  }
  open_.Fail(1, Error("one"));
  EXPECT_THAT(SlotsOf(open_.BadRecords()), ElementsAre(0, 10));
}

TEST_F(OpenBatchTest, KeepsTheErrorOfTheLowestSlot) {
  Begin();
  open_.Fail(2, Error("two"));
  open_.Fail(0, Error("zero"));
  open_.Fail(1, Error("one"));
  EXPECT_THAT([&] { std::rethrow_exception(open_.error()); },
              ::testing::Throws<std::runtime_error>(::testing::Property(
                  &std::runtime_error::what, ::testing::StrEq("zero"))));
}

TEST_F(OpenBatchTest, ForgetsTheErrorOfItsLastUse) {
  Begin();
  open_.Fail(0, Error("old"));
  (void)open_.TakeBatch();
  Begin();
  EXPECT_EQ(open_.error(), nullptr);
}

}  // namespace
}  // namespace infeed
