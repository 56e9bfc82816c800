// The contract of the stream, end to end: its bytes are a function of data,
// seed and options, whatever the threads, ranks, resumes and processors.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/engine/input_pipeline.h"
#include "pipeline/options/option_text.h"
#include "pipeline/options/views.h"
#include "pipeline/order/selection.h"
#include "tests/support/each_target.h"
#include "tests/support/extra_feature.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed::input_order_test {

using Batches = std::vector<BatchCopy>;

constexpr int kRecords = 61;
constexpr int kBatchesAnEpoch = 7;  // of eight, and five records over

const RecordIndex& Index() {
  static const TestShards shards(TestPayloads(kRecords), 5);
  return shards.index();
}

// A batch, or a rank's part of one.
struct Part {
  std::uint32_t epoch;
  std::int64_t number;
  StreamPosition next;
  std::vector<std::int64_t> positions;
  std::vector<SlotCopy> slots;

  friend bool operator==(const Part&, const Part&) = default;
};

using Parts = std::vector<Part>;

Parts PartsOf(const RecordIndex& index, const InputOptions& options, int count,
              const StreamPosition& start = {}) {
  InputPipeline pipeline(index, options, start);
  Parts parts;
  while (std::ssize(parts) < count) {
    const BatchHandle batch = pipeline.Next();
    if (batch == nullptr) {
      break;
    }
    Part& part = parts.emplace_back(batch->epoch, batch->number, batch->next);
    part.positions = {batch->positions().begin(), batch->positions().end()};
    for (std::size_t slot = 0; slot < part.positions.size(); ++slot) {
      part.slots.push_back(SlotOf(*batch, slot));
    }
  }
  return parts;
}

// A global batch, from the parts of its ranks.
Part Joined(const std::vector<Parts>& ranks, std::size_t batch) {
  Part whole = ranks[0][batch];
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
    const Part& part = ranks[rank][batch];
    std::ranges::copy(part.positions, std::back_inserter(whole.positions));
    std::ranges::copy(part.slots, std::back_inserter(whole.slots));
  }
  return whole;
}

TEST(InputOrderTest, TheBatchesAreTheSameOnEverySimdTarget) {
  const InputOptions options = {
      .batch_size = 8, .preprocess = {.image_size = 16}, .seed = 3};
  const Batches best = Stream(Index(), options, 2 * kBatchesAnEpoch);
  OnEachSimdTarget(
      [&] { EXPECT_EQ(Stream(Index(), options, 2 * kBatchesAnEpoch), best); });
}

// Records 0..9 six times as often as the others, and nothing else but these.
std::shared_ptr<const Selection> TwoGroups() {
  return std::make_shared<const Selection>(std::vector<RecordGroup>{
      {.name = "few", .range = {0, 10}}, {.name = "many", .range = {20, 30}}});
}

// Record r has r % 3 more labels, r % 4 boxes with their labels, and a name;
// record 4 has no name.
std::vector<std::string> PayloadsWithAll() {
  std::vector<std::string> payloads = TestPayloads(kRecords);
  for (int record = 0; record < kRecords; ++record) {
    std::string& payload = payloads[static_cast<std::size_t>(record)];
    const auto boxes = static_cast<std::size_t>(record % 4);
    payload += ExtraInt64s("labels",
                           std::vector<std::int64_t>(
                               static_cast<std::size_t>(record % 3), record));
    if (record != 4) {
      payload += ExtraBytes("name", {"n" + std::to_string(record)});
    }
    if (boxes > 0) {
      const float left = static_cast<float>(record) / 128;
      payload += ExtraBoxes(
          std::vector<TestBox>(boxes, {left, 0.25F, left + 0.5F, 0.75F}),
          std::vector<std::int64_t>(boxes, record));
    }
  }
  return payloads;
}

// A large view and a small one.
InputOptions WithViews() {
  InputOptions options = {
      .preprocess = {.recipe = Recipe::kTorchvision, .image_size = 16}};
  for (const std::vector<OptionAssignment>& given :
       {std::vector<OptionAssignment>{
            {.name = "crop_scale", .value = "0.4", .place = ""}},
        {{.name = "image_size", .value = "9", .place = ""},
         {.name = "crop_scale_max", .value = "0.4", .place = ""},
         {.name = "hue", .value = "0.1", .place = ""}}}) {
    options.views.push_back(MakeView(options, given));
  }
  return options;
}

// A kind of stream, which is the same for any number of threads and ranks, with
// each graph, with a cache, and from each of its batches on.
struct StreamKind {
  const char* name;
  InputOptions options = {};
  bool is_plain = false;  // PlainStream() gives it, too
};

std::vector<StreamKind> StreamKinds() {
  return {
      {.name = "Training", .is_plain = true},
      {.name = "Window",
       .options = {.shuffle = Shuffle::kWindow,
                   .window_shards = 2,
                   .window_records = 12}},
      {.name = "Torch", .options = {.shuffle = Shuffle::kTorch}},
      // Two epochs, whose last batches are parts.
      {.name = "PaddedEvaluation", .options = {.training = false, .repeat = 2}},
      {.name = "FilledUpEvaluation",
       .options = {.last_batch = LastBatch::kRepeat,
                   .training = false,
                   .repeat = 2,
                   .shuffle = Shuffle::kGlobal}},
      {.name = "Augmented",
       .options = {.preprocess = {.augment = {.policy =
                                                  AugmentPolicy::kRandAugment,
                                              .brightness = 0.4F,
                                              .contrast = 0.4F,
                                              .saturation = 0.4F,
                                              .hue = 0.1F,
                                              .erasing = 0.5F}}},
       .is_plain = true},
      {.name = "Fields",
       .options = {.fields = {{.key = "labels", .kind = FeatureKind::kInt64},
                              {.key = "name", .kind = FeatureKind::kBytes}}}},
      {.name = "RgbBytes", .options = {.layout = BatchContent::kRgb}},
      {.name = "Views", .options = WithViews()},
      {.name = "Boxes",
       .options = {.preprocess = {.recipe = Recipe::kTorchvision},
                   .layout = BatchContent::kRgb,
                   .objects = ObjectsPreset("tf")}},
      {.name = "CropsByBoxes",
       .options = {.preprocess = {.recipe = Recipe::kFit,
                                  .crop = {.iou_crop = true}},
                   .objects = ObjectsPreset("tf")}},
      {.name = "FieldsWithoutImages",
       .options = {.layout = BatchContent::kNone,
                   .fields = {{.key = "labels",
                               .shape = std::vector<std::int64_t>{1},
                               .type = ItemType::kInt32,
                               .pad = std::string(4, '\7')},
                              {.key = "name", .kind = FeatureKind::kBytes}}}},
      {.name = "Selected", .options = {.selection = TwoGroups()}},
      // In these, batches cross the ends of epochs, or images are repeated.
      {.name = "Carried", .options = {.last_batch = LastBatch::kCarry}},
      {.name = "CarriedWindow",
       .options = {.last_batch = LastBatch::kCarry,
                   .shuffle = Shuffle::kWindow,
                   .window_shards = 2,
                   .window_records = 12}},
      {.name = "CarriedTorch",
       .options = {.last_batch = LastBatch::kCarry,
                   .shuffle = Shuffle::kTorch}},
      {.name = "Repeated", .options = {.repeat_augment = 3}},
      {.name = "CarriedRepeated",
       .options = {.last_batch = LastBatch::kCarry, .repeat_augment = 4}}};
}

class SameStreamTest : public ::testing::TestWithParam<StreamKind> {
 protected:
  static constexpr int kCount = 20;

  SameStreamTest() : options_(GetParam().options) {
    options_.batch_size = 8;
    options_.preprocess.image_size = 16;
    options_.seed = 5;
    options_.on_bad_record = OnBadRecord::kFail;
    options_.threads = 1;
    whole_ = Take();
    options_.threads = 4;
  }

  [[nodiscard]] Parts Take(int count = kCount,
                           const StreamPosition& start = {}) const {
    return PartsOf(shards_.index(), options_, count, start);
  }
  void ExpectRestAfter(std::size_t done) const {
    EXPECT_EQ(
        Take(kCount - static_cast<int>(done), whole_[done - 1].next),
        Parts(whole_.begin() + static_cast<std::ptrdiff_t>(done), whole_.end()))
        << done;
  }

  const TestShards shards_{PayloadsWithAll(), 5};
  InputOptions options_;
  Parts whole_;  // by one thread
};

INSTANTIATE_TEST_SUITE_P(Kinds, SameStreamTest,
                         ::testing::ValuesIn(StreamKinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(SameStreamTest, IsTheSameForAnyNumberOfThreads) {
  ASSERT_GE(whole_.size(), std::size_t{kBatchesAnEpoch});
  for (const int threads : {2, 3, 4, 8}) {
    options_.threads = threads;
    EXPECT_EQ(Take(), whole_) << threads << " threads";
  }
  options_.seek_index = SeekIndexes::kOff;
  EXPECT_EQ(Take(), whole_);
  if (GetParam().is_plain) {
    EXPECT_EQ(PlainStream(shards_.index(), options_, kCount),
              Stream(shards_.index(), options_, kCount));
  }
}

TEST_P(SameStreamTest, IsTheSameWithACacheAndInTheConsumersThread) {
  options_.use_cache = true;
  EXPECT_EQ(Take(), whole_);
  options_.graph = GraphKind::kBasic;
  EXPECT_EQ(Take(), whole_);
  options_.use_cache = false;
  EXPECT_EQ(Take(), whole_);
  ExpectRestAfter(3);
}

TEST_P(SameStreamTest, GoesOnAfterEachBatch) {
  for (std::size_t done = 1; done < whole_.size(); ++done) {
    ExpectRestAfter(done);
  }
}

TEST_P(SameStreamTest, IsOneStreamForAnyNumberOfRanks) {
  for (const int world_size : {2, 4}) {
    options_.world_size = world_size;
    std::vector<Parts> ranks;
    for (options_.rank = 0; options_.rank < world_size; ++options_.rank) {
      ranks.push_back(Take());
      ASSERT_EQ(ranks.back().size(), whole_.size());
    }
    for (std::size_t batch = 0; batch < whole_.size(); ++batch) {
      ASSERT_EQ(Joined(ranks, batch), whole_[batch]) << world_size << " ranks";
    }
  }
}

// Only the cuts between batches move where epochs end with a batch.
TEST_P(SameStreamTest, HasTheSamplesOfEpochsThatEndWithABatch) {
  options_.last_batch = LastBatch::kDrop;
  EXPECT_EQ(Take(6), Parts(whole_.begin(), whole_.begin() + 6));
}

TEST(RepeatedInputTest, CropsEachRepetitionAnew) {
  const Batches batches = Stream(
      Index(),
      {.batch_size = 8, .preprocess = {.image_size = 16}, .repeat_augment = 4},
      1);
  const BatchCopy& batch = batches.front();
  EXPECT_EQ(batch.records[0], batch.records[3]);
  EXPECT_NE(batch.records[0], batch.records[4]);
  const auto first = batch.pixels.begin();
  constexpr std::ptrdiff_t kImage = 16 * 16;
  EXPECT_FALSE(std::equal(first, first + kImage, first + kImage));
}

TEST(CarriedInputTest, DrawsAsTheNextEpochWouldAtItsBeginning) {
  InputOptions options{.batch_size = 8,
                       .last_batch = LastBatch::kCarry,
                       .preprocess = {.image_size = 16},
                       .seed = 2};
  const BatchCopy carried = Stream(Index(), options, 8).back();
  EXPECT_EQ(carried.epoch, 0U);
  EXPECT_THAT(carried.positions,
              ::testing::ElementsAre(56, 57, 58, 59, 60, 61, 62, 63));
  EXPECT_EQ(carried.next, (StreamPosition{1, 3, 1}));
  const BatchCopy next = Stream(Index(), options, 1, {.epoch = 1}).front();
  constexpr std::ptrdiff_t kImages = 3 * 16 * 16;
  EXPECT_TRUE(std::equal(next.records.begin(), next.records.begin() + 3,
                         carried.records.begin() + 5));
  EXPECT_TRUE(std::equal(next.pixels.begin(), next.pixels.begin() + kImages,
                         carried.pixels.end() - kImages));
}

TEST(SelectedInputTest, ReplacesBadRecordsBySelectedOnes) {
  TestShards shards(TestPayloads(kRecords), 5);
  for (std::int64_t record = 0; record < 9; ++record) {
    shards.Damage(record);
  }
  const InputOptions options = {
      .batch_size = 8,
      .preprocess = {.image_size = 16},
      .seed = 4,
      .on_bad_record = OnBadRecord::kReplace,
      .selection = std::make_shared<const Selection>(
          std::vector<RecordGroup>{{.name = "few", .range = {0, 16}}}),
      .threads = 3};
  InputPipeline pipeline(shards.index(), options);
  EXPECT_THAT(
      LabelsOf(TakeBatches(pipeline, 8)),
      ::testing::Each(::testing::AllOf(::testing::Ge(9), ::testing::Lt(16))));
  EXPECT_GE(pipeline.stats().bad_records, 9);
}

}  // namespace infeed::input_order_test
