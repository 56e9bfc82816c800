#include "trainer/replay/step_place.h"

#include <optional>
#include <vector>

#include "base/error.h"
#include "pipeline/order/batch_plan.h"

#include "gtest/gtest.h"

namespace infeed::step_place_test {

constexpr int kSteps = 60;

struct PlaceCase {
  std::int64_t places;
  InputOptions options;
};

InputOptions Of(int batch_size, LastBatch last_batch, int world_size = 1,
                RankShare share = RankShare::kContiguous) {
  return CheckedInputOptions({.batch_size = batch_size,
                              .world_size = world_size,
                              .rank_share = share,
                              .last_batch = last_batch});
}

std::vector<PlaceCase> Cases() {
  return {{22, Of(4, LastBatch::kDrop)},
          {22, Of(4, LastBatch::kPad)},
          {22, Of(4, LastBatch::kRepeat)},
          {22, Of(4, LastBatch::kCarry)},
          {20, Of(4, LastBatch::kCarry)},
          {23, Of(8, LastBatch::kDrop, 4, RankShare::kStrided)},
          {23, Of(8, LastBatch::kDrop, 4, RankShare::kStridedDrop)},
          {23, Of(8, LastBatch::kCarry, 4, RankShare::kStrided)}};
}

// Where a stream's batches begin, in the order in which steps take them.
struct Walk {
  explicit Walk(const PlaceCase& given) {
    BatchSequence sequence(given.places, given.options, {});
    for (int step = 1; step <= kSteps; ++step) {
      const StreamPosition begin = sequence.position();
      const std::optional<BatchPlan> plan = sequence.Next();
      begins.push_back(begin);
      places.push_back({.step = step,
                        .epoch = plan->epoch,
                        .number = plan->number,
                        .begin = begin});
    }
  }
  std::vector<StreamPosition> begins;
  std::vector<StepPlace> places;
};

TEST(StepPlaceTest, IsThatOfTheStreamFromItsBeginning) {
  for (const PlaceCase& given : Cases()) {
    const Walk walk(given);
    const EpochBatches batches = EpochBatchesOf(given.places, given.options);
    for (int step = 1; step <= kSteps; ++step) {
      EXPECT_EQ(PlaceOfStep(step, batches),
                walk.places[static_cast<std::size_t>(step - 1)])
          << given.places << " places, step " << step;
    }
  }
}

TEST(StepPlaceTest, IsTheSameFromAnyPlaceBeforeOrAfterIt) {
  for (const PlaceCase& given : Cases()) {
    const Walk walk(given);
    const EpochBatches batches = EpochBatchesOf(given.places, given.options);
    for (std::size_t known = 0; known < kSteps; known += 7) {
      for (int step = 1; step <= kSteps; ++step) {
        EXPECT_EQ(PlaceOfStep(step, batches,
                              {.step = static_cast<std::int64_t>(known),
                               .stream = walk.begins[known]}),
                  walk.places[static_cast<std::size_t>(step - 1)])
            << given.places << " places, step " << step << " from " << known;
      }
    }
  }
}

// A run that --force resumed from another run's checkpoint.
TEST(StepPlaceTest, FollowsARecordedPlaceThatIsNotOfTheStepsNumber) {
  const EpochBatches batches = EpochBatchesOf(22, Of(4, LastBatch::kDrop));
  const StepPlace place = PlaceOfStep(
      102, batches, {.step = 100, .stream = {.epoch = 3, .position = 16}});
  EXPECT_EQ(place.epoch, 4U);
  EXPECT_EQ(place.number, 0);
}

TEST(StepPlaceTest, RefusesAStepBeforeTheStream) {
  const EpochBatches batches = EpochBatchesOf(22, Of(4, LastBatch::kDrop));
  EXPECT_THROW((void)PlaceOfStep(1, batches, {.step = 9, .stream = {}}),
               DataError);
}

// Less data than a run had, which has not recorded its data's identity.
TEST(StepPlaceTest, RefusesDataWithoutABatch) {
  EXPECT_THROW((void)PlaceOfStep(1, EpochBatchesOf(3, Of(4, LastBatch::kDrop))),
               DataError);
}

}  // namespace infeed::step_place_test
