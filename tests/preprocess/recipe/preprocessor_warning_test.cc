// JPEGs that libjpeg warns about, where they are used all the same.

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "preprocess/recipe/recipe.h"
#include "preprocess/resize/resize.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

namespace infeed {
namespace preprocessor_warning_test {

using testing::HasSubstr;

constexpr int kSize = 32;
using Pixels = std::vector<std::uint32_t>;

class PreprocessorWarningTest : public testing::Test {
 protected:
  [[nodiscard]] FillCounts Fill(JpegWarnings warnings,
                                const std::string& encoded) {
    Preprocessor preprocessor({.recipe = Recipe::kPlain,
                               .training = false,
                               .image_size = kSize,
                               .warnings = warnings});
    return preprocessor.Fill(AsBytes(encoded), {}, pixels_);
  }

  const std::string whole_ = TestJpeg({.width = 90, .height = 70});
  const std::string cut_ = whole_.substr(0, whole_.size() * 3 / 4);
  Pixels pixels_ = Pixels(std::size_t{kSize} * kSize);
};

TEST_F(PreprocessorWarningTest, IsAnErrorUnlessTolerated) {
  EXPECT_THAT(
      MessageOf<DataError>([&] { (void)Fill(JpegWarnings::kErrors, cut_); }),
      HasSubstr("Premature end of JPEG file"));
}

TEST_F(PreprocessorWarningTest, LeavesThePixelsOfLibjpegsTolerantDecode) {
  EXPECT_EQ(Fill(JpegWarnings::kTolerated, cut_).warning,
            "Premature end of JPEG file");
  JpegDecoder decoder({}, JpegWarnings::kTolerated);
  RgbImage image;
  std::ignore = decoder.ReadHeader(AsBytes(cut_));
  decoder.Decode(image);
  EXPECT_FALSE(decoder.was_plain());
  Pixels expected(pixels_.size());
  ResizeBicubic(image.view(), kSize, false, expected);
  EXPECT_EQ(pixels_, expected);
}

TEST_F(PreprocessorWarningTest, IsNotThatOfTheImageBefore) {
  Preprocessor preprocessor({.recipe = Recipe::kPlain,
                             .training = false,
                             .image_size = kSize,
                             .warnings = JpegWarnings::kTolerated});
  EXPECT_NE(preprocessor.Fill(AsBytes(cut_), {}, pixels_).warning, "");
  EXPECT_EQ(preprocessor.Fill(AsBytes(whole_), {}, pixels_).warning, "");
  const Pixels after = pixels_;
  (void)Fill(JpegWarnings::kErrors, whole_);
  EXPECT_EQ(after, pixels_);
}

TEST_F(PreprocessorWarningTest, ExcusesNoError) {
  EXPECT_THAT(MessageOf<DataError>([&] {
                (void)Fill(JpegWarnings::kTolerated, whole_.substr(0, 30));
              }),
              HasSubstr("JPEG"));
}

}  // namespace preprocessor_warning_test
}  // namespace infeed
