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
#include "records/example/imagenet_example.h"
#include "tests/support/extra_feature.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/throws.h"

namespace infeed::input_pipeline_objects_test {

constexpr int kRecords = 10;
constexpr ImageSize kSize{24, 16};
constexpr char kCrowd[] = "image/object/is_crowd";

// Of record r, xmin, ymin, xmax, ymax of box i. Box 1 is at a corner.
std::vector<float> StoredBox(int record, int i) {
  const float shift = static_cast<float>(record) / 64;
  return i == 1 ? std::vector<float>{0, 0, 0.125F, 0.125F}
                : std::vector<float>{shift, 0.25F, shift + 0.5F, 0.75F};
}

// Record r has r % 4 objects, in the keys of tf and of tfds.
std::vector<std::string> Payloads() {
  std::vector<std::string> payloads = TestPayloads(kRecords);
  for (int record = 0; record < kRecords; ++record) {
    std::vector<std::vector<float>> sides(4);
    std::vector<float> yxyx;
    std::vector<std::int64_t> labels;
    std::vector<std::string> names;
    for (int i = 0; i < record % 4; ++i) {
      const std::vector<float> box = StoredBox(record, i);
      for (std::size_t side = 0; side < 4; ++side) {
        sides[side].push_back(box[side]);
        yxyx.push_back(box[side ^ 1]);
      }
      labels.push_back(10 * record + i);
      names.push_back(std::to_string(10 * record + i) + ";");
    }
    std::string& payload = payloads[static_cast<std::size_t>(record)];
    const std::string box = "image/object/bbox/";
    if (!labels.empty()) {
      payload += ExtraFloats(box + "xmin", sides[0]) +
                 ExtraFloats(box + "ymin", sides[1]) +
                 ExtraFloats(box + "xmax", sides[2]) +
                 ExtraFloats(box + "ymax", sides[3]) +
                 ExtraInt64s("image/object/class/label", labels) +
                 ExtraInt64s(kCrowd, labels) +
                 ExtraBytes("image/object/class/text", names) +
                 ExtraFloats("objects/bbox", yxyx) +
                 ExtraInt64s("objects/label", labels);
    }
  }
  return payloads;
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
    const std::vector<float> box = StoredBox(record, i);
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

// A record with packed pixels (image/packed): a white rectangle on black, and
// its box.
std::string PackedRectangle(int record) {
  const int left = 2 + record % 3;
  const int top = 3 + record % 6;
  constexpr int kWide = 6;
  constexpr int kHigh = 8;
  std::string pixels;
  for (int y = 0; y < kSize.height; ++y) {
    for (int x = 0; x < kSize.width; ++x) {
      const bool is_inside =
          x >= left && x < left + kWide && y >= top && y < top + kHigh;
      pixels +=
          std::string(1, '\0') + std::string(3, is_inside ? '\xff' : '\0');
    }
  }
  const auto side = [](const char* name, int at, int of) {
    return ExtraFloats(std::string("image/object/bbox/") + name,
                       {static_cast<float>(at) / static_cast<float>(of)});
  };
  return BuildImagenetExample({.height = kSize.height,
                               .width = kSize.width,
                               .label = 1,
                               .synset = {},
                               .text = {},
                               .filename = {},
                               .encoded = {},
                               .packed = pixels}) +
         side("xmin", left, kSize.width) + side("ymin", top, kSize.height) +
         side("xmax", left + kWide, kSize.width) +
         side("ymax", top + kHigh, kSize.height) +
         ExtraInt64s("image/object/class/label", {record});
}

// The box around what is not black.
std::vector<float> FindRectangle(std::span<const std::uint32_t> pixels) {
  Window found = {.y = kSize.height, .x = kSize.width, .height = 0, .width = 0};
  int right = 0;
  int bottom = 0;
  for (int y = 0; y < kSize.height; ++y) {
    for (int x = 0; x < kSize.width; ++x) {
      if (pixels[static_cast<std::size_t>(y * kSize.width + x)] != 0) {
        found.x = std::min(found.x, x);
        found.y = std::min(found.y, y);
        right = std::max(right, x + 1);
        bottom = std::max(bottom, y + 1);
      }
    }
  }
  return {static_cast<float>(found.x), static_cast<float>(found.y),
          static_cast<float>(right), static_cast<float>(bottom)};
}

TEST(InputPipelineObjectsTest, BoxesOfPackedImagesAreAroundTheirRectangles) {
  std::vector<std::string> payloads;
  for (int record = 0; record < kRecords; ++record) {
    payloads.push_back(PackedRectangle(record));
  }
  const TestShards shards(payloads);
  for (const Recipe recipe : {Recipe::kTorchvision, Recipe::kCifar}) {
    InputOptions options = Options();
    options.preprocess.recipe = recipe;
    options.preprocess.augment.vertical_flip = true;
    options.objects = ObjectsPreset("tf");
    InputPipeline pipeline(shards.index(), options);
    std::set<std::pair<bool, bool>> ways;
    bool is_moved = false;
    for (int i = 0; i < 10; ++i) {
      const BatchHandle batch = pipeline.Next();
      const BoxColumn& boxes = batch->boxes();
      ASSERT_THAT(boxes.offsets, ElementsAre(0, 1, 2, 3, 4));
      for (std::size_t slot = 0; slot < 4; ++slot) {
        const std::vector<float> found = FindRectangle(
            batch->pixels().subspan(slot * kSize.pixels(), kSize.pixels()));
        for (std::size_t side = 0; side < 4; ++side) {
          EXPECT_NEAR(boxes.xyxy[4 * slot + side], found[side], 1e-4)
              << i << ", slot " << slot << ", side " << side;
        }
        const Geometry& geometry = batch->geometry()[slot];
        ways.emplace(geometry.is_mirrored, geometry.is_upside_down);
        is_moved = is_moved || geometry.x != 0;
      }
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

// The payloads, and one record's with another list.
std::vector<std::string> PayloadsBut(std::size_t record,
                                     const std::string& list) {
  std::vector<std::string> payloads = Payloads();
  payloads[record] += list;
  return payloads;
}

TEST(InputPipelineObjectsTest, BadListsMakeTheRecordBad) {
  InputOptions options = Options();
  options.training = false;
  const auto message = [&](std::size_t record, const std::string& list) {
    const TestShards shards(PayloadsBut(record, list));
    return MessageOf<DataError>([&] { (void)Samples(shards, options, 3); });
  };
  EXPECT_THAT(message(3, ExtraInt64s("image/object/class/label", {1, 2})),
              AllOf(HasSubstr("record 3 at byte"),
                    HasSubstr("'image/object/class/label' has 2 values for 3 "
                              "boxes")));
  EXPECT_THAT(message(2, ExtraFloats("image/object/bbox/ymax", {1})),
              AllOf(HasSubstr("record 2 at byte"),
                    HasSubstr("boxes: 4 keys have 2, 2, 2 and 1 values")));
}

TEST(InputPipelineObjectsTest, BoxesAreFromTheSubstitute) {
  const TestShards shards(
      PayloadsBut(3, ExtraInt64s("image/object/class/label", {1, 2})));
  InputOptions options = Options();
  options.training = false;
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
  const TestShards shards(Payloads());
  const auto message = [&](const InputOptions& options) {
    return MessageOf<UsageError>(
        [&] { InputPipeline pipeline(shards.index(), options); });
  };
  InputOptions options = Options();
  options.objects.boxes.pop_back();
  EXPECT_EQ(message(options), "objects: boxes have 1 key or 4, not 3");
  options = Options();
  options.layout = BatchContent::kNone;
  EXPECT_EQ(message(options),
            "objects: boxes follow images, and layout=none has none");
  options = IouOptions(Recipe::kFit);
  options.objects = {};
  EXPECT_EQ(message(options),
            "iou_crop chooses crops by the boxes of the records: give objects, "
            "or leave it out");
  options = Options();
  options.preprocess.augment.policy = AugmentPolicy::kTrivialAugment;
  EXPECT_THAT(message(options), HasSubstr("augment=trivialaugment"));
  options.training = false;  // No policy is applied.
  EXPECT_EQ(message(options), "");
  options = Options();
  options.fields = {
      {.key = "image/object/bbox/xmin", .kind = FeatureKind::kFloat}};
  EXPECT_THAT(message(options), HasSubstr("the key is given twice"));
  options.fields = {{.key = "image/object/class/label",
                     .shape = std::vector<std::int64_t>{4}}};
  EXPECT_THAT(message(options), HasSubstr("is also in fields"));
  options = Options();
  options.objects.lists[0].shape = std::vector<std::int64_t>{4};
  EXPECT_THAT(message(options), HasSubstr("has a shape"));
  options = Options();
  options.objects.boxes = {"boxes"};
  EXPECT_THAT(message(options), HasSubstr("records has \"boxes\""));
  options.objects.boxes = {};
  EXPECT_THAT(message(options), HasSubstr("lists without boxes"));
  EXPECT_THAT(MessageOf<UsageError>([] { (void)ObjectsPreset("coco"); }),
              HasSubstr("give infeed, tf or tfds"));
  EXPECT_THAT(MessageOf<UsageError>([] { (void)KnownObjectList("depth"); }),
              HasSubstr("the kind of 'depth' is not known"));
}

}  // namespace infeed::input_pipeline_objects_test
