#include <algorithm>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "preprocess/jpeg_pixels/color_scalar.h"
#include "preprocess/pixels/simd_target.h"
#include "tests/support/jpeg_back_half.h"

// Upsampling and colour of every SIMD target that this CPU has, against the
// portable code; jpeg_equality_test.cc compares all with libjpeg-turbo.
namespace infeed::color_test {

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
    Samples planes(3 * (count + PlaneRows::kSlack) + 1, 55);
    PlanesRow row;
    for (int i = 0; i < 3; ++i) {
      row[i] = planes.data() + i * (count + PlaneRows::kSlack);
    }
    code().ycc_to_planes(a.data(), b.data(), c.data(), count, row);
    for (int i = 0; i < 3 * count; ++i) {
      ASSERT_EQ(row[i % 3][i / 3], expected[i]) << count;
    }
    ASSERT_EQ(planes.back(), 55);
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

}  // namespace infeed::color_test
