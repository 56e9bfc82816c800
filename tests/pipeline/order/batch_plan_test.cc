#include "pipeline/order/batch_plan.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "base/error.h"
#include "pipeline/order/epoch_batches.h"
#include "pipeline/order/sample_order.h"
#include "tests/support/batch_plans.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::batch_plan_test {

// A plan with the fields that the tests compare.
BatchPlan Plan(std::uint32_t epoch, std::int64_t first, int samples,
               const StreamPosition& next, std::int64_t places,
               bool last = false, int batch_size = 4) {
  return {.epoch = epoch,
          .number = first / batch_size,
          .first = first,
          .samples = samples,
          .next = next,
          .last = last,
          .places = places};
}

TEST(BatchSequenceTest, EndsAnEpochAsTheOptionsSay) {
  struct Row {
    std::int64_t places;
    InputOptions options;
    std::int64_t batches_per_epoch;
    std::vector<BatchPlan> plans;  // of a training the first three
  };
  const std::vector<Row> rows = {
      {10,
       {.batch_size = 4},
       2,
       {Plan(0, 0, 4, {0, 4}, 10), Plan(0, 4, 4, {1, 0, 1}, 10),
        Plan(1, 0, 4, {1, 4, 1}, 10)}},
      {10,
       {.batch_size = 4, .training = false},
       3,
       {Plan(0, 0, 4, {0, 4}, 10), Plan(0, 4, 4, {0, 8}, 10),
        Plan(0, 8, 2, {0, 10}, 10, true)}},
      {6,
       {.batch_size = 4, .last_batch = LastBatch::kPad},
       2,
       {Plan(0, 0, 4, {0, 4}, 6), Plan(0, 4, 2, {1, 0, 1}, 6),
        Plan(1, 0, 4, {1, 4, 1}, 6)}},
      {10,
       {.batch_size = 4, .last_batch = LastBatch::kDrop, .training = false},
       2,
       {Plan(0, 0, 4, {0, 4}, 10), Plan(0, 4, 4, {0, 8}, 10, true)}}};
  for (const Row& row : rows) {
    const BatchSequence sequence = Sequence(row.places, row.options);
    EXPECT_EQ(sequence.batches_per_epoch(), row.batches_per_epoch);
    EXPECT_EQ(Take(sequence, row.options.training ? 3 : 9), row.plans);
  }
}

TEST(BatchSequenceTest, FillsTheLastBatchUpFromTheEpochsBeginning) {
  const BatchSequence sequence =
      Sequence(6, {.batch_size = 4, .last_batch = LastBatch::kRepeat});
  EXPECT_EQ(sequence.batches_per_epoch(), 2);
  const std::vector<BatchPlan> plans = Take(sequence, 2);
  EXPECT_EQ(PlacesOf(plans), (EpochPlaces{0, 1, 2, 3, 4, 5, 0, 1}));
  EXPECT_EQ(plans[1].next, (StreamPosition{1, 0, 1}));
  // Another crop of the same record: it has a position of its own.
  EXPECT_EQ(plans[1].PositionOf(2), 6);
}

TEST(BatchSequenceTest, FillsABatchLargerThanTheData) {
  EXPECT_EQ(
      PlacesOf(Take(
          Sequence(3, {.batch_size = 8, .last_batch = LastBatch::kRepeat}), 1)),
      (EpochPlaces{0, 1, 2, 0, 1, 2, 0, 1}));
}

// Epoch, position and place of every slot.
std::vector<SamplePlace> SamplesOf(const std::vector<BatchPlan>& plans) {
  std::vector<SamplePlace> samples;
  for (const BatchPlan& plan : plans) {
    for (int slot = 0; slot < plan.samples; ++slot) {
      samples.push_back(plan.SampleOf(slot));
    }
  }
  return samples;
}

TEST(BatchSequenceTest, CarriesABatchIntoTheNextEpoch) {
  const InputOptions options{
      .batch_size = 4, .last_batch = LastBatch::kCarry, .repeat = 3};
  const std::vector<BatchPlan> plans = Take(Sequence(6, options), 99);
  EXPECT_EQ(plans[1].next, (StreamPosition{1, 2, 1}));
  std::vector<SamplePlace> samples;
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    for (std::int64_t position = 0; position < 6; ++position) {
      samples.push_back(
          {.epoch = epoch, .position = position, .place = position});
    }
  }
  samples.resize(16);  // Two of the last epoch do not fill a batch.
  EXPECT_EQ(SamplesOf(plans), samples);
  EXPECT_TRUE(plans.back().last);
}

// The rest of a stream that ended is used where more epochs follow.
TEST(BatchSequenceTest, CarriesTheRestOfAStreamIntoALongerOne) {
  InputOptions options{
      .batch_size = 4, .last_batch = LastBatch::kCarry, .repeat = 1};
  const StreamPosition end = Take(Sequence(6, options), 9).back().next;
  EXPECT_EQ(end, (StreamPosition{0, 4, 0}));
  options.repeat = 2;
  EXPECT_EQ(PlacesOf(Take(Sequence(6, options, end), 9)),
            (EpochPlaces{4, 5, 0, 1, 2, 3, 4, 5}));
}

TEST(BatchSequenceTest, RepeatsEachPlaceWithPositionsOfItsOwn) {
  const std::vector<BatchPlan> plans =
      Take(Sequence(8, {.batch_size = 4, .repeat_augment = 3}), 3);
  EXPECT_EQ(PlacesOf(plans), (EpochPlaces{0, 0, 0, 1, 1, 1, 2, 2, 0, 0, 0, 1}));
  EXPECT_EQ(plans[0].SampleOf(2), (SamplePlace{0, 2, 0}));
  EXPECT_EQ(plans[2].epoch, 1);
}

TEST(BatchSequenceTest, CarriesAndRepeatsTogether) {
  EXPECT_EQ(PlacesOf(Take(Sequence(5, {.batch_size = 4,
                                       .last_batch = LastBatch::kCarry,
                                       .repeat_augment = 2}),
                          3)),
            (EpochPlaces{0, 0, 1, 1, 2, 0, 0, 1, 1, 2, 0, 0}));
}

TEST(BatchSequenceTest, EndsAfterAsManyEpochsAsAskedFor) {
  EXPECT_THAT(Take(Sequence(4, {.batch_size = 4, .repeat = 2}), 9),
              ElementsAre(Plan(0, 0, 4, {1, 0, 1}, 4),
                          Plan(1, 0, 4, {1, 4, 1}, 4, true)));
  EXPECT_THAT(
      Take(Sequence(5, {.batch_size = 4, .training = false, .repeat = 2},
                    {.epoch = 1, .position = 4, .past_epochs = 1}),
           9),
      ElementsAre(Plan(1, 4, 1, {1, 5, 1}, 5, true)));
}

TEST(BatchSequenceTest, CountsEpochsFromWhereTheStreamBegins) {
  const InputOptions options{.batch_size = 4, .repeat = 2};
  EXPECT_THAT(Take(Sequence(4, options, {.epoch = 5}), 9),
              ElementsAre(Plan(5, 0, 4, {6, 0, 1}, 4),
                          Plan(6, 0, 4, {6, 4, 1}, 4, true)));
  // The rest of an epoch counts as one.
  EXPECT_THAT(
      Take(Sequence(8, options, {.epoch = 5, .position = 4}), 9),
      ElementsAre(Plan(5, 4, 4, {6, 0, 1}, 8), Plan(6, 0, 4, {6, 4, 1}, 8),
                  Plan(6, 4, 4, {6, 8, 1}, 8, true)));
}

TEST(BatchSequenceTest, StartsAtAnyBatchAndEndsAtTheEnd) {
  EXPECT_EQ(Take(Sequence(10, {.batch_size = 4}, {7, 4}), 1).front(),
            Plan(7, 4, 4, {8, 0, 1}, 10));
  EXPECT_EQ(Sequence(10, {.batch_size = 4}, {7, 8}).position(),
            (StreamPosition{8, 0, 1}));
  const InputOptions evaluation{.batch_size = 4, .training = false};
  EXPECT_TRUE(Take(Sequence(10, evaluation, {0, 10}), 1).empty());
  EXPECT_TRUE(Take(Sequence(10, evaluation, {1, 0, 1}), 1).empty());
}

TEST(BatchSequenceTest, GoesOnWhereMoreEpochsAreAskedForLater) {
  EXPECT_EQ(Take(Sequence(4, {.batch_size = 4, .repeat = 3},
                          {.epoch = 1, .position = 4, .past_epochs = 1}),
                 1)
                .front(),
            Plan(2, 0, 4, {2, 4, 2}, 4, true));
}

TEST(BatchSequenceTest, GivesARankItsPartOfEveryGlobalBatch) {
  InputOptions options{
      .batch_size = 6, .rank = 1, .world_size = 3, .training = false};
  EXPECT_THAT(Take(Sequence(9, options), 9),
              ElementsAre(Plan(0, 2, 2, {0, 6}, 9, false, 6),
                          Plan(0, 8, 1, {0, 9}, 9, true, 6)));
  options.rank = 2;
  EXPECT_THAT(Take(Sequence(9, options), 9),
              ElementsAre(Plan(0, 4, 2, {0, 6}, 9, false, 6),
                          Plan(0, 10, 0, {0, 9}, 9, true, 6)));
}

TEST(BatchSequenceTest, RefusesPlacesWhereNoBatchBegins) {
  const auto refusal = [](const StreamPosition& start,
                          const InputOptions& options = {.batch_size = 4}) {
    return MessageOf<UsageError>([&] { Sequence(10, options, start); });
  };
  EXPECT_THAT(refusal({0, 3}), HasSubstr("cannot start at position 3: give a "
                                         "multiple of batch_size 4"));
  EXPECT_THAT(refusal({0, 12}), HasSubstr("the epoch's end at 8"));
  EXPECT_THAT(refusal({0, -4}), HasSubstr("cannot start at position -4"));
  const InputOptions carried{.batch_size = 4,
                             .world_size = 2,
                             .rank_share = RankShare::kStrided,
                             .last_batch = LastBatch::kCarry};
  EXPECT_EQ(refusal({0, 6}, carried), "");
  EXPECT_THAT(refusal({0, 7}, carried),
              HasSubstr("cannot start at position 7: give a multiple of 2"));
}

TEST(BatchSequenceTest, RefusesAnEpochWithoutABatch) {
  const auto refusal = [](std::int64_t places, const InputOptions& options) {
    return MessageOf<UsageError>([&] { Sequence(places, options); });
  };
  EXPECT_THAT(refusal(0, {.training = false}),
              HasSubstr("the data set has no records"));
  EXPECT_THAT(refusal(3, {.batch_size = 4}),
              HasSubstr("batch_size is 4, but an epoch has only 3 records: no "
                        "batch would be full (last_batch drop"));
  EXPECT_THAT(refusal(1, {.batch_size = 4}),
              HasSubstr("an epoch has only 1 record: no batch"));
  EXPECT_THAT(refusal(3, {.batch_size = 4,
                          .world_size = 4,
                          .rank_share = RankShare::kStridedDrop,
                          .training = false}),
              HasSubstr("rank_share strided_drop"));
}

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

// No product may overflow.
TEST(EpochBatchesTest, FindsTheFirstBatchOfAnEpochThatIsFarAway) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const EpochBatches batches = {
      .batch_size = 1 << 30, .samples = kMost, .carries = true};
  // An epoch is one sample short of four batches.
  EXPECT_EQ(batches.FirstOf(0, {}), 0);
  EXPECT_EQ(batches.FirstOf(3, {}), 3);
  EXPECT_EQ(batches.FirstOf(kMost, {}), (1 << 30) - 1);
  EXPECT_EQ(batches.FirstOf(0, {.epoch = static_cast<std::uint32_t>(kMost)}),
            1);
}

// Expects of each plan of the stream that begins at `start` the one of PlanAt.
void ExpectPlans(std::int64_t places, const InputOptions& options,
                 const StreamPosition& start) {
  for (const BatchPlan& plan : Take(Sequence(places, options, start), 17)) {
    ASSERT_EQ(PlanAt(places, CheckedInputOptions(options), plan.epoch,
                     plan.number, start),
              plan)
        << places << " places, batch " << plan.number << " of " << plan.epoch;
  }
}

TEST(PlanAtTest, IsThePlanOfTheStream) {
  for (const std::int64_t places : {8, 10, 16, 21, 23}) {
    for (const auto& [share_name, share] : kRankShares) {
      for (const auto& [last_name, last] : kLastBatches) {
        for (const std::int64_t repeat : {0, 3}) {
          const InputOptions options = {
              .batch_size = 8,
              .rank = 1,
              .world_size = 2,
              .rank_share = share,
              .last_batch = last,
              .repeat = repeat,
              .repeat_augment = static_cast<int>(1 + repeat)};
          ExpectPlans(places, options, {});
          ExpectPlans(places, options, {.epoch = 5});
          if (last == LastBatch::kCarry) {
            ExpectPlans(places, options, {.epoch = 2, .position = 6});
          }
        }
      }
    }
  }
}

TEST(PlanAtTest, AnEvaluationHasTheSameBatchesInEachEpoch) {
  const InputOptions options =
      CheckedInputOptions({.batch_size = 4, .training = false});
  EXPECT_EQ(PlanAt(10, options, 0, 2), Plan(0, 8, 2, {0, 10}, 10, true));
  EXPECT_EQ(PlanAt(10, options, 7, 2), Plan(7, 8, 2, {7, 10}, 10, true));
}

TEST(PlanAtTest, RefusesABatchThatTheEpochDoesNotHave) {
  const auto refusal = [](const InputOptions& options, std::uint32_t epoch,
                          std::int64_t number) {
    return MessageOf<UsageError>(
        [&] { (void)PlanAt(10, CheckedInputOptions(options), epoch, number); });
  };
  InputOptions options = {.batch_size = 4};
  EXPECT_EQ(refusal(options, 7, 2),
            "epoch 7 has no batch 2: it has 2 batches, numbered from 0");
  EXPECT_NE(refusal(options, 7, -1), "");
  EXPECT_EQ(refusal(options, 7, 1), "");
  // Batches begin at 0, 4, 8 | 2, 6 | 0.
  options.last_batch = LastBatch::kCarry;
  EXPECT_EQ(refusal(options, 0, 2), "");
  EXPECT_THAT(refusal(options, 1, 2), HasSubstr("it has 2 batches"));
  options.repeat = 1;
  EXPECT_THAT(refusal(options, 0, 2), HasSubstr("it has 2 batches"));
}

}  // namespace infeed::batch_plan_test
