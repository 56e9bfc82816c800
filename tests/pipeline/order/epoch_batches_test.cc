#include "pipeline/order/epoch_batches.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace infeed {
namespace epoch_batches_test {

EpochBatches Of(std::int64_t places, int batch_size, LastBatch last) {
  return EpochBatchesOf(places, {.batch_size = batch_size, .last_batch = last});
}

TEST(EpochBatchesTest, GivesEveryEpochTheSameBatchesUnlessTheyCarry) {
  EXPECT_EQ(Of(2934, 1024, LastBatch::kDrop).Within(15), 30);
  EXPECT_EQ(Of(2934, 1024, LastBatch::kPad).Within(15), 45);
  EXPECT_EQ(Of(2934, 1024, LastBatch::kRepeat).Within(15), 45);
  EXPECT_EQ(Of(2934, 1024, LastBatch::kCarry).Within(15), 42);
}

TEST(EpochBatchesTest, HasNoBatchInAnEpochThatIsTooSmall) {
  EXPECT_EQ(Of(7, 8, LastBatch::kDrop).Within(3), 0);
}

TEST(EpochBatchesTest, CountsPartsOfEpochs) {
  EXPECT_EQ(Of(10, 4, LastBatch::kDrop).WithinPart(0.7), 1);
  EXPECT_EQ(Of(10, 4, LastBatch::kDrop).WithinPart(0.8), 2);
  EXPECT_EQ(Of(10, 4, LastBatch::kCarry).WithinPart(1.5), 3);
  EXPECT_EQ(Of(10, 4, LastBatch::kCarry).WithinPart(1.999), 4);
  EXPECT_EQ(Of(10, 4, LastBatch::kCarry).WithinPart(0.1), 1);
  EXPECT_EQ(Of(10, 11, LastBatch::kPad).WithinPart(1.1), 1);
  EXPECT_EQ(Of(100, 11, LastBatch::kCarry).WithinPart(1.1), 10);
}

// The slow way: by walking through the samples of all batches.
TEST(EpochBatchesTest, AgreesWithAWalkThroughTheSamples) {
  for (const std::int64_t places : {8, 10, 16, 21, 23}) {
    for (const LastBatch last : {LastBatch::kDrop, LastBatch::kPad,
                                 LastBatch::kRepeat, LastBatch::kCarry}) {
      const EpochBatches batches = Of(places, 8, last);
      StreamPosition place;  // where batch `number` begins
      for (std::int64_t number = 0; number < 40; ++number) {
        ASSERT_EQ(batches.Before(5, place) > 0, place.epoch < 5);
        std::int64_t ended = 0;
        while (batches.Within(ended + 1) <= number) {
          ++ended;
        }
        ASSERT_EQ(batches.EpochsEnded(number), ended) << number;
        ASSERT_EQ(batches.NextEnd(number), batches.Within(ended + 1));
        ASSERT_LE(batches.Within(ended + 1) - batches.Within(ended),
                  batches.most());
        place =
            last == LastBatch::kCarry || place.position + 8 < batches.samples
                ? batches.After(place, 8)
                : StreamPosition{place.epoch + 1, 0, place.epoch + 1};
        if (place.position == 0) {
          ASSERT_EQ(batches.Within(place.epoch), number + 1);
        }
      }
    }
  }
}

TEST(EpochBatchesTest, CountsBatchesToAnEpochFromInsideABatchThatCarries) {
  const EpochBatches batches = Of(10, 4, LastBatch::kCarry);
  // Batches begin at 0, 4, 8 | 2, 6 | 0.
  EXPECT_EQ(batches.Before(1, {}), 3);
  EXPECT_EQ(batches.Before(2, {}), 5);
  EXPECT_EQ(batches.Before(2, {.epoch = 1, .position = 2}), 2);
  EXPECT_EQ(batches.After({.position = 8}, 4),
            (StreamPosition{.epoch = 1, .position = 2, .past_epochs = 1}));
}

}  // namespace epoch_batches_test
}  // namespace infeed
