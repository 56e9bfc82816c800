#include "trainer/feed/window_images.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "pipeline/engine/input_pipeline.h"
#include "records/example/imagenet_example.h"
#include "tests/support/packed_payload.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "trainer/feed/run_input.h"
#include "trainer/feed/sized_input.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

constexpr int kRecords = 43;
constexpr int kBatches = 12;
const InputOptions kTraining{
    .batch_size = 8, .image_size = 32, .seed = 7, .threads = 2};

const RecordIndex& Index() {
  static const TestShards shards(TestPayloads(kRecords), 3);
  return shards.index();
}

// A batch with the images of its windows.
BatchCopy Resized(const Batch& batch) {
  BatchCopy copy = CopyOf(batch);
  const std::size_t image =
      static_cast<std::size_t>(batch.image_size()) * batch.image_size();
  copy.pixels.assign(image * static_cast<std::size_t>(batch.size()), 1);
  for (int slot = 0; slot < batch.size(); ++slot) {
    ResizeSlot(batch, slot,
               std::span(copy.pixels)
                   .subspan(static_cast<std::size_t>(slot) * image, image));
  }
  return copy;
}

InputOptions WithWindows(InputOptions options) {
  options.device_resize = true;
  return options;
}

// How many slots have a window, and how many the image itself.
struct Slots {
  int windows = 0;
  int images = 0;
};

Slots ExpectTheSameImages(const RecordIndex& index, const InputOptions& options,
                          const StreamPosition& start = {}) {
  const std::vector<BatchCopy> expected =
      Stream(index, options, kBatches, start);
  InputPipeline pipeline(index, WithWindows(options), start);
  Slots slots;
  for (const BatchCopy& batch : expected) {
    const BatchHandle windows = pipeline.Next();
    EXPECT_EQ(windows->content(), BatchContent::kWindows);
    EXPECT_EQ(Resized(*windows), batch);
    for (const ResizeWindow& window : windows->windows()->windows()) {
      const bool is_image = window.width == options.image_size &&
                            window.height == options.image_size;
      ++(is_image ? slots.images : slots.windows);
    }
  }
  return slots;
}

TEST(WindowImagesTest, AreThoseOfTheInputItselfForAnyThreads) {
  for (const int threads : {1, 2, 5}) {
    InputOptions options = kTraining;
    options.threads = threads;
    EXPECT_EQ(ExpectTheSameImages(Index(), options).images, 0);
  }
  InputOptions options = kTraining;
  options.graph = GraphKind::kBasic;
  ExpectTheSameImages(Index(), options);
}

TEST(WindowImagesTest, AreTheSameWhereverTheyAreResized) {
  InputOptions options = kTraining;
  options.recipe = Recipe::kPlain;  // 48 x 40 pixels or so, of 16 x 16
  options.image_size = 16;
  const Slots slots = ExpectTheSameImages(Index(), options);
  EXPECT_GT(slots.windows, 0);
  EXPECT_GT(slots.images, 0);
  options.image_size = 8;
  EXPECT_EQ(ExpectTheSameImages(Index(), options).windows, 0);
}

TEST(WindowImagesTest, AreTheSameOfAnyRecipeWithFourTaps) {
  InputOptions options = kTraining;
  options.interpolation = Interpolation::kBilinear;
  ExpectTheSameImages(Index(), options);
  options.recipe = Recipe::kTorchvision;
  ExpectTheSameImages(Index(), options);
  options.training = false;
  ExpectTheSameImages(Index(), options);
  options = kTraining;
  options.image_size = 12;
  options.scaled_decode = true;
  ExpectTheSameImages(Index(), options);
}

TEST(WindowImagesTest, AreTheSameOfRanksAndFromTheMiddle) {
  InputOptions options = kTraining;
  options.world_size = 2;
  options.rank = 1;
  const std::vector<BatchCopy> batches = Stream(Index(), options, 3);
  ExpectTheSameImages(Index(), options, batches.back().next);
}

TEST(WindowImagesTest, AreBlackWhereThereIsNone) {
  InputOptions options = kTraining;
  options.last_batch = LastBatch::kPad;
  ExpectTheSameImages(Index(), options);
}

TEST(WindowImagesTest, AreTheSameForBadRecords) {
  std::vector<std::string> payloads = TestPayloads(kRecords);
  payloads[9] = PayloadWithImage("no image", 9);
  // Such a one has its window when it is found out.
  for (const std::size_t record : {3, 20, 31}) {
    const std::string whole = payloads[record];
    const ImagenetExampleView example =
        ParseImagenetExample(std::as_bytes(std::span(whole)));
    const auto half = example.encoded.first(example.encoded.size() / 2);
    payloads[record] = PayloadWithImage(
        {reinterpret_cast<const char*>(half.data()), half.size()},
        example.label);
  }
  TestShards shards(payloads, 3);
  shards.Damage(17);
  for (const OnBadRecord policy : {OnBadRecord::kReplace, OnBadRecord::kSkip}) {
    InputOptions options = kTraining;
    options.on_bad_record = policy;
    ExpectTheSameImages(shards.index(), options);
  }
}

TEST(WindowImagesTest, OfPackedRecordsAreTheImagesThemselves) {
  std::vector<std::string> payloads;
  payloads.reserve(20);
  for (int label = 0; label < 20; ++label) {
    payloads.push_back(PackedPayload(label, kTraining.image_size));
  }
  const TestShards shards(payloads);
  EXPECT_EQ(ExpectTheSameImages(shards.index(), kTraining).windows, 0);
}

TEST(WindowImagesTest, FollowAScheduleOfSizes) {
  const ImageSizeSchedule sizes("1:24,2:12", 32);
  SizedInput images(&Index(), kTraining, sizes);
  SizedInput windows(&Index(), WithWindows(kTraining), sizes);
  for (int i = 0; i < 14; ++i) {
    EXPECT_EQ(Resized(*windows.Next()), CopyOf(*images.Next())) << i;
  }
}

// Fake data have nothing to resize.
TEST(WindowImagesTest, AreNotMadeOfFakeData) {
  const std::unique_ptr<BatchStream> input =
      OpenInput(nullptr, WithWindows(kTraining));
  EXPECT_EQ(input->Next()->content(), BatchContent::kPixels);
}

}  // namespace
}  // namespace infeed
