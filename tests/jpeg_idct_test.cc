#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "preprocess/jpeg_idct_scalar.h"
#include "preprocess/simd_target.h"
#include "tests/support/coefficient_jpeg.h"
#include "tests/support/jpeg_back_half.h"

// The inverse DCT of every SIMD target that this CPU has, against
// libjpeg-turbo.
namespace infeed {
namespace {

using Samples = std::vector<std::uint8_t>;

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

Samples TransformRow(const MadeBlocks& blocks, int row, bool& regular) {
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

class JpegIdctTest : public testing::TestWithParam<std::string> {
 protected:
  JpegIdctTest() { UseSimdTarget(GetParam()); }
  ~JpegIdctTest() override { UseSimdTarget(""); }
  [[nodiscard]] static JpegBackHalf code() { return CurrentJpegBackHalf(); }
};

INSTANTIATE_TEST_SUITE_P(Targets, JpegIdctTest,
                         testing::ValuesIn(SupportedSimdTargets()),
                         [](const testing::TestParamInfo<std::string>& target) {
                           return target.param;
                         });

// Numbers as photographs and hard-pressed coders have them: all are regular.
TEST_P(JpegIdctTest, TransformsAsLibjpegDoes) {
  for (const auto& [limit, divisors] :
       {std::pair{31, 20}, {255, 4}, {1023, 1}, {3, 255}, {0, 255}}) {
    const MadeBlocks blocks = MakeBlocks(67, 6, limit, divisors, limit + 1);
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
TEST_P(JpegIdctTest, WrapsAndClampsAsLibjpegDoes) {
  for (const int limit : {2047, 8191, 32767}) {
    const MadeBlocks blocks =
        MakeBlocks(256, 4, limit, limit > 8191 ? 255 : 3, 7);
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
TEST_P(JpegIdctTest, TransformsTheBlocksNamed) {
  const MadeBlocks blocks = MakeBlocks(40, 1, 63, 9, 3);
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

}  // namespace
}  // namespace infeed
