// The inverse DCT, upsampling and colour of every SIMD target that this CPU
// has, against libjpeg-turbo.

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "preprocess/jpeg_color_scalar.h"
#include "preprocess/jpeg_idct_scalar.h"
#include "preprocess/simd_target.h"
#include "tests/support/coefficient_jpeg.h"
#include "tests/support/jpeg_back_half.h"

namespace infeed {
namespace {

constexpr std::array<std::uint8_t, 64> kZigzag = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

using Samples = std::vector<std::uint8_t>;

class Random {
 public:
  explicit Random(unsigned seed) : generator_(seed) {}
  // In -limit..limit, small ones as likely as large ones.
  int Coefficient(int limit) {
    const int size = Below(16);
    const int range = std::min(limit, (1 << size) - 1);
    return Below(2 * range + 1) - range;
  }
  int Below(int n) { return static_cast<int>(generator_() % n); }
  Samples Bytes(std::size_t count) {
    Samples bytes(count);
    std::ranges::generate(bytes, [&] { return Below(256); });
    return bytes;
  }

 private:
  std::mt19937 generator_;
};

// Blocks that end at all places, with AC up to limit, and their ends.
struct Blocks {
  CoefficientPlane plane;
  std::vector<std::uint8_t> ends;
};

Blocks MakeBlocks(int columns, int rows, int limit, int quantiser_limit,
                  unsigned seed) {
  Random random(seed);
  Blocks blocks;
  blocks.plane.columns = columns;
  blocks.plane.rows = rows;
  for (std::uint16_t& divisor : blocks.plane.quantiser) {
    divisor = static_cast<std::uint16_t>(1 + random.Below(quantiser_limit));
  }
  for (int i = 0; i < columns * rows; ++i) {
    const int end =
        random.Below(3) == 0 ? 1 + random.Below(10) : 1 + random.Below(64);
    std::array<std::int16_t, 64> block{};
    for (int k = 0; k < end; ++k) {
      block[kZigzag[k]] = static_cast<std::int16_t>(
          random.Coefficient(k == 0 ? std::min(limit, 16383) : limit));
    }
    blocks.plane.coefficients.insert(blocks.plane.coefficients.end(),
                                     block.begin(), block.end());
    blocks.ends.push_back(static_cast<std::uint8_t>(end));
  }
  return blocks;
}

std::array<std::int16_t, 64> Stored(const JpegBackHalf& code, auto natural) {
  std::array<std::int16_t, 64> stored;
  for (std::size_t k = 0; k < 64; ++k) {
    stored[code.stored_place[k]] =
        static_cast<std::int16_t>(natural[kZigzag[k]]);
  }
  return stored;
}

std::vector<std::int16_t> StoredBlocks(const JpegBackHalf& code,
                                       const CoefficientPlane& plane) {
  std::vector<std::int16_t> stored;
  for (std::size_t i = 0; i < plane.coefficients.size(); i += 64) {
    const auto block = Stored(code, plane.coefficients.data() + i);
    stored.insert(stored.end(), block.begin(), block.end());
  }
  return stored;
}

Samples TransformRow(const Blocks& blocks, int row, bool& regular) {
  const JpegBackHalf code = CurrentJpegBackHalf();
  const int columns = blocks.plane.columns;
  const auto quantiser = Stored(code, blocks.plane.quantiser);
  const std::vector<std::int16_t> stored = StoredBlocks(code, blocks.plane);
  std::vector<int> indices(columns);
  std::iota(indices.begin(), indices.end(), row * columns);
  Samples out(std::size_t{64} * columns);
  regular = code.inverse_dct_row(stored.data(), blocks.ends.data(),
                                 indices.data(), columns, quantiser.data(),
                                 out.data(), std::ptrdiff_t{8} * columns);
  return out;
}

// Block i of a plane.
Samples BlockOf(const DecodedPlane& plane, int i) {
  const int columns = plane.width / 8;
  Samples block;
  for (int y = 0; y < 8; ++y) {
    const auto row = plane.samples.begin() +
                     (i / columns * 8 + y) * plane.width + i % columns * 8;
    block.insert(block.end(), row, row + 8);
  }
  return block;
}

std::string NameOf(const testing::TestParamInfo<std::string>& target) {
  return target.param;
}

class JpegBackHalfTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { UseSimdTarget(GetParam()); }
  void TearDown() override { UseSimdTarget(""); }
  const JpegBackHalf& code() {
    code_ = CurrentJpegBackHalf();
    return code_;
  }

 private:
  JpegBackHalf code_;
};

INSTANTIATE_TEST_SUITE_P(Targets, JpegBackHalfTest,
                         testing::ValuesIn(SupportedSimdTargets()), NameOf);

// Numbers as photographs and hard-pressed coders have them: all are regular.
TEST_P(JpegBackHalfTest, TransformsAsLibjpegDoes) {
  for (const auto& [limit, divisors] :
       {std::pair{31, 20}, {255, 4}, {1023, 1}, {3, 255}, {0, 255}}) {
    const Blocks blocks = MakeBlocks(67, 6, limit, divisors, limit + 1);
    const DecodedPlane truth =
        LibjpegSamples(CoefficientJpeg({blocks.plane})).front();
    for (int row = 0; row < blocks.plane.rows; ++row) {
      bool regular = false;
      const Samples samples = TransformRow(blocks, row, regular);
      EXPECT_TRUE(regular);
      ASSERT_TRUE(std::ranges::equal(
          samples, std::span(truth.samples)
                       .subspan(row * samples.size(), samples.size())))
          << "limit " << limit << ", row " << row;
    }
  }
}

// Numbers that no encoder makes: whatever is called regular is right, and the
// portable code says the same of each block. At least some are not extreme.
TEST_P(JpegBackHalfTest, WrapsAndClampsAsLibjpegDoes) {
  for (const int limit : {2047, 8191, 32767}) {
    const Blocks blocks = MakeBlocks(256, 4, limit, limit > 8191 ? 255 : 3, 7);
    const CoefficientPlane& plane = blocks.plane;
    const DecodedPlane truth = LibjpegSamples(CoefficientJpeg({plane})).front();
    const std::vector<std::int16_t> stored = StoredBlocks(code(), plane);
    const auto quantiser = Stored(code(), plane.quantiser);
    std::array<std::int16_t, 64> natural_quantiser;
    std::ranges::copy(plane.quantiser, natural_quantiser.begin());
    int regular = 0;
    for (int i = 0; i < plane.columns * plane.rows; ++i) {
      Samples samples(64);
      const bool is_regular =
          code().inverse_dct_row(stored.data(), blocks.ends.data(), &i, 1,
                                 quantiser.data(), samples.data(), 8);
      Samples twins(64);
      ASSERT_EQ(is_regular,
                InverseDctBlock(plane.coefficients.data() + 64 * i,
                                natural_quantiser.data(), twins.data(), 8));
      if (is_regular) {
        ++regular;
        ASSERT_EQ(samples, twins);
        ASSERT_EQ(samples, BlockOf(truth, i)) << "limit " << limit;
      }
    }
    EXPECT_GT(regular, 10) << "limit " << limit;
  }
}

// The samples of some of a row's blocks, in another order than they are kept.
TEST_P(JpegBackHalfTest, TransformsTheBlocksNamed) {
  const Blocks blocks = MakeBlocks(40, 1, 63, 9, 3);
  bool regular = false;
  const Samples all = TransformRow(blocks, 0, regular);
  const std::vector<std::int16_t> stored = StoredBlocks(code(), blocks.plane);
  const auto quantiser = Stored(code(), blocks.plane.quantiser);
  for (int count = 0; count <= 13; ++count) {
    std::vector<int> indices;
    for (int i = 0; i < count; ++i) {
      indices.push_back(3 * (count - i) - 1);
    }
    const std::ptrdiff_t stride = 8 * count + 3;
    Samples out(8 * stride, 99);
    ASSERT_TRUE(code().inverse_dct_row(stored.data(), blocks.ends.data(),
                                       indices.data(), count, quantiser.data(),
                                       out.data(), stride));
    Samples expected(8 * stride, 99);
    for (int y = 0; y < 8; ++y) {
      for (int i = 0; i < count; ++i) {
        std::copy_n(all.begin() + (40 * y + indices[i]) * 8, 8,
                    expected.begin() + y * stride + i * 8);
      }
    }
    EXPECT_EQ(out, expected) << count;
  }
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
  // The same after it.
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

TEST_P(JpegBackHalfTest, UpsamplesH2V1AsLibjpegDoes) {
  const ColorImage image(2, 1, 19);
  for (int y = 0; y < image.ycc.height; ++y) {
    PaddedRow in = image.Row(1, y);
    PaddedRow out(image.ycc.width);
    code().upsample_h2v1(in.data(), image.planes[1].width, out.data());
    EXPECT_EQ(Samples(out.data(), out.data() + image.ycc.width),
              image.Upsampled(1, y));
  }
}

TEST_P(JpegBackHalfTest, UpsamplesH2V2AsLibjpegDoes) {
  const ColorImage image(2, 2, 19);
  for (int y = 0; y < image.ycc.height; ++y) {
    PaddedRow near = image.Row(2, y / 2);
    PaddedRow far = image.Row(2, y % 2 == 0 ? y / 2 - 1 : y / 2 + 1);
    PaddedRow out(image.ycc.width);
    code().upsample_h2v2(near.data(), far.data(), image.planes[2].width,
                         out.data());
    EXPECT_EQ(Samples(out.data(), out.data() + image.ycc.width),
              image.Upsampled(2, y));
  }
}

TEST_P(JpegBackHalfTest, UpsamplesH1V2AsLibjpegDoes) {
  const ColorImage image(1, 2, 19);
  for (int y = 0; y < image.ycc.height; ++y) {
    const bool lower = y % 2 != 0;
    PaddedRow near = image.Row(1, y / 2);
    PaddedRow far = image.Row(1, lower ? y / 2 + 1 : y / 2 - 1);
    PaddedRow out(image.ycc.width);
    code().upsample_h1v2(near.data(), far.data(), lower, image.ycc.width,
                         out.data());
    EXPECT_EQ(Samples(out.data(), out.data() + image.ycc.width),
              image.Upsampled(1, y));
  }
}

TEST_P(JpegBackHalfTest, ReplicatesEachSample) {
  Random random(5);
  for (int count = 1; count <= 70; ++count) {
    const Samples samples = random.Bytes(count);
    PaddedRow in(samples);
    PaddedRow out(2 * count);
    code().replicate_h2(in.data(), count, out.data());
    for (int i = 0; i < 2 * count; ++i) {
      ASSERT_EQ(out.data()[i], samples[i / 2]);
    }
  }
}

TEST_P(JpegBackHalfTest, ConvertsToRgbAsLibjpegDoes) {
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
TEST_P(JpegBackHalfTest, ConvertsEveryChromaAsThePortableCodeDoes) {
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
TEST_P(JpegBackHalfTest, WritesNothingBehindARow) {
  Random random(6);
  for (int count = 0; count <= 200; ++count) {
    PaddedRow a(random.Bytes(count + 1));
    PaddedRow b(random.Bytes(count + 1));
    PaddedRow c(random.Bytes(count + 1));
    Samples rgb(3 * count + 200, 55);
    Samples expected = rgb;
    code().ycc_to_rgb(a.data(), b.data(), c.data(), count, rgb.data());
    YccToRgbRow(a.data(), b.data(), c.data(), count, expected.data());
    ASSERT_EQ(rgb, expected);
    code().planes_to_rgb(a.data(), b.data(), c.data(), count, rgb.data());
    PlanesToRgbRow(a.data(), b.data(), c.data(), count, expected.data());
    ASSERT_EQ(rgb, expected);
    code().gray_to_rgb(b.data(), count, rgb.data());
    GrayToRgbRow(b.data(), count, expected.data());
    ASSERT_EQ(rgb, expected);
  }
}

// Upsampling of every short length, against the portable code.
TEST_P(JpegBackHalfTest, UpsamplesRowsOfEveryLength) {
  Random random(8);
  for (int count = 1; count <= 140; ++count) {
    PaddedRow near(random.Bytes(count));
    PaddedRow far(random.Bytes(count));
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

}  // namespace
}  // namespace infeed
