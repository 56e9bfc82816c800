#include "base/error.h"
#include "pipeline/order/options.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

auto Refuses(const char* why) {
  return Throws<UsageError>(Property(&UsageError::what, HasSubstr(why)));
}

TEST(InputOptionsTest, ParsesShuffles) {
  EXPECT_EQ(ParseShuffle("none"), Shuffle::kNone);
  EXPECT_EQ(ParseShuffle("global"), Shuffle::kGlobal);
  EXPECT_THAT([] { (void)ParseShuffle("some"); },
              Refuses("shuffle is \"some\": give none, global, window, "
                      "reference or torch"));
}

TEST(InputOptionsTest, ParsesPolicies) {
  EXPECT_EQ(ParseOnBadRecord("fail"), OnBadRecord::kFail);
  EXPECT_EQ(ParseOnBadRecord("replace"), OnBadRecord::kReplace);
  EXPECT_EQ(ParseOnBadRecord("skip"), OnBadRecord::kSkip);
  EXPECT_THAT([] { (void)ParseOnBadRecord(""); },
              Refuses("on_bad_record is \"\": give fail, replace or skip"));
}

TEST(InputOptionsTest, WorksTheThreadsOut) {
  EXPECT_GE(CheckedInputOptions({}).threads, 1);
  EXPECT_EQ(CheckedInputOptions({.threads = 5}).threads, 5);
}

TEST(InputOptionsTest, NamesTheFieldThatIsOutOfRange) {
  const auto check = [](const InputOptions& options) {
    return [options] { (void)CheckedInputOptions(options); };
  };
  EXPECT_THAT(check({.batch_size = 0}), Refuses("batch_size is 0: give"));
  EXPECT_THAT(check({.rank = 2, .world_size = 2}),
              Refuses("rank is 2: give a number from 0 to 1"));
  EXPECT_THAT(check({.world_size = 0}), Refuses("world_size is 0"));
  EXPECT_THAT(check({.image_size = 1 << 20}), Refuses("image_size is 1048576"));
  EXPECT_THAT(check({.threads = -1}), Refuses("threads is -1"));
  EXPECT_THAT(check({.max_records = -1}), Refuses("max_records is -1"));
  EXPECT_THAT(check({.batches_in_pool = 1}),
              Refuses("batches_in_pool is 1: give a number from 2"));
  EXPECT_THAT(check({.jpeg_limits = {.max_pixels = 0}}),
              Refuses("jpeg_limits.max_pixels is 0"));
}

TEST(InputOptionsTest, RefusesWhatADeviceCannotResize) {
  const auto check = [](InputOptions options) {
    options.device_resize = true;
    return [options] { (void)CheckedInputOptions(options); };
  };
  EXPECT_NO_THROW(check({})());
  EXPECT_THAT(
      check({.recipe = Recipe::kTorchvision}),
      Refuses("device_resize: the device has the kernels of four taps"));
  EXPECT_THAT(check({.recipe = Recipe::kCifar,
                     .interpolation = Interpolation::kBilinear}),
              Refuses("device_resize: recipe cifar"));
  EXPECT_THAT(check({.augment = {.erasing = 0.5}}),
              Refuses("device_resize: images are augmented"));
  EXPECT_NO_THROW(check({.augment = {.erasing = 0.5}, .training = false})());
}

TEST(InputOptionsTest, RefusesABatchThatRanksCannotShare) {
  EXPECT_THAT(
      [] { (void)CheckedInputOptions({.batch_size = 10, .world_size = 4}); },
      Refuses("batch_size 10 is not a multiple of world_size 4"));
}

TEST(InputOptionsTest, TakesThePreprocessorsOptionsFromTheInputs) {
  const PreprocessOptions options =
      PreprocessOptionsOf({.image_size = 8,
                           .recipe = Recipe::kPlain,
                           .interpolation = Interpolation::kBilinear,
                           .augment = {.layers = 3},
                           .training = false,
                           .lenient = true,
                           .scaled_decode = true,
                           .jpeg_limits = {.max_scans = 5}});
  EXPECT_EQ(options.image_size, 8);
  EXPECT_EQ(options.recipe, Recipe::kPlain);
  EXPECT_EQ(options.interpolation, Interpolation::kBilinear);
  EXPECT_EQ(options.augment.layers, 3);
  EXPECT_FALSE(options.training);
  EXPECT_EQ(options.warnings, JpegWarnings::kTolerated);
  EXPECT_TRUE(options.scaled_decode);
  EXPECT_EQ(options.limits.max_scans, 5);
  EXPECT_EQ(PreprocessOptionsOf({}).warnings, JpegWarnings::kErrors);
}

}  // namespace
}  // namespace infeed
