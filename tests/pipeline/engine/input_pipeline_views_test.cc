// Several outputs of one record: InputOptions::views, Batch::view().

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/options/option_text.h"
#include "pipeline/order/stream_state.h"
#include "pipeline/reading/memory_plan.h"
#include "pipeline/stats/bad_record.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/pixels/image.h"
#include "records/example/imagenet_example.h"
#include "tests/support/extra_feature.h"
#include "tests/support/grey_png.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/throws.h"

namespace infeed::input_pipeline_views_test {

constexpr int kRecords = 22;
constexpr char kMask[] = "image/mask";

InputOptions Options(Recipe recipe = Recipe::kTorchvision) {
  return {.batch_size = 4,
          .preprocess = {.recipe = recipe, .image_size = 16},
          .seed = 7,
          .on_bad_record = OnBadRecord::kFail,
          .threads = 2};
}

// The options with a view of these settings, "name=value".
InputOptions WithView(InputOptions options,
                      const std::vector<std::string>& settings) {
  std::vector<OptionAssignment> given;
  for (const std::string& setting : settings) {
    const std::size_t equal = setting.find('=');
    given.push_back({.name = setting.substr(0, equal),
                     .value = setting.substr(equal + 1),
                     .place = ""});
  }
  options.views.push_back(MakeView(options, given));
  return options;
}

// DINO's: two large crops and eight small ones.
InputOptions Dino() {
  InputOptions options = WithView(Options(), {"crop_scale=0.4"});
  for (int i = 0; i < 8; ++i) {
    options = WithView(options, {"image_size=9", "crop_scale=0.05",
                                 "crop_scale_max=0.4", "hue=0.1"});
  }
  return options;
}

std::vector<std::byte> BytesOf(const std::vector<std::uint32_t>& words) {
  std::vector<std::byte> bytes(words.size() * sizeof(words[0]));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

TEST(InputPipelineViewsTest, ViewsHaveDrawsOfTheirOwnUnlessTheyShareThem) {
  InputOptions options = WithView(Options(), {});
  options = WithView(options, {"draws=0"});
  options = WithView(options, {"draws=1"});
  for (const BatchCopy& batch : Stream(SharedIndex(), options, 7)) {
    const std::vector<std::byte> image = BytesOf(batch.pixels);
    EXPECT_NE(batch.views[0], image);
    EXPECT_EQ(batch.views[1], image);
    EXPECT_EQ(batch.views[2], batch.views[0]);
  }
}

TEST(InputPipelineViewsTest, TheImageIsThatOfAStreamWithoutViews) {
  std::vector<BatchCopy> with = Stream(SharedIndex(), Dino(), 7);
  for (BatchCopy& batch : with) {
    EXPECT_EQ(batch.views.size(), 9U);
    batch.views.clear();
  }
  EXPECT_EQ(with, Stream(SharedIndex(), Options(), 7));
}

TEST(InputPipelineViewsTest, ViewsAreRgbBytesWhereTheImageIs) {
  // One view is larger than the image.
  InputOptions options = WithView(Dino(), {"image_size=30"});
  const std::vector<BatchCopy> words = Stream(SharedIndex(), options, 3);
  options.layout = BatchContent::kRgb;
  const std::vector<BatchCopy> rgb = Stream(SharedIndex(), options, 3);
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (std::size_t view = 0; view < words[i].views.size(); ++view) {
      std::vector<std::byte> unpacked;
      const std::vector<std::byte>& packed = words[i].views[view];
      for (std::size_t at = 0; at < packed.size(); at += 4) {
        // Little-endian words R << 24 | G << 16 | B << 8.
        unpacked.insert(unpacked.end(),
                        {packed[at + 3], packed[at + 2], packed[at + 1]});
      }
      EXPECT_EQ(rgb[i].views[view], unpacked);
    }
  }
}

std::string ImageOf(const std::string& payload) {
  const std::span<const std::byte> image =
      ParseImagenetExample(std::as_bytes(std::span(payload))).encoded;
  return {reinterpret_cast<const char*>(image.data()), image.size()};
}

TEST(InputPipelineViewsTest, AViewCanBeOfAnotherImageOfTheRecord) {
  std::vector<std::string> payloads;
  std::vector<std::string> others;
  for (int i = 0; i < kRecords; ++i) {
    others.push_back(TestPayload(i + 70));  // of the same size
    payloads.push_back(TestPayload(i) +
                       ExtraBytes("image/other", {ImageOf(others.back())}));
  }
  const TestShards shards(payloads);
  const TestShards second(others);
  const InputOptions options =
      WithView(Options(), {"key=image/other", "draws=0"});
  const std::vector<BatchCopy> pairs = Stream(shards.index(), options, 5);
  const std::vector<BatchCopy> images = Stream(second.index(), Options(), 5);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(pairs[i].views[0], BytesOf(images[i].pixels));
    EXPECT_NE(pairs[i].pixels, images[i].pixels);
  }
}

// The labels 0 and 1 of two parts of a picture.
std::vector<std::uint8_t> Parts(int label, const ImageSize& size) {
  std::vector<std::uint8_t> labels;
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      labels.push_back(3 * x + label > size.width + y ? 1 : 0);
    }
  }
  return labels;
}

// A picture of a black and a white part, and its mask.
std::string MaskedPayload(int label, const ImageSize& size,
                          const ImageSize& mask_size) {
  RgbImage image;
  image.Resize(size.width, size.height);
  auto* level = image.row(0);
  for (const std::uint8_t part : Parts(label, size)) {
    level = std::fill_n(level, 3, static_cast<std::uint8_t>(255 * part));
  }
  return PayloadWithImage(EncodePng(image.view()), label + 1) +
         ExtraBytes(kMask, {GreyPng(mask_size, Parts(label, mask_size))});
}

std::vector<std::string> MaskedPayloads(const ImageSize& size) {
  std::vector<std::string> payloads;
  for (int i = 0; i < kRecords; ++i) {
    payloads.push_back(MaskedPayload(i, size, size));
  }
  return payloads;
}

// The label of a pixel that all pixels near it have; else -1: where the parts
// meet, resizes of images and of labels differ by up to a pixel of the source.
int LabelAround(const BatchCopy& batch, const ImageSize& size, int at) {
  constexpr int kNear = 3;
  const int y = at / size.width % size.height;
  const int x = at % size.width;
  if (std::min(x, y) < kNear || x + kNear >= size.width ||
      y + kNear >= size.height) {
    return -1;
  }
  const auto label = [&](int place) {
    return std::to_integer<int>(
        batch.views[0][static_cast<std::size_t>(place)]);
  };
  for (int down = -kNear; down <= kNear; ++down) {
    for (int right = -kNear; right <= kNear; ++right) {
      if (label(at + down * size.width + right) != label(at)) {
        return -1;
      }
    }
  }
  return label(at);
}

// Within a part of the mask the image is dark or bright as it says. Returns the
// share of such pixels.
double Agreement(const BatchCopy& batch, const ImageSize& size) {
  const auto pixels = static_cast<int>(batch.pixels.size());
  int inside = 0;
  for (int at = 0; at < pixels; ++at) {
    const int label = LabelAround(batch, size, at);
    if (label == 0 || label == 1) {
      const std::uint32_t level =
          batch.pixels[static_cast<std::size_t>(at)] >> 24;
      EXPECT_EQ(level > 127, label == 1) << "pixel " << at;
      ++inside;
    }
  }
  return static_cast<double>(inside) / pixels;
}

TEST(InputPipelineViewsTest, LabelsFollowTheImageInEachRecipe) {
  const TestShards shards(MaskedPayloads({60, 44}));
  for (const auto& [name, recipe] : kRecipes) {
    for (const bool training : {true, false}) {
      SCOPED_TRACE(std::string(name) + (training ? " training" : ""));
      InputOptions options = Options(recipe);
      options.preprocess.image_size = {40, 32};
      options.preprocess.augment.vertical_flip = true;
      options.training = training;
      options = WithView(
          options, {"key=" + std::string(kMask), "labels=uint8", "draws=0"});
      double agreement = 0;
      int batches = 0;
      for (const BatchCopy& batch : Stream(shards.index(), options, 5)) {
        agreement += Agreement(batch, options.preprocess.image_size);
        ++batches;
      }
      EXPECT_GT(agreement / batches, 0.3);
    }
  }
}

TEST(InputPipelineViewsTest, LabelsHaveTheOptionsOfTheirView) {
  InputOptions options = Options();
  options.preprocess.crop.eval_resize = 16;
  options = WithView(options, {"image_size=40", "eval_resize=44"});
  // Else 16 would be refused as less than 40.
  options = WithView(options, {"labels=uint8", "draws=1"});
  EXPECT_EQ(options.views[1].preprocess, options.views[0].preprocess);
  EXPECT_EQ(CheckedInputOptions(options).views.size(), 2U);
}

TEST(InputPipelineViewsTest, LabelsOf32BitsAreThoseOf8) {
  const TestShards shards(MaskedPayloads(30));
  const std::string key = "key=" + std::string(kMask);
  InputOptions options = WithView(Options(), {key, "labels=uint8"});
  options = WithView(options, {key, "labels=int32"});
  for (const BatchCopy& batch : Stream(shards.index(), options, 5)) {
    for (std::size_t i = 0; i < batch.views[0].size(); ++i) {
      std::int32_t label = -1;
      std::memcpy(&label, &batch.views[1][sizeof(label) * i], sizeof(label));
      ASSERT_EQ(label, std::to_integer<std::int32_t>(batch.views[0][i]));
    }
  }
}

// Of a batch with that record.
std::string ErrorOf(const std::string& payload, const InputOptions& options) {
  const std::string good = MaskedPayload(1, 20, 20);
  const TestShards shards({good, payload, good, good}, 1);
  return MessageOf<DataError>(
      [&] { (void)Stream(shards.index(), options, 1); });
}

TEST(InputPipelineViewsTest, ARecordWithoutItsViewIsBad) {
  const InputOptions options =
      WithView(Options(), {"key=" + std::string(kMask), "labels=uint8"});
  EXPECT_THAT(ErrorOf(TestPayload(3), options),
              AllOf(HasSubstr("view 1: no image/mask; it has "),
                    HasSubstr("image/encoded")));
  EXPECT_THAT(ErrorOf(MaskedPayload(3, {30, 20}, {20, 30}), options),
              HasSubstr("view 1: the mask has 30x20 pixels, the image 20x30"));
  EXPECT_THAT(
      ErrorOf(TestPayload(3) + ExtraBytes(kMask, {"no image"}), options),
      HasSubstr("view 1: the mask is no PNG"));
}

// Else an evaluation would skip all of them.
TEST(InputPipelineViewsTest, AViewThatNoRecordHasIsRefused) {
  InputOptions options = WithView(Options(), {"key=image/msak"});
  options.training = false;
  EXPECT_THAT(
      MessageOf<UsageError>([&] { InputPipeline(SharedIndex(), options, {}); }),
      AllOf(HasSubstr("records has \"image/msak\"; they have "),
            HasSubstr("image/encoded")));
}

TEST(InputPipelineViewsTest, SkippedAndReplacedRecordsBringTheirViews) {
  std::vector<std::string> payloads = MaskedPayloads(30);
  payloads[5] = TestPayload(5);
  const TestShards shards(payloads);
  InputOptions options =
      WithView(Options(Recipe::kPlain),
               {"key=" + std::string(kMask), "labels=uint8", "fill=9"});
  options.shuffle = Shuffle::kNone;
  std::vector<BadRecordKind> kinds;
  options.on_bad = [&](const BadRecord& bad) { kinds.push_back(bad.kind); };
  options.on_bad_record = OnBadRecord::kSkip;
  const BatchCopy skipped = Stream(shards.index(), options, 2)[1];
  const auto slot = skipped.views[0].begin() + 16 * 16;
  EXPECT_EQ(skipped.weights[1], 0);
  EXPECT_THAT(std::vector<std::byte>(slot, slot + 16 * 16), Each(std::byte{9}));
  options.on_bad_record = OnBadRecord::kReplace;
  const BatchCopy replaced = Stream(shards.index(), options, 2)[1];
  EXPECT_NE(replaced.records[1], 5);
  EXPECT_GT(Agreement(replaced, 16), 0.05);
  EXPECT_FALSE(kinds.empty());
  EXPECT_THAT(kinds, Each(BadRecordKind::kImage));
}

TEST(InputPipelineViewsTest, AWarningOfAViewNamesIt) {
  std::string image = ImageOf(TestPayload(3));
  image.resize(image.size() - 20);
  const TestShards shards(
      {4, TestPayload(3) + ExtraBytes("image/other", {image})}, 1);
  InputOptions options = Options(Recipe::kPlain);
  options.preprocess.lenient = true;
  std::string warning;
  options.on_bad = [&](const BadRecord& bad) { warning = bad.error.reason(); };
  (void)Stream(shards.index(), WithView(options, {"key=image/other"}), 1);
  EXPECT_EQ(warning, "view 1: Premature end of JPEG file");
}

TEST(InputPipelineViewsTest, TheMemoryOfViewsIsPlanned) {
  const InputOptions options = Dino();
  InputPipeline pipeline(SharedIndex(), options, {});
  EXPECT_EQ(pipeline.memory().batches,
            3 * Batch::MemoryBytes(BatchSpecOf(options)));
  EXPECT_GE(Batch::MemoryBytes(BatchSpecOf(options)),
            4 * 4 * (2 * 16 * 16 + 8 * 9 * 9));
}

TEST(InputPipelineViewsTest, AStreamIsNotResumedWithOtherViews) {
  const RecordIndex& index = SharedIndex();
  const std::string without = BuildStreamState(StateOf(index, Options(), {}));
  EXPECT_THAT(without, Not(HasSubstr("views")));
  const std::string with = BuildStreamState(StateOf(index, Dino(), {}));
  EXPECT_EQ(ResumePosition(with, index, Dino()), StreamPosition());
  EXPECT_THAT(MessageOf<UsageError>([&] {
                (void)ResumePosition(with, index, WithView(Dino(), {}));
              }),
              HasSubstr("views is "));
  EXPECT_THAT(MessageOf<UsageError>(
                  [&] { (void)ResumePosition(with, index, Options()); }),
              HasSubstr("views is unknown here"));
}

TEST(InputPipelineViewsTest, SettingsThatCannotBeAreRefused) {
  const std::pair<std::vector<std::string>, const char*> rows[] = {
      {{"draws=1"}, "view 1: draws=1: must be the number of an earlier"},
      {{"batch_size=2"}, "'batch_size' is no setting of a view"},
      {{"labels=uint8", "image_size=20"},
       "view 1: labels have the image_size of the view that they follow, 16, "
       "not 20"},
      {{"labels=uint8", "fill=256"}, "view 1: fill 256: labels of uint8"},
      {{"labels=uint8", "random_flip=false"},
       "random_flip: labels follow the view"},
      {{"fill=0"}, "fill is of labels"},
      {{"fit_fill=0"}, "view 1: fit_fill: needs recipe=fit"},
      {{"recipe=fit", "iou_crop=true"},
       "view 1: iou_crop chooses crops by the boxes"},
      {{"draws=x"}, "draws='x': must be a whole number"}};
  const auto refusal = [](const InputOptions& options,
                          const std::vector<std::string>& settings) {
    return MessageOf<UsageError>(
        [&] { (void)CheckedInputOptions(WithView(options, settings)); });
  };
  for (const auto& [settings, message] : rows) {
    EXPECT_THAT(refusal(Options(), settings), HasSubstr(message));
  }
  InputOptions many = Options();
  for (int i = 0; i < 15; ++i) {
    many = WithView(many, {});
  }
  EXPECT_THAT(refusal(many, {}), HasSubstr("17 views: at most 16"));
  InputOptions evaluation = Options();
  evaluation.training = false;
  EXPECT_THAT(refusal(evaluation, {"draws=0", "image_size=24"}),
              HasSubstr("view 1: image_size=24: draws=0 makes a pair, which "
                        "recipe=torchvision keeps exact in an evaluation only "
                        "if the image_size is that of view 0, 16, or a whole"));
  EXPECT_EQ(refusal(evaluation, {"draws=0", "image_size=32"}), "");
  EXPECT_EQ(refusal(evaluation, {"image_size=24"}), "");
  EXPECT_EQ(refusal(Options(), {"draws=0", "image_size=24"}), "");
  EXPECT_THAT(refusal(Options(Recipe::kCifar), {"draws=0", "image_size=24"}),
              HasSubstr("recipe=cifar keeps exact only if"));
  InputOptions augmented = Options();
  augmented.preprocess.augment.policy = AugmentPolicy::kTrivialAugment;
  EXPECT_THAT(refusal(augmented, {"labels=uint8"}),
              HasSubstr("augment=trivialaugment moves pixels, which labels do "
                        "not follow"));
  InputOptions none = Options();
  none.layout = BatchContent::kNone;
  EXPECT_THAT(refusal(none, {}), HasSubstr("layout=none has no image"));
}

}  // namespace infeed::input_pipeline_views_test
