
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
#include "trainer/feed/infeed.h"
#include "trainer/feed/run_input.h"

namespace infeed {
namespace {

using ::testing::Ge;
using ::testing::Lt;
using ::testing::Ne;

const InputOptions kTraining{.batch_size = 8,
                             .preprocess = {.image_size = 16},
                             .num_label_classes = 10,
                             .batches_in_pool = 4};

TEST(FakeDataTest, NullOrNothingSelectsFakeData) {
  EXPECT_TRUE(IsFakeData("null"));
  EXPECT_TRUE(IsFakeData(""));
  EXPECT_FALSE(IsFakeData("null/"));
}

std::vector<std::uint32_t> PixelsOf(const Batch& batch) {
  return {batch.pixels().begin(), batch.pixels().end()};
}

TEST(FakeDataTest, GivesTheSameBatchForEver) {
  const std::unique_ptr<BatchStream> data = OpenInput(nullptr, kTraining);
  const std::vector<std::uint32_t> pixels =
      PixelsOf(*OpenInput(nullptr, kTraining)->Next());
  for (std::int64_t i = 1; i <= 9; ++i) {
    const BatchHandle batch = data->Next();
    ASSERT_NE(batch, nullptr);
    EXPECT_EQ(PixelsOf(*batch), pixels);
    EXPECT_THAT(batch->labels(), Each(AllOf(Ge(0), Lt(10))));
    EXPECT_THAT(batch->weights(), Each(1.0F));
    EXPECT_EQ(batch->next, (StreamPosition{.position = 8 * i}));
  }
  EXPECT_EQ(data->stats().images, 72);
}

// Uniform bytes have mean 127.5; of 6,144 the mean has deviation 0.94.
TEST(FakeDataTest, PixelsAndLabelsAreRandom) {
  InputOptions options = kTraining;
  const std::unique_ptr<BatchStream> data = OpenInput(nullptr, options);
  const BatchHandle batch = data->Next();
  double sum = 0;
  for (const std::uint32_t pixel : batch->pixels()) {
    EXPECT_EQ(pixel & 255U, 0U);
    sum += (pixel >> 24) + (pixel >> 16 & 255U) + (pixel >> 8 & 255U);
  }
  EXPECT_NEAR(sum / static_cast<double>(3 * batch->pixels().size()), 127.5, 5);
  EXPECT_THAT(batch->labels(), Contains(Ne(batch->labels()[0])));
  options.seed = 1;
  EXPECT_NE(PixelsOf(*OpenInput(nullptr, options)->Next()), PixelsOf(*batch));
}

TEST(FakeDataTest, RanksHaveTheirPartsOfTheBatch) {
  const std::vector<std::uint32_t> all =
      PixelsOf(*OpenInput(nullptr, kTraining)->Next());
  std::vector<std::uint32_t> parts;
  for (int rank = 0; rank < 2; ++rank) {
    InputOptions options = kTraining;
    options.rank = rank;
    options.world_size = 2;
    std::ranges::copy(PixelsOf(*OpenInput(nullptr, options)->Next()),
                      std::back_inserter(parts));
  }
  EXPECT_EQ(parts, all);
}

TEST(FakeDataTest, EndsAnEvaluation) {
  InputOptions options = kTraining;
  options.training = false;
  options.max_records = 24;
  Infeed infeed(OpenInput(nullptr, options), 8, 16);
  int batches = 0;
  while (infeed.Next()) {
    ++batches;
  }
  EXPECT_EQ(batches, 3);
}

TEST(FakeDataTest, GoesOnWhereItIsToldWithinTheMemoryLimit) {
  const std::unique_ptr<BatchStream> data =
      OpenInput(nullptr, kTraining, {.position = 80});
  EXPECT_EQ(data->position().position, 80);
  EXPECT_EQ(data->Next()->next.position, 88);
  EXPECT_LE(data->memory_bytes(), 64 << 10);
  InputOptions options = kTraining;
  options.memory_limit = 1000;
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)OpenInput(nullptr, options); }),
              HasSubstr("memory_limit is 1000 bytes"));
}

}  // namespace
}  // namespace infeed
