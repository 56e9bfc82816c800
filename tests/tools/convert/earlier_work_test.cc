#include "tools/convert/earlier_work.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "base/error.h"
#include "tests/support/image_folder.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

class ShardFingerprintTest : public ::testing::Test {
 protected:
  ShardFingerprintTest() {
    raw_.JpegsIn("a", 4);
    plan_ = PlanConversion(FindImages(raw_.path()), {.shards = 2});
  }
  [[nodiscard]] std::string Of(const ConversionPlan& plan,
                               std::size_t shard = 0) const {
    return ShardFingerprints(plan, options_).Of({0, shard});
  }
  // Whether the change of a plan changes the fingerprint.
  bool Tells(const std::function<void(ConversionPlan&)>& change) const {
    ConversionPlan changed = plan_;
    change(changed);
    return Of(changed) != Of(plan_);
  }

  ImageFolder raw_;
  ConversionPlan plan_;
  ConverterOptions options_;
};

TEST_F(ShardFingerprintTest, EqualPlansHaveEqualFingerprints) {
  EXPECT_EQ(Of(plan_), Of(plan_));
  EXPECT_EQ(Of(plan_).size(), 24U);
  EXPECT_NE(Of(plan_, 0), Of(plan_, 1));
}

TEST_F(ShardFingerprintTest, TellsWhatChangesTheBytes) {
  using Plan = ConversionPlan;
  EXPECT_TRUE(Tells([](Plan& plan) {
    std::swap(plan.splits[0].images[0], plan.splits[0].images[1]);
  }));
  EXPECT_TRUE(Tells([](Plan& plan) { plan.splits[0].images[0].bytes = 1; }));
  EXPECT_TRUE(Tells([](Plan& plan) { plan.splits[0].shards[0].count = 1; }));
  EXPECT_TRUE(Tells([](Plan& plan) { plan.splits[0].shards[0].name = "x"; }));
  EXPECT_TRUE(Tells([](Plan& plan) { plan.classes[0].name = "b"; }));
  EXPECT_TRUE(Tells([](Plan& plan) { plan.classes[0].text = "b"; }));
  EXPECT_FALSE(Tells([](Plan& plan) {
    plan.splits[0].images[3].bytes = 1;  // of the other shard
  }));
}

TEST_F(ShardFingerprintTest, LeavesOutAFolderThatHasAnotherNameInEachRun) {
  const TemporaryFolder other;
  std::filesystem::copy(raw_.path(), other.path(),
                        std::filesystem::copy_options::recursive);
  for (const ImageFile& image : plan_.splits[0].images) {
    std::filesystem::last_write_time(
        other.path() + image.path.substr(raw_.path().size()),
        std::filesystem::last_write_time(image.path));
  }
  const auto in = [&](const std::string& folder, const std::string& passing) {
    return Of(PlanConversion(FindImages(folder),
                             {.shards = 2, .passing_folder = passing}));
  };
  EXPECT_EQ(in(raw_.path(), raw_.path()), in(other.path(), other.path()));
  EXPECT_NE(in(raw_.path(), ""), in(other.path(), ""));
}

TEST_F(ShardFingerprintTest, TellsOptionsThatChangeTheBytesAndNoOthers) {
  const std::string before = Of(plan_);
  options_ = {.on_bad_image = OnBadImage::kSkip, .threads = 7};
  EXPECT_EQ(Of(plan_), before);
  for (const ImageEncoderOptions& image :
       {ImageEncoderOptions{.verify = false},
        ImageEncoderOptions{.format = ImageForm::kPixels},
        ImageEncoderOptions{.max_size = 64}, ImageEncoderOptions{.quality = 1},
        ImageEncoderOptions{.keep_png = true},
        ImageEncoderOptions{.exif_rotate = true}}) {
    options_ = {.image = image};
    EXPECT_NE(Of(plan_), before);
  }
}

TEST_F(ShardFingerprintTest, AConversionsKeyIgnoresItsImages) {
  const std::string before = ConversionKey(plan_, options_);
  EXPECT_EQ(before.size(), 24U);
  ConversionPlan other = plan_;
  other.splits[0].images[0].bytes = 1;
  other.classes[0].name = "b";
  EXPECT_EQ(ConversionKey(other, {.on_bad_image = OnBadImage::kSkip}), before);
  other.source = "x";
  EXPECT_NE(ConversionKey(other, options_), before);
  EXPECT_NE(ConversionKey(plan_, {.image = {.quality = 1}}), before);
}

TEST_F(ShardFingerprintTest, TellsWhichSeekIndexesThereAre) {
  const std::string before = Of(plan_);
  for (const SeekEntries entries :
       {SeekEntries::kNone, SeekEntries::kEvery8th, SeekEntries::kEvery4th}) {
    options_.seek_index = entries;
    EXPECT_NE(Of(plan_), before);
  }
  // Pixels have none, whatever was asked for.
  options_.image.format = ImageForm::kPixels;
  const std::string pixels = Of(plan_);
  options_.seek_index = SeekEntries::kRows;
  EXPECT_EQ(Of(plan_), pixels);
}

TEST_F(ShardFingerprintTest, TellsAFileThatWasTouched) {
  const std::string before = Of(plan_);
  const std::string& path = plan_.splits[0].images[0].path;
  std::filesystem::last_write_time(
      path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
  EXPECT_NE(Of(plan_), before);
  std::filesystem::remove(path);
  EXPECT_THAT([&] { (void)Of(plan_); },
              ::testing::ThrowsMessage<IoError>(
                  ::testing::HasSubstr(path + ": cannot stat")));
}

}  // namespace
}  // namespace infeed
