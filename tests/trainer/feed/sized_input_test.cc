#include "trainer/feed/sized_input.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/throws.h"

namespace infeed::sized_input_test {

const InputOptions kTraining{.batch_size = 4,
                             .preprocess = {.image_size = 99},  // Not used.
                             .seed = 7,
                             .on_bad_record = OnBadRecord::kFail,
                             .threads = 2};

// Ten records: two batches an epoch, and two records over.
const RecordIndex& Index() {
  static const TestShards kShards(TestPayloads(10));
  return kShards.index();
}

// The size of each of eight batches.
const std::vector<ImageSize> kSizes = {16,       16,       {24, 17}, {24, 17},
                                       {24, 17}, {24, 17}, 8,        8};

ImageSizeSchedule Schedule() { return {"1:24x17,3:8", 16}; }

std::vector<BatchCopy> Take(SizedInput& input, std::size_t count) {
  std::vector<BatchCopy> batches;
  for (std::size_t i = 0; i < count; ++i) {
    batches.push_back(CopyOf(*input.Next()));
  }
  return batches;
}

// The batch of an input that has this size from the start.
BatchCopy Expected(std::size_t number, const StreamPosition& start) {
  InputOptions options = kTraining;
  options.preprocess.image_size = kSizes[number];
  return Stream(Index(), options, 1, start).front();
}

TEST(SizedInputTest, HasTheSameSamplesInEverySize) {
  SizedInput input(&Index(), kTraining, Schedule());
  StreamPosition position;
  const std::vector<BatchCopy> batches = Take(input, kSizes.size());
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    EXPECT_EQ(batches[i], Expected(i, position)) << i;
    EXPECT_EQ(input.SizeAt(position), kSizes[i]);
    position = batches[i].next;
  }
}

TEST(SizedInputTest, GoesOnAnywhereAsIfNeverStopped) {
  SizedInput whole(&Index(), kTraining, Schedule());
  const std::vector<BatchCopy> expected = Take(whole, kSizes.size());
  for (std::size_t first = 1; first < kSizes.size(); ++first) {
    SizedInput resumed(&Index(), kTraining, Schedule(),
                       expected[first - 1].next);
    const std::vector<BatchCopy> rest = Take(resumed, kSizes.size() - first);
    EXPECT_TRUE(
        std::equal(rest.begin(), rest.end(),
                   expected.begin() + static_cast<std::ptrdiff_t>(first)))
        << first;
  }
}

TEST(SizedInputTest, KnowsHowLongASizeLasts) {
  const SizedInput input(&Index(), kTraining, Schedule());
  EXPECT_EQ(input.BatchesOfSameSize({.epoch = 0, .position = 0}), 2);
  EXPECT_EQ(input.BatchesOfSameSize({.epoch = 0, .position = 4}), 1);
  EXPECT_EQ(input.BatchesOfSameSize({.epoch = 1, .position = 0}), 4);
  EXPECT_EQ(input.BatchesOfSameSize({.epoch = 2, .position = 4}), 1);
  EXPECT_EQ(input.BatchesOfSameSize({.epoch = 3, .position = 0}),
            std::numeric_limits<std::int64_t>::max());
}

TEST(SizedInputTest, CountsWhatAllSizesDelivered) {
  SizedInput input(&Index(), kTraining, Schedule());
  Take(input, 5);
  const PipelineStats stats = input.stats();
  EXPECT_EQ(stats.batches, 5);
  EXPECT_EQ(stats.images, 20);
  EXPECT_GE(stats.stage("decode")->items, 20);
  EXPECT_GT(input.memory_bytes(), 0);
}

TEST(SizedInputTest, StopsForGood) {
  SizedInput input(&Index(), kTraining, Schedule());
  Take(input, 2);
  input.Stop();
  // The next batch would be of another size.
  EXPECT_EQ(input.Next(), nullptr);
}

TEST(SizedInputTest, RefusesFakeDataOnlyWhereTheSizeChanges) {
  EXPECT_THAT(
      MessageOf<UsageError>([] { SizedInput(nullptr, kTraining, Schedule()); }),
      HasSubstr("image_size_schedule: fake data has no epochs"));
  EXPECT_NO_THROW(SizedInput(nullptr, kTraining, ImageSizeSchedule("", 16)));
}

TEST(SizedInputTest, RefusesALaterSizeThatNeedsTooMuchMemory) {
  InputOptions options = kTraining;
  options.memory_limit = std::int64_t{512} << 20;
  EXPECT_THAT(MessageOf<UsageError>([&] {
                SizedInput(&Index(), options,
                           ImageSizeSchedule("0:16,5:8192", 16));
              }),
              HasSubstr("memory_limit"));
}

TEST(SizedInputTest, IsCheckedWithoutBeginning) {
  CheckSizedInput(&Index(), kTraining, Schedule(), {.position = 4}, true);
  EXPECT_THAT(
      MessageOf<UsageError>([] {
        CheckSizedInput(&Index(), kTraining, Schedule(), {.position = 3}, true);
      }),
      HasSubstr("cannot start at position 3: give a multiple of batch_size 4"));
  InputOptions small = kTraining;
  small.memory_limit = 1 << 20;
  const auto check = [&](bool memory) {
    CheckSizedInput(&Index(), small, Schedule(), {}, memory);
  };
  EXPECT_THAT(MessageOf<UsageError>([&] { check(true); }),
              HasSubstr("memory_limit is 1.0 MiB"));
  check(false);
}

}  // namespace infeed::sized_input_test
