// Batches of RGB bytes are the batches of words, unpacked.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pipeline/engine/input_pipeline.h"
#include "pipeline/reading/memory_plan.h"
#include "tests/support/matchers.h"
#include "tests/support/packed_payload.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"

namespace infeed::input_pipeline_rgb_test {

constexpr int kBatches = 7;  // Over an end of an epoch.

InputOptions Options(Recipe recipe = Recipe::kTpu) {
  return {.batch_size = 4,
          // Slots begin at any byte.
          .preprocess = {.recipe = recipe, .image_size = 19},
          .seed = 7,
          .on_bad_record = OnBadRecord::kFail,
          .threads = 2};
}

InputOptions WithRgb(InputOptions options) {
  options.layout = BatchContent::kRgb;
  return options;
}

// The RGB bytes that belong to a stream of words.
std::vector<BatchCopy> Unpacked(std::vector<BatchCopy> batches) {
  for (BatchCopy& batch : batches) {
    for (const std::uint32_t pixel : batch.pixels) {
      for (const int shift : {24, 16, 8}) {
        batch.rgb.push_back(static_cast<std::uint8_t>(pixel >> shift));
      }
    }
    batch.pixels.clear();
  }
  return batches;
}

void ExpectSameImages(const InputOptions& options,
                      const RecordIndex& index = SharedIndex()) {
  const std::vector<BatchCopy> words = Stream(index, options, kBatches);
  EXPECT_EQ(Stream(index, WithRgb(options), kBatches), Unpacked(words));
}

TEST(InputPipelineRgbTest, HasTheImagesOfWordsInEachRecipe) {
  for (const auto& [name, recipe] : kRecipes) {
    for (const ImageSize size : {ImageSize(19), ImageSize(19, 34)}) {
      for (const bool training : {true, false}) {
        SCOPED_TRACE(std::string(name) + (training ? " training" : ""));
        InputOptions options = Options(recipe);
        options.preprocess.image_size = size;
        options.training = training;
        ExpectSameImages(options);
      }
    }
  }
}

TEST(InputPipelineRgbTest, HasTheImagesOfWordsOfEachPath) {
  InputOptions options = Options();
  options.preprocess.augment = {.policy = AugmentPolicy::kRandAugment,
                                .erasing = 0.5F};
  ExpectSameImages(options);
  options = Options();
  options.use_cache = true;
  ExpectSameImages(options);
  options.graph = GraphKind::kBasic;
  ExpectSameImages(options);
}

TEST(InputPipelineRgbTest, HasTheImagesOfPackedRecords) {
  for (const ImageSize size : {ImageSize(19), ImageSize(12, 17)}) {
    std::vector<std::string> payloads;
    for (int label = 0; label < 22; ++label) {
      payloads.push_back(PackedPayload(label, size));
    }
    const TestShards shards(payloads);
    for (const Recipe recipe : {Recipe::kPlain, Recipe::kCifar}) {
      InputOptions options = Options(recipe);
      options.preprocess.image_size = size;
      ExpectSameImages(options, shards.index());
    }
  }
}

// Padding, and the slots of bad records.
TEST(InputPipelineRgbTest, EmptySlotsAreThoseOfWordsAndBlack) {
  TestShards shards(TestPayloads(22));
  shards.Damage(3);
  InputOptions options = Options();
  for (const OnBadRecord action : {OnBadRecord::kReplace, OnBadRecord::kSkip}) {
    options.on_bad_record = action;
    ExpectSameImages(options, shards.index());
  }
  options.training = false;
  ExpectSameImages(options, shards.index());
  const std::vector<BatchCopy> batches =
      Stream(shards.index(), WithRgb(options), 6);
  EXPECT_THAT(batches.front().weights, ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(batches.back().weights, ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(std::span(batches.front().rgb).last(3 * 19 * 19), Each(0));
  EXPECT_THAT(std::span(batches.back().rgb).last(2 * 3 * 19 * 19), Each(0));
}

TEST(InputPipelineRgbTest, CountsItsBytesAndItsMemory) {
  InputOptions options = WithRgb(Options());
  options.repeat = 1;
  InputPipeline pipeline(SharedIndex(), options);
  (void)TakeBatches(pipeline, 100);
  const std::int64_t slot = std::int64_t{3} * 19 * 19;
  const std::vector<StageStats> stages = pipeline.stats().stages;
  ASSERT_EQ(stages.size(), 5U);
  EXPECT_EQ(stages[3].bytes, 20 * slot) << stages[3].name;
  EXPECT_EQ(
      pipeline.memory().batches,
      3 * Batch::MemoryBytes(
              {.size = 4, .image_size = 19, .content = BatchContent::kRgb}));
}

TEST(InputPipelineRgbTest, GoesOnWithTheStateOfWords) {
  InputPipeline words(SharedIndex(), Options());
  InputPipeline rgb(SharedIndex(), WithRgb(Options()));
  (void)words.Next();
  (void)rgb.Next();
  EXPECT_EQ(rgb.State(), words.State());
}

}  // namespace infeed::input_pipeline_rgb_test
