#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "preprocess/jpeg_pixels/idct_scalar.h"
#include "preprocess/pixels/simd_target.h"
#include "tests/support/coefficient_jpeg.h"
#include "tests/support/jpeg_back_half.h"

// The inverse DCT of every SIMD target that this CPU has, against
// libjpeg-turbo.
namespace infeed::idct_test {

// Where sums overflow, libjpeg-turbo has other samples on each kind of CPU;
// here all have x86's.
#if defined(__x86_64__) || defined(__i386__)
constexpr bool kIsLibjpegsOfX86 = true;
#else
constexpr bool kIsLibjpegsOfX86 = false;
#endif

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

// The target and the side of what blocks are transformed to.
class JpegIdctTest
    : public testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  JpegIdctTest() { UseSimdTarget(std::get<0>(GetParam())); }
  ~JpegIdctTest() override { UseSimdTarget(""); }

  [[nodiscard]] static JpegBackHalf code() { return CurrentJpegBackHalf(); }
  [[nodiscard]] static int size() { return std::get<1>(GetParam()); }

  [[nodiscard]] static DecodedPlane Truth(const MadeBlocks& blocks) {
    return LibjpegSamples(CoefficientJpeg({blocks.plane}), size()).front();
  }
  [[nodiscard]] static Samples TransformRow(const MadeBlocks& blocks, int row,
                                            bool& regular);
  // By the portable code.
  [[nodiscard]] static Samples TransformBlock(const MadeBlocks& blocks, int i,
                                              bool& regular);
};

Samples JpegIdctTest::TransformRow(const MadeBlocks& blocks, int row,
                                   bool& regular) {
  const int columns = blocks.plane.columns;
  const auto quantiser = Stored(code(), blocks.plane.quantiser);
  const std::vector<std::int16_t> stored = StoredBlocks(code(), blocks.plane);
  std::vector<int> indices(columns);
  std::iota(indices.begin(), indices.end(), row * columns);
  Samples out(static_cast<std::size_t>(size() * size()) * columns);
  regular = code().inverse_dct_row(
      size(), stored.data(), blocks.ends.data(), indices.data(), columns,
      quantiser.data(), out.data(), std::ptrdiff_t{size()} * columns);
  return out;
}

Samples JpegIdctTest::TransformBlock(const MadeBlocks& blocks, int i,
                                     bool& regular) {
  std::array<std::int16_t, 64> quantiser;
  std::ranges::copy(blocks.plane.quantiser, quantiser.begin());
  const std::int16_t* block = blocks.plane.coefficients.data() + 64 * i;
  Samples out(static_cast<std::size_t>(size()) * size());
  regular = size() == 8
                ? InverseDctBlock(block, quantiser.data(), out.data(), size())
                : InverseDctBlockScaled(size(), block, quantiser.data(),
                                        out.data(), size());
  return out;
}

INSTANTIATE_TEST_SUITE_P(
    Targets, JpegIdctTest,
    testing::Combine(testing::ValuesIn(SupportedSimdTargets()),
                     testing::Values(8, 4, 2, 1)),
    [](const testing::TestParamInfo<std::tuple<std::string, int>>& pair) {
      return std::get<0>(pair.param) + "To" +
             std::to_string(std::get<1>(pair.param));
    });

// Numbers as photographs have them are regular. Of numbers that no encoder
// makes, whatever is called regular is right, and the portable code says the
// same of each block.
TEST_P(JpegIdctTest, WrapsAndClampsAsLibjpegDoes) {
  for (const auto& [limit, divisors] : {std::pair{0, 255},
                                        {3, 255},
                                        {31, 20},
                                        {255, 4},
                                        {1023, 1},
                                        {2047, 3},
                                        {8191, 3},
                                        {32767, 255}}) {
    const bool is_usual = limit < 1024;
    const MadeBlocks blocks =
        is_usual ? MakeBlocks(67, 6, limit, divisors, limit + 1)
                 : MakeBlocks(256, 4, limit, divisors, 7);
    const int count = blocks.plane.columns * blocks.plane.rows;
    const DecodedPlane truth = Truth(blocks);
    const std::vector<std::int16_t> stored = StoredBlocks(code(), blocks.plane);
    const auto quantiser = Stored(code(), blocks.plane.quantiser);
    int regular = 0;
    for (int i = 0; i < count; ++i) {
      bool twin_is_regular = false;
      const Samples twins = TransformBlock(blocks, i, twin_is_regular);
      Samples samples(twins.size());
      ASSERT_EQ(
          code().inverse_dct_row(size(), stored.data(), blocks.ends.data(), &i,
                                 1, quantiser.data(), samples.data(), size()),
          twin_is_regular);
      if (twin_is_regular) {
        ++regular;
        ASSERT_EQ(samples, twins);
        if (kIsLibjpegsOfX86) {
          ASSERT_EQ(samples, truth.Block(i)) << "limit " << limit;
        }
      }
    }
    EXPECT_GE(regular, is_usual ? count : 11) << "limit " << limit;
  }
}

// The samples of some of a row's blocks, in another order than they are kept.
TEST_P(JpegIdctTest, TransformsTheBlocksNamed) {
  const MadeBlocks blocks = MakeBlocks(40, 1, 63, 9, 3);
  bool regular = false;
  const Samples all = TransformRow(blocks, 0, regular);
  if (kIsLibjpegsOfX86) {
    EXPECT_EQ(all, Truth(blocks).samples);
  }
  const std::vector<std::int16_t> stored = StoredBlocks(code(), blocks.plane);
  const auto quantiser = Stored(code(), blocks.plane.quantiser);
  for (int count = 0; count <= 13; ++count) {
    std::vector<int> indices;
    for (int i = 0; i < count; ++i) {
      indices.push_back(3 * (count - i) - 1);
    }
    const std::ptrdiff_t stride = size() * count + 3;
    Samples out(size() * stride, 99);
    ASSERT_TRUE(code().inverse_dct_row(
        size(), stored.data(), blocks.ends.data(), indices.data(), count,
        quantiser.data(), out.data(), stride));
    Samples expected(size() * stride, 99);
    for (int y = 0; y < size(); ++y) {
      for (int i = 0; i < count; ++i) {
        std::copy_n(all.begin() + (40 * y + indices[i]) * size(), size(),
                    expected.begin() + y * stride + i * size());
      }
    }
    EXPECT_EQ(out, expected) << count;
  }
}

}  // namespace infeed::idct_test
