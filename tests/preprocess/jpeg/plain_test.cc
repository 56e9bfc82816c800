#include "preprocess/jpeg/plain.h"

#include <algorithm>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/jpeg/reference.h"
#include "preprocess/pixels/simd_target.h"
#include "tests/support/test_jpeg.h"

namespace infeed {
namespace {

Window WholeOf(const JpegInfo& info) {
  return {.y = 0, .x = 0, .height = info.height, .width = info.width};
}

Window DrawWindow(const JpegInfo& info, SampleRandom& random) {
  const int y = static_cast<int>(random.Below(info.height));
  const int x = static_cast<int>(random.Below(info.width));
  return {.y = y,
          .x = x,
          .height = 1 + static_cast<int>(random.Below(info.height - y)),
          .width = 1 + static_cast<int>(random.Below(info.width - x))};
}

// A JPEG and its pixels by libjpeg-turbo alone, at 1 / denominator.
struct Truth {
  explicit Truth(const TestJpegOptions& options, int denominator = 1)
      : jpeg(TestJpeg(options)) {
    ReferenceJpegDecoder reference;
    info = reference.ReadHeader(AsBytes(jpeg));
    info.width = (info.width + denominator - 1) / denominator;
    info.height = (info.height + denominator - 1) / denominator;
    ImageSink sink(image);
    reference.DecodeScaledWindow(denominator, WholeOf(info), sink);
  }
  [[nodiscard]] std::string Crop(const Window& window) const {
    return Flat(image.view(window));
  }

  std::string jpeg;
  JpegInfo info;
  RgbImage image;
};

// The checks of bench/decoder compare windows of all kinds, with and without
// indexes; these are the other cases.
class JpegPlainTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { UseSimdTarget(GetParam()); }
  void TearDown() override { UseSimdTarget(""); }

  std::string Decode(const Truth& truth, const Window& window,
                     const JpegSeekIndex* index = nullptr,
                     JpegSeekIndex* found = nullptr) {
    RgbImage image;
    ImageSink sink(image);
    std::ignore = decoder_.ReadHeader(AsBytes(truth.jpeg));
    decoder_.DecodeScaledWindow(1, window, sink, index, found);
    return Flat(image.view());
  }

  JpegDecoder decoder_;
};

INSTANTIATE_TEST_SUITE_P(Targets, JpegPlainTest,
                         testing::ValuesIn(SupportedSimdTargets()),
                         [](const auto& test) { return test.param; });

constexpr Subsampling kSamplings[] = {Subsampling::k444, Subsampling::k422,
                                      Subsampling::k420, Subsampling::k440};

// Each window is decoded with what the windows before found.
TEST_P(JpegPlainTest, WindowsExtendAPartialIndex) {
  for (const Subsampling sampling : kSamplings) {
    const Truth truth({.width = 203, .height = 150, .subsampling = sampling});
    const JpegSeekIndex whole = *MakeSeekIndex(AsBytes(truth.jpeg), 0);
    SampleRandom random({.seed = 4}, RandomStream::kMadeData);
    JpegSeekIndex known;
    for (int i = 0; i < 20; ++i) {
      const Window window = DrawWindow(truth.info, random);
      JpegSeekIndex found;
      ASSERT_EQ(Decode(truth, window, known.entries.empty() ? nullptr : &known,
                       &found),
                truth.Crop(window));
      ASSERT_TRUE(decoder_.was_plain());
      if (found.entries.empty()) {
        ASSERT_GE(known.covered_rows() * 16, window.y + window.height);
      } else {
        ASSERT_GT(found.covered_rows(), known.covered_rows());
        ASSERT_TRUE(std::equal(found.entries.begin(), found.entries.end(),
                               whole.entries.begin()));
        known = found;
      }
    }
    ASSERT_TRUE(known.is_complete() ||
                decoder_.CompleteIndex(AsBytes(truth.jpeg), known));
    EXPECT_EQ(known, whole);
  }
}

TEST_P(JpegPlainTest, FindsNothingWhereNoIndexCanBe) {
  for (const TestJpegOptions& options :
       {TestJpegOptions{.progressive = true},
        TestJpegOptions{.restart_interval = 4}}) {
    const Truth truth(options);
    JpegSeekIndex found;
    (void)Decode(truth, WholeOf(truth.info), nullptr, &found);
    EXPECT_TRUE(found.entries.empty());
  }
}

// The rows above the damage are found; the whole image is libjpeg's.
TEST_P(JpegPlainTest, FindsTheRowsInFrontOfDamage) {
  Truth truth({.width = 200, .height = 100});
  const JpegSeekIndex whole = *MakeSeekIndex(AsBytes(truth.jpeg), 0);
  truth.jpeg.resize(whole.entries[8].byte);
  JpegSeekIndex found;
  const Window top{.y = 0, .x = 0, .height = 40, .width = 100};
  EXPECT_EQ(Decode(truth, top, nullptr, &found), truth.Crop(top));
  ASSERT_EQ(found.covered_rows(), 5);
  JpegSeekIndex more = found;
  EXPECT_FALSE(decoder_.CompleteIndex(AsBytes(truth.jpeg), more));
  const JpegSeekIndex known = found;
  EXPECT_THROW((void)Decode(truth, WholeOf(truth.info), &known, &found),
               DataError);
  EXPECT_TRUE(found.entries.empty());
}

TEST_P(JpegPlainTest, WholeEighthsTakeTheSameWay) {
  const Truth truth({.width = 131, .height = 77}, 8);
  RgbImage image;
  std::ignore = decoder_.ReadHeader(AsBytes(truth.jpeg));
  decoder_.DecodeScaled(1, image);
  EXPECT_EQ(Flat(image.view()), truth.Crop(WholeOf(truth.info)));
  EXPECT_TRUE(decoder_.was_plain());
  std::ignore = decoder_.ReadHeader(AsBytes(truth.jpeg));
  decoder_.DecodeScaled(3, image);
  EXPECT_FALSE(decoder_.was_plain());
}

// Entries that are wrong but look well: the decode does not arrive.
TEST_P(JpegPlainTest, RefusesAWrongIndex) {
  const Truth truth({.width = 200, .height = 100});
  const Window window{.y = 20, .x = 30, .height = 60, .width = 100};
  const JpegSeekIndex good = *MakeSeekIndex(AsBytes(truth.jpeg), 4);
  JpegSeekIndex moved = good;
  JpegSeekIndex shifted = good;
  JpegSeekIndex short_one = good;
  // The window's rows of MCUs: 2..9, columns 3..16, runs 0..4.
  moved.entries[5 * good.runs_per_row()].bit ^= 1;
  ++shifted.entries[5 * good.runs_per_row() + 5].dc[1];
  short_one.entries.pop_back();
  for (const JpegSeekIndex* index : {&moved, &shifted, &short_one}) {
    EXPECT_EQ(Decode(truth, window, index), truth.Crop(window));
    EXPECT_EQ(decoder_.index_use(), JpegIndexUse::kRefused);
    EXPECT_TRUE(decoder_.was_plain());
  }
}

TEST(JpegSeekMakerTest, EntriesPointIntoTheFile) {
  const std::string jpeg = TestJpeg({.width = 100, .height = 60});
  const JpegSeekIndex index = *MakeSeekIndex(AsBytes(jpeg), 0);
  EXPECT_EQ(index.mcus_per_row, 13);
  EXPECT_EQ(index.mcu_rows, 8);
  EXPECT_EQ(index.run, 13);
  ASSERT_EQ(index.entries.size(), 9U);
  EXPECT_EQ(index.entries[0].byte, jpeg.find("\xFF\xDA") + 14);
  EXPECT_EQ(index.entries[0].bit, 0);
  // The last bits are in the last byte before the end marker.
  const SeekEntry& end = index.entries.back();
  EXPECT_EQ(end.byte + (end.bit > 0 ? 1 : 0), jpeg.size() - 2);
}

TEST(JpegSeekMakerTest, RunsAgreeWithRows) {
  const std::string jpeg = TestJpeg({.width = 300, .height = 60});
  const JpegSeekIndex rows = *MakeSeekIndex(AsBytes(jpeg), 0);
  const JpegSeekIndex runs = *MakeSeekIndex(AsBytes(jpeg), 4);
  EXPECT_EQ(runs.runs_per_row(), 10);
  for (int row = 0; row < rows.mcu_rows; ++row) {
    EXPECT_EQ(rows.entries[row], runs.entries[row * 10]);
  }
}

TEST(JpegSeekMakerTest, IndexesOnlyRegularPlainJpegs) {
  const auto made = [](const std::string& jpeg) {
    return MakeSeekIndex(AsBytes(jpeg), 0).has_value();
  };
  const std::string jpeg = TestJpeg();
  EXPECT_TRUE(made(jpeg));
  EXPECT_FALSE(made(jpeg.substr(0, jpeg.size() - 2)));
  EXPECT_FALSE(made(jpeg.substr(0, jpeg.size() / 2)));
  EXPECT_FALSE(made(TestJpeg({.progressive = true})));
  EXPECT_FALSE(made(TestJpeg({.restart_interval = 4})));
  EXPECT_FALSE(made("no JPEG"));
}

}  // namespace
}  // namespace infeed
