#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/resize/resize.h"
#include "tests/support/test_jpeg.h"

// Pixels that TensorFlow made; tests/data/README.preprocess.md says how.
namespace infeed::preprocess_golden_test {

struct Golden {
  const char* name;
  int width;
  int height;
  int components;
  int resized_side;

  friend void PrintTo(const Golden& golden, std::ostream* out) {
    *out << golden.name;
  }
};

std::string Data(const std::string& name) {
  return ReadWholeFile(INFEED_TEST_DATA "/preprocess/" + name, 1 << 20);
}

class PreprocessGoldenTest : public testing::TestWithParam<Golden> {
 protected:
  [[nodiscard]] static std::string Name() { return GetParam().name; }
};

TEST_P(PreprocessGoldenTest, DecodesToTensorFlowsPixels) {
  const std::string jpeg = Data(Name() + ".jpg");
  JpegDecoder decoder;
  const JpegInfo info = decoder.ReadHeader(AsBytes(jpeg));
  EXPECT_EQ(info.width, GetParam().width);
  EXPECT_EQ(info.height, GetParam().height);
  EXPECT_EQ(info.components, GetParam().components);
  RgbImage image;
  decoder.Decode(image);
  EXPECT_EQ(Flat(image.view()), Data(Name() + ".rgb"));
}

TEST_P(PreprocessGoldenTest, ResizesToTensorFlowsPixels) {
  const std::string pixels = Data(Name() + ".rgb");
  const RgbView image{reinterpret_cast<const std::uint8_t*>(pixels.data()),
                      GetParam().width, GetParam().height,
                      std::ptrdiff_t{3} * GetParam().width};
  const int side = GetParam().resized_side;
  std::vector<std::uint32_t> packed(std::size_t{1} * side * side);
  ResizeBicubic(image, side, false, packed);

  const std::string expected = Data(Name() + "_resized.rgb");
  ASSERT_EQ(expected.size(), packed.size() * 3);
  std::size_t unequal = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const int level = static_cast<int>(packed[i / 3] >> (24 - i % 3 * 8) & 255);
    const int golden = static_cast<unsigned char>(expected[i]);
    ASSERT_LE(std::abs(level - golden), 1) << i;
    unequal += level != golden;
  }
  EXPECT_LE(unequal, expected.size() / 100);
}

TEST(EncodeJpegGoldenTest, WritesTensorFlowsBytes) {
  const std::string pixels = Data("rgb444.rgb");
  const RgbView image{reinterpret_cast<const std::uint8_t*>(pixels.data()), 61,
                      45, std::ptrdiff_t{3} * 61};
  EXPECT_EQ(EncodeJpeg(image, {.quality = 100}), Data("rgb444_encoded.jpg"));
}

// The options of the files that TestJpeg() made:
//   progressive422: {.width = 61, .height = 45, .subsampling = k422,
//                    .progressive = true}
//   h1v2:           {.width = 45, .height = 37, .subsampling = k440,
//                    .restart_interval = 3}
//   cmyk:           {.width = 53, .height = 38, .subsampling = k420,
//                    .color = kCmyk}
//   adobe_ycck:     {.width = 38, .height = 53, .color = kAdobeYcck}
INSTANTIATE_TEST_SUITE_P(Images, PreprocessGoldenTest,
                         testing::Values(Golden{"rgb444", 61, 45, 3, 64},
                                         Golden{"rgb420", 61, 45, 3, 40},
                                         Golden{"gray", 61, 45, 1, 40},
                                         Golden{"progressive422", 61, 45, 3,
                                                24},
                                         Golden{"h1v2", 45, 37, 3, 33},
                                         Golden{"cmyk", 53, 38, 4, 40},
                                         Golden{"adobe_ycck", 38, 53, 4, 40}),
                         [](const testing::TestParamInfo<Golden>& golden) {
                           return std::string(golden.param.name);
                         });

}  // namespace infeed::preprocess_golden_test
