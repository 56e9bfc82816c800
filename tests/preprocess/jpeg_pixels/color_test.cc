#include <algorithm>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "preprocess/jpeg_pixels/color_scalar.h"
#include "preprocess/pixels/simd_target.h"
#include "tests/support/coefficient_jpeg.h"
#include "tests/support/jpeg_back_half.h"

// Upsampling and colour of every SIMD target that this CPU has, against
// libjpeg-turbo.
namespace infeed {
namespace color_test {

using Samples = std::vector<std::uint8_t>;

Samples RandomBytes(std::size_t count, std::mt19937& random) {
  Samples bytes(count);
  std::ranges::generate(bytes, [&] { return random() % 256; });
  return bytes;
}

// Rows with the room around them that kernels may read or write.
class PaddedRow {
 public:
  explicit PaddedRow(int count) : bytes_(count + 128) {}
  // A row, its ends repeated beyond it.
  PaddedRow(std::span<const std::uint8_t> samples)
      : PaddedRow(static_cast<int>(samples.size())) {
    std::ranges::fill(bytes_, 77);
    std::ranges::copy(samples, data());
    data()[-1] = samples.front();
    data()[samples.size()] = samples.back();
  }
  std::uint8_t* data() { return bytes_.data() + 64; }

 private:
  Samples bytes_;
};

// A colour image of one MCU row, its chroma of one block a MCU, and what
// libjpeg makes of it.
struct ColorImage {
  ColorImage(int horizontal, int vertical, int mcus) {
    std::vector<CoefficientPlane> components;
    for (unsigned i = 0; i < 3; ++i) {
      const bool luma = i == 0;
      CoefficientPlane plane = MakeBlocks(luma ? horizontal * mcus : mcus,
                                          luma ? vertical : 1, 300, 3, i + 40)
                                   .plane;
      plane.horizontal = luma ? horizontal : 1;
      plane.vertical = luma ? vertical : 1;
      components.push_back(plane);
    }
    const std::string jpeg = CoefficientJpeg(components);
    planes = LibjpegSamples(jpeg);
    ycc = LibjpegPixels(jpeg, false);
    rgb = LibjpegPixels(jpeg, true);
  }
  // Row y of a component before upsampling; the last one for those below.
  PaddedRow Row(std::size_t component, int y) const {
    const DecodedPlane& plane = planes[component];
    y = std::clamp(y, 0, plane.height - 1);
    return std::span(plane.samples).subspan(y * plane.width, plane.width);
  }
  // A row of the component after upsampling.
  Samples Upsampled(std::size_t component, int y) const {
    Samples row;
    for (int x = 0; x < ycc.width; ++x) {
      row.push_back(ycc.samples[(y * ycc.width + x) * 3 + component]);
    }
    return row;
  }

  std::vector<DecodedPlane> planes;
  DecodedPlane ycc;
  DecodedPlane rgb;
};

class JpegColorTest : public testing::TestWithParam<std::string> {
 protected:
  JpegColorTest() { UseSimdTarget(GetParam()); }
  ~JpegColorTest() override { UseSimdTarget(""); }
  [[nodiscard]] static JpegBackHalf code() { return CurrentJpegBackHalf(); }
};

INSTANTIATE_TEST_SUITE_P(Targets, JpegColorTest,
                         testing::ValuesIn(SupportedSimdTargets()),
                         [](const testing::TestParamInfo<std::string>& target) {
                           return target.param;
                         });

TEST_P(JpegColorTest, UpsamplesAsLibjpegDoes) {
  for (const auto& [horizontal, vertical] :
       {std::pair(2, 1), std::pair(2, 2), std::pair(1, 2)}) {
    const ColorImage image(horizontal, vertical, 19);
    for (int y = 0; y < image.ycc.height; ++y) {
      const bool lower = y % 2 != 0;
      PaddedRow near = image.Row(1, y / vertical);
      PaddedRow far = image.Row(1, lower ? y / 2 + 1 : y / 2 - 1);
      PaddedRow out(image.ycc.width);
      const int width = image.planes[1].width;
      if (vertical == 1) {
        code().upsample_h2v1(near.data(), width, out.data());
      } else if (horizontal == 2) {
        code().upsample_h2v2(near.data(), far.data(), width, out.data());
      } else {
        code().upsample_h1v2(near.data(), far.data(), lower, image.ycc.width,
                             out.data());
      }
      EXPECT_EQ(Samples(out.data(), out.data() + image.ycc.width),
                image.Upsampled(1, y))
          << horizontal << " " << vertical;
    }
  }
}

TEST_P(JpegColorTest, ReplicatesEachSample) {
  std::mt19937 random(5);
  for (int count = 1; count <= 70; ++count) {
    const Samples samples = RandomBytes(count, random);
    PaddedRow in(samples);
    PaddedRow out(2 * count);
    code().replicate_h2(in.data(), count, out.data());
    for (int i = 0; i < 2 * count; ++i) {
      ASSERT_EQ(out.data()[i], samples[i / 2]);
    }
  }
}

TEST_P(JpegColorTest, ConvertsToRgbAsLibjpegDoes) {
  for (const int vertical : {1, 2}) {
    const ColorImage image(1, vertical, 150);
    const std::size_t row_bytes = std::size_t{3} * image.rgb.width;
    for (int y = 0; y < image.rgb.height; ++y) {
      PaddedRow luma(image.Upsampled(0, y));
      PaddedRow cb(image.Upsampled(1, y));
      PaddedRow cr(image.Upsampled(2, y));
      Samples rgb(row_bytes);
      code().ycc_to_rgb(luma.data(), cb.data(), cr.data(), image.rgb.width,
                        rgb.data());
      ASSERT_TRUE(std::ranges::equal(
          rgb, std::span(image.rgb.samples).subspan(y * row_bytes, row_bytes)));
    }
  }
}

// Each pair of chroma with a luma that keeps the results inside, and with the
// two that clamp them.
TEST_P(JpegColorTest, ConvertsEveryChromaAsThePortableCodeDoes) {
  Samples cb(256);
  std::iota(cb.begin(), cb.end(), 0);
  for (const int luma : {0, 127, 255}) {
    PaddedRow y(Samples(256, luma));
    for (int value = 0; value < 256; ++value) {
      PaddedRow u(cb);
      PaddedRow v(Samples(256, value));
      Samples rgb(768);
      code().ycc_to_rgb(y.data(), u.data(), v.data(), 256, rgb.data());
      Samples expected(768);
      YccToRgbRow(y.data(), u.data(), v.data(), 256, expected.data());
      ASSERT_EQ(rgb, expected) << luma << " " << value;
    }
  }
}

// Conversions of every short length write their bytes and none behind them.
TEST_P(JpegColorTest, WritesNothingBehindARow) {
  std::mt19937 random(6);
  for (int count = 0; count <= 200; ++count) {
    PaddedRow a(RandomBytes(count + 1, random));
    PaddedRow b(RandomBytes(count + 1, random));
    PaddedRow c(RandomBytes(count + 1, random));
    Samples rgb(3 * count + 200, 55);
    Samples expected = rgb;
    code().ycc_to_rgb(a.data(), b.data(), c.data(), count, rgb.data());
    YccToRgbRow(a.data(), b.data(), c.data(), count, expected.data());
    ASSERT_EQ(rgb, expected);
    code().planes_to_rgb(a.data(), b.data(), c.data(), count, rgb.data());
    PlanesToRgbRow(a.data(), b.data(), c.data(), count, expected.data());
    ASSERT_EQ(rgb, expected);
    code().gray_to_rgb(b.data(), count, rgb.data());
    PlanesToRgbRow(b.data(), b.data(), b.data(), count, expected.data());
    ASSERT_EQ(rgb, expected);
  }
}

// Upsampling of every short length, against the portable code.
TEST_P(JpegColorTest, UpsamplesRowsOfEveryLength) {
  std::mt19937 random(8);
  for (int count = 1; count <= 140; ++count) {
    PaddedRow near(RandomBytes(count, random));
    PaddedRow far(RandomBytes(count, random));
    PaddedRow out(2 * count);
    PaddedRow expected(2 * count);
    const auto expect_equal = [&](int size) {
      ASSERT_TRUE(std::equal(out.data(), out.data() + size, expected.data()))
          << count;
    };
    code().upsample_h2v1(near.data(), count, out.data());
    UpsampleH2V1Row(near.data(), count, expected.data());
    expect_equal(2 * count);
    code().upsample_h2v2(near.data(), far.data(), count, out.data());
    UpsampleH2V2Row(near.data(), far.data(), count, expected.data());
    expect_equal(2 * count);
    for (const bool lower : {false, true}) {
      code().upsample_h1v2(near.data(), far.data(), lower, count, out.data());
      UpsampleH1V2Row(near.data(), far.data(), lower, count, expected.data());
      expect_equal(count);
    }
  }
}

}  // namespace color_test
}  // namespace infeed
