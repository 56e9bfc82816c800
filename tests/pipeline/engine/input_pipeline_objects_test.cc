// Boxes that follow the images of their records: Batch::boxes(), geometry().

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/stats/bad_record.h"
#include "preprocess/recipe/boxes.h"
#include "tests/support/extra_feature.h"
#include "tests/support/matchers.h"
#include "tests/support/packed_payload.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/throws.h"

namespace infeed::input_pipeline_objects_test {

constexpr int kRecords = 10;
constexpr ImageSize kSize{24, 16};

// Of record r, box i. Box 1 is at a corner.
TestBox StoredBox(int record, int i) {
  const float shift = static_cast<float>(record) / 64;
  return i == 1 ? TestBox{0, 0, 0.125F, 0.125F}
                : TestBox{shift, 0.25F, shift + 0.5F, 0.75F};
}

// Record r has r % 4 objects, in the keys of tf and of tfds.
std::vector<std::string> WithObjects(std::vector<std::string> payloads) {
  for (int record = 1; record < kRecords; ++record) {
    std::vector<TestBox> boxes;
    std::vector<float> yxyx;
    std::vector<std::int64_t> labels;
    std::vector<std::string> names;
    for (int i = 0; i < record % 4; ++i) {
      const TestBox& box = boxes.emplace_back(StoredBox(record, i));
      yxyx.insert(yxyx.end(), {box[1], box[0], box[3], box[2]});
      labels.push_back(10 * record + i);
      names.push_back(std::to_string(10 * record + i) + ";");
    }
    if (!labels.empty()) {
      payloads[static_cast<std::size_t>(record)] +=
          ExtraBoxes(boxes, labels) +
          ExtraBytes("image/object/class/text", names) +
          ExtraFloats("objects/bbox", yxyx) +
          ExtraInt64s("objects/label", labels);
    }
  }
  return payloads;
}

std::vector<std::string> Payloads() {
  return WithObjects(TestPayloads(kRecords));
}

InputOptions Options() {
  InputOptions options = {
      .batch_size = 4,
      .preprocess = {.recipe = Recipe::kTorchvision, .image_size = kSize},
      .seed = 7,
      .on_bad_record = OnBadRecord::kFail,
      .objects = ObjectsPreset("tf"),
      .threads = 2};
  options.objects.lists.push_back(KnownObjectList("image/object/class/text"));
  return options;
}

void AddSamples(const Batch& batch, std::vector<SlotCopy>& samples) {
  ASSERT_EQ(std::ssize(batch.boxes().offsets), batch.size() + 1);
  EXPECT_EQ(batch.boxes().offsets, batch.fields()[0].offsets);
  for (std::size_t slot = 0; slot < batch.records().size(); ++slot) {
    samples.push_back(SlotOf(batch, slot));
  }
}

std::vector<SlotCopy> Samples(const TestShards& shards,
                              const InputOptions& options, int batches) {
  InputPipeline pipeline(shards.index(), options);
  std::vector<SlotCopy> samples;
  for (int i = 0; i < batches; ++i) {
    const BatchHandle batch = pipeline.Next();
    if (batch == nullptr) {
      break;
    }
    AddSamples(*batch, samples);
  }
  return samples;
}

// The labels of a sample's boxes.
const std::vector<std::int64_t>& LabelsIn(const SlotCopy& sample) {
  return sample.lists[0].int64s;
}

// What a record's stored boxes become by a geometry.
void ExpectFollowed(const SlotCopy& sample, const BoxFilter& filter) {
  const int record = static_cast<int>(sample.record);
  std::vector<float> stored;
  for (int i = 0; i < record % 4; ++i) {
    const TestBox box = StoredBox(record, i);
    stored.insert(stored.end(), box.begin(), box.end());
  }
  const std::span<const float> column = stored;
  std::vector<float> boxes;
  std::vector<std::uint32_t> kept;
  ReadBoxes({&column, 1}, BoxFormat::kXyxy, true, sample.geometry[0].source,
            boxes);
  FollowBoxes(sample.geometry[0], kSize, filter, boxes, kept);
  EXPECT_EQ(sample.boxes, boxes);
  std::vector<std::int64_t> labels;
  for (const std::uint32_t i : kept) {
    labels.push_back(10 * record + i);
  }
  EXPECT_EQ(LabelsIn(sample), labels);
}

TEST(InputPipelineObjectsTest, BoxesFollowTheImageOfTheirSlot) {
  const TestShards shards(Payloads());
  for (const bool training : {true, false}) {
    InputOptions options = Options();
    options.training = training;
    std::size_t boxes = 0;
    std::size_t dropped = 0;
    for (const SlotCopy& sample : Samples(shards, options, 6)) {
      if (sample.weight == 0) {
        EXPECT_THAT(sample.boxes, IsEmpty());
        EXPECT_EQ(sample.geometry[0], Geometry());
        continue;
      }
      EXPECT_EQ(sample.geometry[0].source,
                ImageSize(36 + static_cast<int>(sample.record % 5),
                          40 + static_cast<int>(sample.record % 7)));
      EXPECT_EQ(sample.label, -1);
      ExpectFollowed(sample, options.objects.filter);
      boxes += LabelsIn(sample).size();
      dropped +=
          static_cast<std::size_t>(sample.record % 4) - LabelsIn(sample).size();
    }
    EXPECT_GT(boxes, 6U);
    EXPECT_GT(dropped, 0U);
  }
}

InputOptions IouOptions(Recipe recipe) {
  InputOptions options = Options();
  options.preprocess.recipe = recipe;
  options.preprocess.crop.iou_crop = true;
  return options;
}

TEST(InputPipelineObjectsTest, AnIouCropHasACentreOfABox) {
  const TestShards shards(Payloads());
  for (const Recipe recipe : {Recipe::kPlain, Recipe::kFit}) {
    const InputOptions options = IouOptions(recipe);
    BoxFilter filter = options.objects.filter;
    filter.centre_in_window = true;
    int cropped = 0;
    for (const SlotCopy& sample : Samples(shards, options, 20)) {
      ExpectFollowed(sample, filter);
      const Geometry& geometry = sample.geometry[0];
      const bool is_whole =
          geometry.window ==
          Window{0, 0, geometry.source.height, geometry.source.width};
      cropped += is_whole ? 0 : 1;
      if (sample.record % 4 == 0) {
        EXPECT_TRUE(is_whole);
      } else if (sample.record % 4 == 1) {
        EXPECT_EQ(LabelsIn(sample).size(), 1U);
      }
    }
    EXPECT_GT(cropped, 10);
  }
}

TEST(InputPipelineObjectsTest, BadBoxesOfAnIouCropAreNoBadImage) {
  std::vector<std::string> payloads = Payloads();
  payloads[2] += ExtraFloats("image/object/bbox/ymax", {1});
  const TestShards shards(payloads);
  InputOptions options = IouOptions(Recipe::kPlain);
  options.on_bad_record = OnBadRecord::kReplace;
  std::vector<BadRecordKind> kinds;
  options.on_bad = [&](const BadRecord& bad) { kinds.push_back(bad.kind); };
  for (const SlotCopy& sample : Samples(shards, options, 5)) {
    EXPECT_NE(sample.record, 2);
  }
  EXPECT_FALSE(kinds.empty());
  EXPECT_THAT(kinds, Each(BadRecordKind::kExample));
}

TEST(InputPipelineObjectsTest, BoxesOfPackedImagesFollowThem) {
  std::vector<std::string> payloads;
  for (int record = 0; record < kRecords; ++record) {
    payloads.push_back(PackedPayload(record, kSize));
  }
  const TestShards shards(WithObjects(payloads));
  for (const Recipe recipe : {Recipe::kTorchvision, Recipe::kCifar}) {
    InputOptions options = Options();
    options.preprocess.recipe = recipe;
    options.preprocess.augment.vertical_flip = true;
    std::set<std::pair<bool, bool>> ways;
    bool is_moved = false;
    for (const SlotCopy& sample : Samples(shards, options, 10)) {
      ExpectFollowed(sample, options.objects.filter);
      const Geometry& geometry = sample.geometry[0];
      ways.emplace(geometry.is_mirrored, geometry.is_upside_down);
      is_moved = is_moved || geometry.x != 0;
    }
    EXPECT_EQ(ways.size(), 4U);
    EXPECT_EQ(is_moved, recipe == Recipe::kCifar);
  }
}

TEST(InputPipelineObjectsTest, AFilterIsAppliedAndOtherListsFollow) {
  const TestShards shards(Payloads());
  InputOptions options = Options();
  options.objects.filter.min_visible = 0.75F;
  InputPipeline pipeline(shards.index(), options);
  for (int i = 0; i < 4; ++i) {
    const BatchHandle batch = pipeline.Next();
    std::vector<SlotCopy> samples;
    AddSamples(*batch, samples);
    std::string names;
    for (const SlotCopy& sample : samples) {
      ExpectFollowed(sample, options.objects.filter);
      for (const std::int64_t label : LabelsIn(sample)) {
        names += std::to_string(label) + ";";
      }
    }
    EXPECT_EQ(batch->fields()[1].bytes, names);
  }
}

TEST(InputPipelineObjectsTest, TfdsKeysAreTheSameBoxes) {
  const TestShards shards(Payloads());
  for (InputOptions options : {Options(), IouOptions(Recipe::kFit)}) {
    const std::vector<SlotCopy> expected = Samples(shards, options, 5);
    options.objects = ObjectsPreset("tfds");
    options.objects.lists.push_back(KnownObjectList("image/object/class/text"));
    EXPECT_EQ(Samples(shards, options, 5), expected);
  }
}

// The converter's keys: pixels, so that no bit of an annotation is lost.
TEST(InputPipelineObjectsTest, InfeedsKeysAreBoxesInPixels) {
  EXPECT_EQ(ObjectsPreset("infeed"),
            (ObjectsSpec{.boxes = {"image/object/bbox"},
                         .format = BoxFormat::kXyxy,
                         .is_normalized = false,
                         .lists = {{.key = "image/object/class/label",
                                    .kind = FeatureKind::kInt64}}}));
}

TEST(InputPipelineObjectsTest, ObjectsChangeNoImage) {
  const TestShards shards(Payloads());
  InputOptions without = Options();
  without.objects = {};
  InputPipeline some(shards.index(), Options());
  InputPipeline none(shards.index(), without);
  InputOptions as_rgb = Options();
  as_rgb.layout = BatchContent::kRgb;
  InputPipeline rgb(shards.index(), as_rgb);
  for (int i = 0; i < 4; ++i) {
    const BatchHandle a = some.Next();
    const BatchHandle b = none.Next();
    EXPECT_TRUE(std::ranges::equal(a->pixels(), b->pixels()));
    EXPECT_TRUE(std::ranges::equal(a->geometry(), b->geometry()));
    EXPECT_EQ(rgb.Next()->boxes(), a->boxes());
    EXPECT_THAT(b->boxes().xyxy, IsEmpty());
    EXPECT_THAT(b->labels(), Each(testing::Ge(0)));
  }
}

TEST(InputPipelineObjectsTest, ACopyOfABatchHasThemToo) {
  const TestShards shards(Payloads());
  InputPipeline pipeline(shards.index(), Options());
  const BatchHandle batch = pipeline.Next();
  std::vector<SlotCopy> samples;
  std::vector<SlotCopy> copied;
  AddSamples(*batch, samples);
  AddSamples(*batch->Clone(), copied);
  EXPECT_EQ(copied, samples);
}

TEST(InputPipelineObjectsTest, HundredsOfBoxesAreReadByDefault) {
  std::vector<std::string> payloads = TestPayloads(4);
  std::vector<float> yxyx;
  for (int i = 0; i < 400; ++i) {
    yxyx.insert(yxyx.end(), {0, 0, 1, 1});
  }
  payloads[1] +=
      ExtraFloats("objects/bbox", yxyx) +
      ExtraInt64s("objects/label", std::vector<std::int64_t>(400, 7));
  const TestShards shards(payloads);
  InputOptions options = Options();
  options.training = false;
  options.objects = ObjectsPreset("tfds");
  EXPECT_EQ(LabelsIn(Samples(shards, options, 1)[1]).size(), 400U);
}

TEST(InputPipelineObjectsTest, BoxesAreFromTheSubstitute) {
  std::vector<std::string> payloads = Payloads();
  payloads[3] += ExtraInt64s("image/object/class/label", {1, 2});
  const TestShards shards(payloads);
  InputOptions options = Options();
  options.training = false;
  EXPECT_THAT(MessageOf<DataError>([&] { (void)Samples(shards, options, 3); }),
              AllOf(HasSubstr("record 3 at byte"),
                    HasSubstr("label' has 2 values for 3 boxes")));
  options.on_bad_record = OnBadRecord::kSkip;
  const std::vector<SlotCopy> skipped = Samples(shards, options, 3);
  EXPECT_EQ(skipped[3].weight, 0);
  EXPECT_THAT(skipped[3].boxes, IsEmpty());
  EXPECT_EQ(LabelsIn(skipped[7]).size(), 2U);  // Not the one at the corner.
  options.on_bad_record = OnBadRecord::kReplace;
  const SlotCopy replaced = Samples(shards, options, 3)[3];
  EXPECT_NE(replaced.record, 3);
  ExpectFollowed(replaced, options.objects.filter);
}

TEST(InputPipelineObjectsTest, WrongObjectsAreRefused) {
  const std::pair<const char*, void (*)(InputOptions&)> rows[] = {
      {"objects: boxes have 1 key or 4, not 3",
       [](InputOptions& o) { o.objects.boxes.pop_back(); }},
      {"objects: boxes follow images, and layout=none has none",
       [](InputOptions& o) { o.layout = BatchContent::kNone; }},
      {"iou_crop chooses crops by the boxes of the records: give objects, or "
       "leave it out",
       [](InputOptions& o) {
         o = IouOptions(Recipe::kFit);
         o.objects = {};
       }},
      {"augment=trivialaugment",
       [](InputOptions& o) {
         o.preprocess.augment.policy = AugmentPolicy::kTrivialAugment;
       }},
      {"the key is given twice",
       [](InputOptions& o) {
         o.fields = {
             {.key = "image/object/bbox/xmin", .kind = FeatureKind::kFloat}};
       }},
      {"is also in fields",
       [](InputOptions& o) {
         o.fields = {{.key = "image/object/class/label",
                      .shape = std::vector<std::int64_t>{4}}};
       }},
      {"has a shape",
       [](InputOptions& o) {
         o.objects.lists[0].shape = std::vector<std::int64_t>{4};
       }},
      {"records has \"boxes\"",
       [](InputOptions& o) { o.objects.boxes = {"boxes"}; }},
      {"lists without boxes", [](InputOptions& o) { o.objects.boxes = {}; }}};
  const TestShards shards(Payloads());
  const auto refusal = [&](const InputOptions& options) {
    return MessageOf<UsageError>(
        [&] { InputPipeline(shards.index(), options); });
  };
  for (const auto& [message, change] : rows) {
    InputOptions options = Options();
    change(options);
    EXPECT_THAT(refusal(options), HasSubstr(message));
  }
  InputOptions evaluation = Options();  // No policy is applied.
  evaluation.training = false;
  evaluation.preprocess.augment.policy = AugmentPolicy::kTrivialAugment;
  EXPECT_EQ(refusal(evaluation), "");
  EXPECT_THAT(MessageOf<UsageError>([] { (void)ObjectsPreset("coco"); }),
              HasSubstr("give infeed, tf or tfds"));
  EXPECT_THAT(MessageOf<UsageError>([] { (void)KnownObjectList("depth"); }),
              HasSubstr("the kind of 'depth' is not known"));
}

}  // namespace infeed::input_pipeline_objects_test
