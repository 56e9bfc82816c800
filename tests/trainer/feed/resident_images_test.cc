#include "trainer/feed/resident_images.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "pipeline/memory/image_choice.h"
#include "tests/support/matchers.h"
#include "tests/support/packed_payload.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"

namespace infeed::resident_images_test {

constexpr int kSide = 12;
constexpr int kRecords = 43;
constexpr int kBatches = 25;
const InputOptions kTraining{.batch_size = 8,
                             .preprocess = {.image_size = kSide},
                             .seed = 7,
                             .threads = 2};

std::vector<std::string> PackedPayloads() {
  std::vector<std::string> payloads;
  for (int label = 0; label < kRecords; ++label) {
    payloads.push_back(PackedPayload(label, kSide));
  }
  return payloads;
}

const RecordIndex& Index() {
  static const TestShards kShards(PackedPayloads(), 3);
  return kShards.index();
}

// The batches of an order, with the images that it chooses.
std::vector<BatchCopy> Chosen(const InputOptions& options, int count,
                              const StreamPosition& start = {}) {
  ResidentImages images(ComputeResidentShape(Index(), options));
  const HeldRecords held = ReadResidentImages(
      Index(), options, [&](const Batch& batch) { images.Append(batch); });
  ResidentOrder order(Index(), options, start, held);
  std::vector<BatchCopy> batches;
  while (count-- > 0) {
    const BatchHandle choices = order.Next();
    if (!choices) {
      break;
    }
    Batch batch({.size = choices->size(), .image_size = choices->image_size()});
    images.Gather(*choices, batch);
    batches.push_back(CopyOf(batch));
  }
  return batches;
}

void ExpectThePipelinesBatches(const InputOptions& options) {
  const std::vector<BatchCopy> expected = Stream(Index(), options, kBatches);
  EXPECT_EQ(Chosen(options, kBatches), expected);
  const StreamPosition middle = expected.at(expected.size() / 2).next;
  EXPECT_EQ(Chosen(options, kBatches, middle),
            Stream(Index(), options, kBatches, middle));
}

TEST(ResidentOrderTest, ChoosesThePipelinesBatchesInEveryOrder) {
  for (const Shuffle shuffle :
       {Shuffle::kNone, Shuffle::kGlobal, Shuffle::kWindow, Shuffle::kTorch}) {
    InputOptions options = kTraining;
    options.shuffle = shuffle;
    if (shuffle == Shuffle::kWindow) {
      options.window_shards = 2;
      options.window_records = 8;
    }
    SCOPED_TRACE(ChoiceName(shuffle, kShuffles));
    ExpectThePipelinesBatches(options);
  }
}

// Of the pipeline's batches, and of the same batches from held images.
void ExpectThePipelinesFingerprints(const InputOptions& options) {
  const HeldRecords held =
      ReadResidentImages(Index(), options, [](const Batch&) {});
  InputPipeline pipeline(Index(), options);
  ResidentOrder order(Index(), options, {}, held);
  for (int i = 0; i < kBatches; ++i) {
    const BatchHandle expected = pipeline.Next();
    const BatchHandle batch = order.Next();
    ASSERT_EQ(batch == nullptr, expected == nullptr);
    if (batch == nullptr) {
      break;
    }
    EXPECT_NE(batch->fingerprint(), 0U);
    EXPECT_THAT(batch->fingerprints(),
                ::testing::ElementsAreArray(expected->fingerprints()));
  }
}

TEST(ResidentOrderTest, HasThePipelinesFingerprints) {
  ExpectThePipelinesFingerprints(kTraining);
  InputOptions options = kTraining;
  options.last_batch = LastBatch::kPad;
  options.world_size = 2;
  options.rank = 1;
  options.repeat = 2;
  options.max_records = 30;
  ExpectThePipelinesFingerprints(options);
  options.last_batch = LastBatch::kCarry;
  options.preprocess.random_flip = false;
  ExpectThePipelinesFingerprints(options);
}

TEST(ResidentOrderTest, EndsEpochsAsThePipelineDoes) {
  for (const LastBatch last :
       {LastBatch::kDrop, LastBatch::kPad, LastBatch::kRepeat}) {
    InputOptions options = kTraining;
    options.last_batch = last;
    options.repeat = 2;
    SCOPED_TRACE(ChoiceName(last, kLastBatches));
    ExpectThePipelinesBatches(options);
  }
}

TEST(ResidentOrderTest, MirrorsWhereThePipelineDoes) {
  InputOptions options = kTraining;
  options.preprocess.random_flip = false;
  ExpectThePipelinesBatches(options);
  options.preprocess.random_flip = true;
  options.preprocess.recipe = Recipe::kPlain;
  ExpectThePipelinesBatches(options);
  options.preprocess.recipe = Recipe::kTorchvision;
  ExpectThePipelinesBatches(options);
  const std::vector<BatchCopy> mirrored = Chosen(options, 1);
  options.preprocess.random_flip = false;
  EXPECT_NE(mirrored, Chosen(options, 1));
}

TEST(ResidentOrderTest, TakesARanksShareAndTheFirstRecords) {
  InputOptions options = kTraining;
  options.world_size = 2;
  options.rank = 1;
  ExpectThePipelinesBatches(options);
  options = kTraining;
  options.max_records = 20;
  EXPECT_EQ(ComputeResidentShape(Index(), options).images, 20);
  ExpectThePipelinesBatches(options);
}

TEST(ResidentOrderTest, CountsAndStops) {
  InputOptions options = kTraining;
  options.last_batch = LastBatch::kPad;
  ResidentOrder order(Index(), options);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(order.Next()->content(), BatchContent::kChoices);
  }
  EXPECT_EQ(order.stats().batches, 6);
  EXPECT_EQ(order.stats().images, kRecords);
  EXPECT_EQ(order.position().epoch, 1U);
  order.Stop();
  EXPECT_EQ(order.Next(), nullptr);
}

TEST(ResidentOrderTest, RefusesWhatDrawsMoreThanAMirror) {
  InputOptions options = kTraining;
  options.preprocess.recipe = Recipe::kCifar;
  EXPECT_THAT([&] { ResidentOrder(Index(), options); },
              ThrowsMessage<UsageError>(HasSubstr("recipe=cifar")));
  options = kTraining;
  options.preprocess.augment.erasing = 0.5;
  EXPECT_THAT([&] { ResidentOrder(Index(), options); },
              ThrowsMessage<UsageError>(HasSubstr("random_erasing")));
}

TEST(ResidentImagesTest, RefusesBadRecordsAndThoseThatAreDecoded) {
  const auto read = [](const RecordIndex& index) {
    (void)ReadResidentImages(index, kTraining, [](const Batch&) {});
  };
  const TestShards jpegs(TestPayloads(5));
  EXPECT_THAT([&] { read(jpegs.index()); },
              ThrowsMessage<UsageError>(HasSubstr("image/packed")));
  TestShards shards(PackedPayloads(), 3);
  shards.Damage(17);
  EXPECT_THROW(read(shards.index()), DataError);
}

TEST(ImageChoiceTest, FindsAMirroredImagesPixels) {
  const std::uint32_t choice = ImageChoice(kMaxHeldImages - 1, true);
  EXPECT_NE(choice, kNoImage);
  EXPECT_EQ(ChosenImage(choice), kMaxHeldImages - 1);
  EXPECT_EQ(ChosenPixel(ImageChoice(2, false), 7, 3, 3), 2 * 9 + 7);
  // Row 2: 6 7 8 becomes 8 7 6.
  EXPECT_EQ(ChosenPixel(ImageChoice(2, true), 6, 3, 3), 2 * 9 + 8);
  EXPECT_EQ(ChosenPixel(ImageChoice(2, true), 7, 3, 3), 2 * 9 + 7);
  // Four rows of three.
  EXPECT_EQ(ChosenPixel(ImageChoice(2, true), 9, 4, 3), 2 * 12 + 11);
}

}  // namespace infeed::resident_images_test
