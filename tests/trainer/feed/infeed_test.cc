#include "trainer/feed/infeed.h"

#include <cstdint>
#include <future>
#include <memory>
#include <stop_token>
#include <vector>

#include "base/error.h"
#include "tests/support/made_batches.h"
#include "tests/support/throws.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

void NumberLabels(Batch& batch, std::int64_t number) {
  batch.labels()[0] = static_cast<std::int32_t>(number);
}

TEST(InfeedTest, HandsOutEveryBatchInOrderThenTheEnd) {
  Infeed infeed(MadeBatches(5, 2, 4, NumberLabels), 2, 4);
  for (std::int32_t i = 0; i < 5; ++i) {
    const BatchHandle batch = infeed.Next();
    ASSERT_NE(batch, nullptr);
    EXPECT_EQ(batch->labels()[0], i);
  }
  EXPECT_EQ(infeed.Next(), nullptr);
  EXPECT_EQ(infeed.Next(), nullptr);
}

TEST(InfeedTest, MapsLabelsToTheModelsClasses) {
  Infeed infeed(MadeBatches(3, 1, 1,
                            [](Batch& batch, std::int64_t number) {
                              NumberLabels(batch, number - 1);
                            }),
                1, 1);
  infeed.MapLabels({7});
  for (const std::int32_t label : {-1, 7, -1}) {
    EXPECT_EQ(infeed.Next()->labels()[0], label);
  }
}

TEST(InfeedTest, SaysWhereTheStreamGoesOnAfterTheBatchHandedOut) {
  const std::shared_ptr<MadeStream> source = MadeBatches(3, 4, 1, NumberLabels);
  source->start = {.epoch = 2, .position = 8};
  Infeed infeed(source, 4, 1);
  EXPECT_EQ(infeed.position(), (StreamPosition{2, 8}));
  (void)infeed.Next();
  EXPECT_EQ(infeed.position(), (StreamPosition{0, 4}));
  (void)infeed.Next();
  EXPECT_EQ(infeed.position(), (StreamPosition{0, 8}));
}

TEST(InfeedTest, LeavesItsWaitsToADeviceThatCountsThem) {
  Infeed infeed(MadeBatches(2, 1, 1, NumberLabels), 1, 1);
  infeed.LeaveWaitsToDevice();
  (void)infeed.Next();
  const double first = infeed.first_wait_seconds();
  EXPECT_GT(first, 0);
  (void)infeed.Next();
  EXPECT_EQ(infeed.wait_seconds(), first);
  infeed.AddWait(0.5);
  infeed.AddWait(0.25);
  EXPECT_DOUBLE_EQ(infeed.wait_seconds(), first + 0.5 + 0.25);
}

TEST(InfeedTest, KeepsTheFirstWaitApart) {
  Infeed infeed(MadeBatches(2, 1, 1, NumberLabels), 1, 1);
  EXPECT_EQ(infeed.wait_seconds(), 0);
  std::vector<std::int32_t> shown;
  infeed.ShowFirst(
      [&](const Batch& batch) { shown.push_back(batch.labels()[0]); });
  (void)infeed.Next();
  const double first = infeed.first_wait_seconds();
  EXPECT_GT(first, 0);
  EXPECT_EQ(infeed.wait_seconds(), first);
  (void)infeed.Next();
  EXPECT_GT(infeed.wait_seconds(), first);
  EXPECT_EQ(infeed.first_wait_seconds(), first);
  EXPECT_EQ(shown, std::vector<std::int32_t>{0});  // The first one alone.
}

TEST(InfeedTest, RefusesABatchOfAnotherSize) {
  Infeed infeed(MadeBatches(1, 2, 4, NumberLabels), 3, 4);
  EXPECT_EQ(MessageOf<UsageError>([&] { (void)infeed.Next(); }),
            "the infeed takes batches of 3 images of 4 x 4 pixels, not of 2 "
            "images of 4 x 4 pixels");
  Infeed of_others(MadeBatches(1, 2, 8, NumberLabels), 2, 4);
  EXPECT_THROW((void)of_others.Next(), UsageError);
}

TEST(InfeedTest, PassesOnAnErrorAfterTheLastGoodBatch) {
  Infeed infeed(MadeBatches(3, 1, 1,
                            [](Batch&, std::int64_t number) {
                              if (number == 2) {
                                throw DataError("record 17 is torn");
                              }
                            }),
                1, 1);
  EXPECT_NE(infeed.Next(), nullptr);
  EXPECT_NE(infeed.Next(), nullptr);
  EXPECT_EQ(MessageOf<DataError>([&] { (void)infeed.Next(); }),
            "record 17 is torn");
}

TEST(InfeedTest, EndsWhileItsSourceWaits) {
  std::promise<void> stopped;
  std::shared_future<void> wait = stopped.get_future().share();
  const auto source = std::make_shared<MadeStream>([wait]() -> BatchHandle {
    wait.wait();
    return nullptr;
  });
  source->stop = [&stopped] { stopped.set_value(); };
  Infeed infeed(source, 1, 1);
  auto last = std::async(std::launch::async, [&] { return infeed.Next(); });
  infeed.Stop();
  EXPECT_EQ(last.get(), nullptr);
  source->stop = {};
}

TEST(InfeedTest, HandsOutNothingMoreOnceStoppedAndTellsADevice) {
  Infeed infeed(MadeBatches(3, 1, 1, NumberLabels), 1, 1);
  EXPECT_NE(infeed.Next(), nullptr);
  bool is_told = false;
  const std::stop_callback callback(infeed.stop_token(),
                                    [&] { is_told = true; });
  EXPECT_FALSE(is_told);
  infeed.Stop();
  EXPECT_TRUE(is_told);
  EXPECT_EQ(infeed.Next(), nullptr);
}

// A device that took three batches and was stopped in the first one's step.
TEST(InfeedTest, GoesBackToWhatADeviceUsed) {
  const auto fill = [](Batch& batch, std::int64_t number) {
    batch.fingerprints()[0] = static_cast<std::uint64_t>(number) + 10;
  };
  Infeed infeed(MadeBatches(5, 4, 1, fill), 4, 1);
  (void)infeed.Next();
  const FeedMark after_first = infeed.mark();
  EXPECT_EQ(after_first.fingerprint, 10U);
  (void)infeed.Next();
  (void)infeed.Next();
  infeed.Stop();
  EXPECT_EQ(infeed.Next(), nullptr);
  EXPECT_EQ(infeed.position(), (StreamPosition{0, 12}));
  EXPECT_EQ(infeed.mark().fingerprint, 10U + 11 + 12);
  infeed.SetBack(after_first);
  EXPECT_EQ(infeed.position(), (StreamPosition{0, 4}));
  EXPECT_EQ(infeed.mark().fingerprint, 10U);
}

TEST(InfeedDeathTest, GoesBackOnlyWhereNoBatchFollows) {
  Infeed infeed(MadeBatches(2, 1, 1, NumberLabels), 1, 1);
  (void)infeed.Next();
  EXPECT_DEATH(infeed.SetBack({}), "no batch follows");
}

TEST(InfeedTest, EndsWhereASignalEndedARead) {
  Infeed infeed(
      MadeBatches(1, 1, 1, [](Batch&, std::int64_t) { throw StoppedError(); }),
      1, 1);
  EXPECT_EQ(infeed.Next(), nullptr);
}

}  // namespace
}  // namespace infeed
