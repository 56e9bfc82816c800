#include "preprocess/jpeg_entropy/window_plan.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "preprocess/jpeg_pixels/idct_scalar.h"
#include "tests/support/coefficient_jpeg.h"

namespace infeed {
namespace {

constexpr int kMcus = 3;  // a row; one row

// Colour with factors for the first component.
std::vector<CoefficientPlane> Planes(int horizontal, int vertical) {
  std::vector<CoefficientPlane> planes;
  for (unsigned i = 0; i < 3; ++i) {
    const int columns = i == 0 ? horizontal : 1;
    const int rows = i == 0 ? vertical : 1;
    planes.push_back(MakeBlocks(columns * kMcus, rows, 99, 4, i + 1).plane);
    planes.back().horizontal = columns;
    planes.back().vertical = rows;
  }
  return planes;
}

JpegScan ScanOf(const std::vector<CoefficientPlane>& planes) {
  JpegScan scan{.color = JpegColor::kYcc, .component_count = 3};
  for (std::size_t i = 0; i < 3; ++i) {
    scan.components[i].horizontal = planes[i].horizontal;
    scan.components[i].vertical = planes[i].vertical;
  }
  scan.width = kMcus * scan.mcu_width();
  scan.height = scan.mcu_height();
  scan.mcus_per_row = kMcus;
  scan.mcu_rows = 1;
  return scan;
}

std::vector<std::uint8_t> Transform(const CoefficientPlane& plane, int block,
                                    int size) {
  std::array<std::int16_t, 64> quantiser;
  std::ranges::copy(plane.quantiser, quantiser.begin());
  const std::int16_t* const coefficients =
      plane.coefficients.data() + std::ptrdiff_t{64} * block;
  std::vector<std::uint8_t> samples(static_cast<std::size_t>(size) * size);
  EXPECT_TRUE(size == 8
                  ? InverseDctBlock(coefficients, quantiser.data(),
                                    samples.data(), size)
                  : InverseDctBlockScaled(size, coefficients, quantiser.data(),
                                          samples.data(), size));
  return samples;
}

// Where chroma is subsampled its blocks become larger instead, as far as that
// serves both directions.
TEST(JpegWindowPlanTest, TransformsBlocksToTheSizesThatLibjpegDoes) {
  for (const auto& [horizontal, vertical] :
       {std::array{1, 1}, {2, 1}, {1, 2}, {2, 2}}) {
    const std::vector<CoefficientPlane> planes = Planes(horizontal, vertical);
    const std::string jpeg = CoefficientJpeg(planes);
    for (const int denominator : {1, 2, 4, 8}) {
      const std::vector<DecodedPlane> truth =
          LibjpegSamples(jpeg, 8 / denominator);
      WindowPlan plan;
      PlanWindow(ScanOf(planes), {.height = 1, .width = 1}, denominator, plan);
      for (std::size_t i = 0; i < 3; ++i) {
        const WindowPlan::Component& planned = plan.components[i];
        ASSERT_EQ(planned.size, truth[i].block);
        EXPECT_EQ(planned.width, truth[i].width);
        EXPECT_EQ(planned.height, truth[i].height);
        for (int j = 0; j < planes[i].columns * planes[i].rows; ++j) {
          EXPECT_EQ(Transform(planes[i], j, planned.size), truth[i].Block(j));
        }
      }
    }
  }
}

}  // namespace
}  // namespace infeed
