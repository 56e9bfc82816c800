// Random access to a stream's batches: BatchLookup, InputPipeline::BatchAt().

#include "pipeline/engine/batch_lookup.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/options/option_text.h"
#include "pipeline/options/views.h"
#include "pipeline/order/selection.h"
#include "preprocess/augment/steps.h"
#include "records/tfrecord/compression.h"
#include "records/tfrecord/writer.h"
#include "tests/support/extra_feature.h"
#include "tests/support/grey_png.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed::batch_lookup_test {

constexpr char kMask[] = "image/mask";
constexpr char kLabels[] = "image/labels";

struct LookupCase {
  std::string name;
  InputOptions options;
  StreamPosition start = {};
  const RecordIndex* index = &SharedIndex();
};

// SharedIndex()'s records, each with a mask, a box, and up to two labels.
const RecordIndex& TargetsIndex() {
  static const TestShards shards([] {
    std::vector<std::string> payloads = TestPayloads(22);
    for (std::size_t i = 0; i < payloads.size(); ++i) {
      const auto number = static_cast<int>(i);
      const ImageSize size(36 + number % 5, 40 + number % 7);
      std::vector<std::uint8_t> mask(size.pixels());
      std::iota(mask.begin(), mask.end(), static_cast<std::uint8_t>(number));
      const std::vector<std::int64_t> labels = {number + 1, number + 2};
      payloads[i] +=
          ExtraBytes(kMask, {GreyPng(size, mask)}) + ExtraBox() +
          ExtraInt64s(kLabels, {labels.begin(), labels.begin() + number % 3});
    }
    return payloads;
  }());
  return shards.index();
}

InputOptions Training(Recipe recipe, Shuffle shuffle, LastBatch last_batch) {
  InputOptions options = SmallTraining();
  options.preprocess.recipe = recipe;
  options.shuffle = shuffle;
  options.last_batch = last_batch;
  return options;
}

InputOptions Augmented() {
  InputOptions options =
      Training(Recipe::kTorchvision, Shuffle::kGlobal, LastBatch::kDrop);
  options.preprocess.augment = {.policy = AugmentPolicy::kRandAugment,
                                .brightness = 0.4F,
                                .vertical_flip = true,
                                .erasing = 0.5F};
  return options;
}

// A part of every batch.
InputOptions OfRank(int rank, RankShare share, InputOptions options) {
  options.rank = rank;
  options.world_size = 2;
  options.rank_share = share;
  return options;
}

InputOptions Selected(std::vector<RecordGroup> groups, std::int64_t places) {
  InputOptions options = SmallTraining();
  options.selection =
      std::make_shared<const Selection>(std::move(groups), places);
  return options;
}

// Each recipe with each treatment of an epoch's end; other options alternate,
// the size as in a training whose images change from epoch to epoch.
std::vector<LookupCase> RecipeCases() {
  const std::array<ImageSize, 3> sizes = {ImageSize(12), ImageSize(16),
                                          ImageSize(20, 24)};
  std::vector<LookupCase> cases;
  for (const auto& [recipe_name, recipe] : kRecipes) {
    for (const auto& [end, last_batch] : kLastBatches) {
      const auto i = static_cast<std::uint32_t>(cases.size());
      InputOptions options = Training(
          recipe, i % 2 == 0 ? Shuffle::kGlobal : Shuffle::kTorch, last_batch);
      options.preprocess.image_size = sizes[i % 3];
      options.repeat_augment = 1 + static_cast<int>(i % 3);
      options.layout = i % 4 < 2 ? BatchContent::kPixels : BatchContent::kRgb;
      options.input_hash = i % 4 < 3 ? InputHash::kPixels : InputHash::kRecords;
      cases.push_back(
          {.name = std::string(recipe_name) + ", " + std::string(end),
           .options = options,
           .start = {.epoch = i}});
    }
  }
  return cases;
}

std::vector<LookupCase> OrderCases() {
  InputOptions windows =
      Training(Recipe::kTpu, Shuffle::kWindow, LastBatch::kPad);
  windows.window_shards = 2;
  windows.window_records = 5;
  InputOptions torch =
      OfRank(1, RankShare::kStrided,
             Training(Recipe::kCifar, Shuffle::kTorch, LastBatch::kRepeat));
  torch.repeat_augment = 3;
  InputOptions carried =
      Training(Recipe::kTpu, Shuffle::kGlobal, LastBatch::kCarry);
  InputOptions thrice = carried;
  thrice.repeat = 3;
  thrice.repeat_augment = 2;
  InputOptions few = SmallTraining();
  few.max_records = 9;
  const InputOptions mix = Selected(
      {{.range = {0, 12}, .weight = 0.7}, {.range = {12, 10}, .weight = 0.3}},
      30);
  InputOptions carried_mix = mix;
  carried_mix.last_batch = LastBatch::kCarry;
  carried_mix.repeat_augment = 2;
  return {
      {"windows", windows},
      {"torch", torch},
      {"none",
       Training(Recipe::kPlain, Shuffle::kNone, LastBatch::kDrop),
       {.epoch = 3, .position = 8}},
      {"fit", Training(Recipe::kFit, Shuffle::kGlobal, LastBatch::kRepeat)},
      {"carried", carried},
      {"carried ranks",
       OfRank(1, RankShare::kStrided, carried),
       {.epoch = 3, .position = 6}},
      {"carried thrice", thrice, {.epoch = 2}},
      {"few records", few},
      {"a mix", mix},
      {"a carried mix", carried_mix},
      {"weights", Selected({{.ids = {1, 5, 20}, .weights = {1, 2, 0.5}}}, 14)}};
}

std::vector<LookupCase> ContentCases() {
  InputOptions rgb =
      OfRank(0, RankShare::kContiguous,
             Training(Recipe::kTorchvision, Shuffle::kGlobal, LastBatch::kPad));
  rgb.layout = BatchContent::kRgb;
  InputOptions fields = SmallTraining();
  fields.fields = {{.key = "image/filename", .kind = FeatureKind::kBytes}};
  fields.graph = GraphKind::kBasic;
  InputOptions views = Augmented();
  views.views.push_back(MakeView(views, {}));
  InputOptions evaluation = SmallEvaluation();
  evaluation.repeat = 3;
  InputOptions crops = evaluation;
  crops.preprocess.recipe = Recipe::kTorchvision;
  crops.preprocess.crop.eval_crops = 5;
  crops.batch_size = 10;
  return {{"augmented", Augmented(), {.epoch = 1}},
          {"rgb", rgb},
          {"fields", fields},
          {"views", views},
          {"evaluation", evaluation},
          {"evaluation, epoch 6", evaluation, {.epoch = 6}},
          {"five crops", crops}};
}

std::vector<LookupCase> TargetCases() {
  InputOptions masks =
      Training(Recipe::kTorchvision, Shuffle::kGlobal, LastBatch::kCarry);
  for (const char* const type : {"uint8", "int32"}) {
    masks.views.push_back(
        MakeView(masks, std::vector<OptionAssignment>{
                            {.name = "key", .value = kMask, .place = ""},
                            {.name = "labels", .value = type, .place = ""}}));
  }
  InputOptions boxes = SmallTraining();
  boxes.objects = ObjectsPreset("tf");
  InputOptions labels = SmallTraining();
  labels.label_key = kLabels;
  labels.label_offset = 1;
  labels.require_labels = false;
  labels.fields = {{.key = kLabels}};
  InputOptions records = labels;
  records.layout = BatchContent::kNone;
  return {{"masks", masks, {}, &TargetsIndex()},
          {"boxes", boxes, {}, &TargetsIndex()},
          {"several labels", labels, {}, &TargetsIndex()},
          {"records alone", records, {}, &TargetsIndex()}};
}

// All that a batch has.
struct WholeBatch {
  BatchCopy batch;
  std::vector<SlotCopy> slots = {};
  std::vector<std::uint64_t> fingerprints = {};

  friend bool operator==(const WholeBatch&, const WholeBatch&) = default;
};

WholeBatch WholeOf(const Batch& batch) {
  WholeBatch whole = {.batch = CopyOf(batch)};
  for (std::size_t slot = 0; slot < batch.records().size(); ++slot) {
    whole.slots.push_back(SlotOf(batch, slot));
    whole.fingerprints.push_back(batch.fingerprints()[slot]);
  }
  return whole;
}

// Compares batches at random places, most of them in later epochs.
void ExpectStream(const LookupCase& one, int places, SampleRandom& random) {
  constexpr std::size_t kBatches = 40;
  InputPipeline pipeline(*one.index, one.options, one.start);
  std::vector<WholeBatch> stream;
  while (stream.size() < kBatches) {
    const BatchHandle batch = pipeline.Next();
    if (!batch) {
      break;
    }
    stream.push_back(WholeOf(*batch));
  }
  ASSERT_THAT(stream, SizeIs(::testing::Ge(11U)));
  BatchLookup lookup(*one.index, one.options);
  for (int i = 0; i < places; ++i) {
    const WholeBatch& expected =
        stream[random.Below(static_cast<std::uint32_t>(stream.size()))];
    const auto [epoch, number] =
        std::pair(expected.batch.epoch, expected.batch.number);
    const BatchHandle found = lookup.At(epoch, number, one.start);
    EXPECT_TRUE(WholeOf(*found) == expected)
        << "batch " << number << " of epoch " << epoch;
    EXPECT_EQ(found->fed, found->fingerprint());
  }
}

TEST(BatchLookupTest, BatchesAreTheStreamsAtAThousandPlaces) {
  constexpr int kPlaces = 24;
  SampleRandom random({.seed = 59}, RandomStream::kMadeData);
  int places = 0;
  for (const auto& cases :
       {RecipeCases(), OrderCases(), ContentCases(), TargetCases()}) {
    for (const LookupCase& one : cases) {
      SCOPED_TRACE(one.name);
      ExpectStream(one, kPlaces, random);
      places += kPlaces;
    }
  }
  EXPECT_GE(places, 1000);
}

TEST(BatchLookupTest, ReadsCompressedShards) {
  const TemporaryFolder folder;
  const std::string path = folder / "train-00000-of-00001";
  TfrecordWriter writer(path, {.compression = Compression::kGzip});
  for (const std::string& payload : TestPayloads(22)) {
    writer.Append(payload);
  }
  writer.Close();
  const RecordIndex index({path}, RecordIndexOptions{.use_cache = false});
  InputOptions options =
      Training(Recipe::kTpu, Shuffle::kWindow, LastBatch::kDrop);
  options.window_records = 5;
  const std::vector<BatchCopy> stream = Stream(index, options, 10);
  BatchLookup lookup(index, options);
  for (const std::size_t batch : {8U, 1U, 9U, 0U}) {
    EXPECT_EQ(CopyOf(*lookup.At(stream[batch].epoch, stream[batch].number)),
              stream[batch]);
  }
}

TEST(BatchLookupTest, ThreadsMayShareIt) {
  const std::vector<BatchCopy> stream = Stream(SharedIndex(), Augmented(), 10);
  BatchLookup lookup(SharedIndex(), Augmented());
  std::atomic<int> equal = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        for (const BatchCopy& batch : stream) {
          equal += CopyOf(*lookup.At(batch.epoch, batch.number)) == batch;
        }
      });
    }
  }
  EXPECT_EQ(equal, 30);
}

TEST(BatchLookupTest, ABatchMayOutliveIt) {
  BatchHandle batch = BatchLookup(SharedIndex(), SmallTraining()).At(1, 2);
  EXPECT_EQ(CopyOf(*batch), Stream(SharedIndex(), SmallTraining(), 8)[7]);
}

TEST(BatchLookupTest, RefusesABatchThatTheEpochDoesNotHave) {
  BatchLookup lookup(SharedIndex(), SmallTraining());
  EXPECT_EQ(MessageOf<UsageError>([&] { (void)lookup.At(2, 5); }),
            "epoch 2 has no batch 5: it has 5 batches, numbered from 0");
}

// Two of its records are bad.
class BatchLookupOfBadRecordsTest : public ::testing::Test {
 protected:
  BatchLookupOfBadRecordsTest() {
    shards_.Damage(3);
    shards_.Damage(15);
  }

  TestShards shards_{TestPayloads(22)};
};

TEST_F(BatchLookupOfBadRecordsTest, TheyAreReplacedOrSkippedAsInTheStream) {
  for (const OnBadRecord policy : {OnBadRecord::kReplace, OnBadRecord::kSkip}) {
    InputOptions options = SmallTraining();
    options.on_bad_record = policy;
    int reported = 0;
    options.on_bad = [&reported](const BadRecord& /*bad*/) { ++reported; };
    const std::vector<BatchCopy> stream = Stream(shards_.index(), options, 10);
    EXPECT_GT(reported, 0);
    options.max_bad_records = 0;  // More than the stream may have.
    reported = 0;
    BatchLookup lookup(shards_.index(), options);
    for (const BatchCopy& batch : stream) {
      EXPECT_EQ(CopyOf(*lookup.At(batch.epoch, batch.number)), batch);
    }
    EXPECT_EQ(reported, 0);
  }
}

TEST_F(BatchLookupOfBadRecordsTest, TheyAreErrorsWhereTheStreamEndsWithThem) {
  InputOptions options = SmallEvaluation();
  options.on_bad_record = OnBadRecord::kFail;
  BatchLookup lookup(shards_.index(), options);
  EXPECT_THAT(MessageOf<DataError>([&] { (void)lookup.At(0, 0); }),
              HasSubstr("record 3"));
  EXPECT_THAT(lookup.At(0, 1)->records(), ::testing::ElementsAre(4, 5, 6, 7));
}

TEST(BatchAtTest, LeavesTheStreamAsItIs) {
  const std::vector<BatchCopy> whole = Stream(SharedIndex(), Augmented(), 8);
  InputPipeline pipeline(SharedIndex(), Augmented());
  for (std::size_t taken = 0; taken < whole.size(); ++taken) {
    const std::string state = pipeline.State();
    const BatchCopy& other = whole[(5 * taken + 3) % whole.size()];
    EXPECT_EQ(CopyOf(*pipeline.BatchAt(other.epoch, other.number)), other);
    EXPECT_EQ(pipeline.State(), state);
    EXPECT_EQ(CopyOf(*pipeline.Next()), whole[taken]);
  }
  EXPECT_EQ(pipeline.stats().batches, 8);
}

TEST(BatchAtTest, CarriedBatchesBeginWhereThePipelinesDo) {
  InputOptions options = Augmented();
  options.last_batch = LastBatch::kCarry;
  const StreamPosition start = {.epoch = 1, .position = 3};
  const std::vector<BatchCopy> whole =
      Stream(SharedIndex(), options, 14, start);
  InputPipeline pipeline(SharedIndex(), options, start);
  (void)TakeBatches(pipeline, 2);
  for (const BatchCopy& batch : whole) {
    EXPECT_EQ(CopyOf(*pipeline.BatchAt(batch.epoch, batch.number)), batch);
  }
}

std::vector<std::string> AugmentationsOf(const InputOptions& options,
                                         const SampleKey& key) {
  std::vector<AugmentStep> steps;
  DrawAugmentation(options.preprocess.augment, options.preprocess.image_size,
                   key, steps);
  std::vector<std::string> texts;
  for (const AugmentStep& step : steps) {
    texts.push_back(AugmentStepText(step));
  }
  return texts;
}

TEST(DescribeTest, SaysHowASampleWasMade) {
  const InputOptions options = Augmented();
  InputPipeline pipeline(SharedIndex(), options);
  const BatchHandle batch = pipeline.Next();
  const std::vector<SampleDescription> samples =
      pipeline.lookup().Describe(*batch);
  ASSERT_THAT(samples, SizeIs(4));
  for (std::size_t slot = 0; slot < 4; ++slot) {
    const SampleDescription& sample = samples[slot];
    EXPECT_EQ(sample.record, batch->records()[slot]);
    const RecordLocation place = SharedIndex().at(sample.record);
    EXPECT_EQ(sample.shard, SharedIndex().shard_of(place));
    EXPECT_EQ(sample.number, place.number);
    EXPECT_EQ(sample.file_name, "image.JPEG");
    EXPECT_EQ(sample.label, sample.record);
    EXPECT_EQ(sample.geometry, batch->geometry()[slot]);
    EXPECT_EQ(sample.geometry.source.width, 40 + sample.label % 7);
    EXPECT_EQ(sample.augmentations,
              AugmentationsOf(options, {.seed = 7, .position = slot}));
    EXPECT_THAT(sample.augmentations, SizeIs(::testing::Ge(3U)));
  }
}

// Its last two samples are the first ones of epoch 1.
TEST(DescribeTest, CarriedSamplesHaveTheDrawsOfTheirEpoch) {
  InputOptions options = Augmented();
  options.last_batch = LastBatch::kCarry;
  BatchLookup lookup(SharedIndex(), options);
  const std::vector<SampleDescription> samples =
      lookup.Describe(*lookup.At(0, 5));
  EXPECT_EQ(samples.at(1).augmentations,
            AugmentationsOf(options, {.seed = 7, .position = 21}));
  EXPECT_EQ(samples.at(2).augmentations,
            AugmentationsOf(options, {.seed = 7, .epoch = 1, .position = 0}));
}

TEST(DescribeTest, EmptySlotsAndEvaluationsHaveNoAugmentations) {
  InputOptions options = SmallEvaluation();
  options.preprocess.augment = Augmented().preprocess.augment;
  BatchLookup lookup(SharedIndex(), options);
  const std::vector<SampleDescription> samples =
      lookup.Describe(*lookup.At(0, 5));
  ASSERT_THAT(samples, SizeIs(4));
  EXPECT_EQ(samples[1].record, 21);
  EXPECT_EQ(samples[2].record, -1);
  EXPECT_EQ(samples[2].shard, "");
  EXPECT_THAT(samples, Each(::testing::Field(&SampleDescription::augmentations,
                                             IsEmpty())));
}

}  // namespace infeed::batch_lookup_test
