#include <algorithm>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "preprocess/jpeg/jpeg.h"
#include "tests/support/test_jpeg.h"

// One property: a decoded window is the crop of the whole decode.
namespace infeed {
namespace {

bool SamePixels(const RgbView& a, const RgbView& b) {
  if (a.width != b.width || a.height != b.height) {
    return false;
  }
  for (int y = 0; y < a.height; ++y) {
    if (!std::equal(a.row(y), a.row(y) + std::ptrdiff_t{3} * a.width,
                    b.row(y))) {
      return false;
    }
  }
  return true;
}

// A JPEG beside its whole decode, and the decoder under test.
class Subject {
 public:
  explicit Subject(const TestJpegOptions& options) : jpeg_(TestJpeg(options)) {
    std::ignore = decoder_.ReadHeader(AsBytes(jpeg_));
    decoder_.Decode(whole_);
  }

  [[nodiscard]] int width() const { return whole_.width(); }
  [[nodiscard]] int height() const { return whole_.height(); }

  void ExpectCrop(const Window& window) {
    std::ignore = decoder_.ReadHeader(AsBytes(jpeg_));
    decoder_.DecodeWindow(window, part_);
    EXPECT_TRUE(SamePixels(part_.view(), whole_.view(window)))
        << width() << "x" << height() << ": y " << window.y << " x " << window.x
        << " height " << window.height << " width " << window.width;
  }

  // Windows whose four edges step over the image.
  void ExpectCropsAtStride(int step) {
    for (int y = 0; y < height(); y += step) {
      for (int x = 0; x < width(); x += step) {
        for (int h = 1; h <= height() - y; h += step) {
          for (int w = 1; w <= width() - x; w += step) {
            ExpectCrop({.y = y, .x = x, .height = h, .width = w});
          }
        }
        ExpectCrop({y, x, height() - y, width() - x});
      }
    }
  }

  void ExpectRandomCrops(int count) {
    SampleRandom random({.seed = 5}, RandomStream::kMadeData);
    for (int i = 0; i < count; ++i) {
      const int y = static_cast<int>(random.Below(height()));
      const int x = static_cast<int>(random.Below(width()));
      ExpectCrop({.y = y,
                  .x = x,
                  .height = 1 + static_cast<int>(random.Below(height() - y)),
                  .width = 1 + static_cast<int>(random.Below(width() - x))});
    }
  }

 private:
  JpegDecoder decoder_;
  std::string jpeg_;
  RgbImage whole_;
  RgbImage part_;
};

struct Kind {
  const char* name;
  TestJpegOptions options;

  friend void PrintTo(const Kind& kind, std::ostream* out) {
    *out << kind.name;
  }
};

class JpegWindowTest : public testing::TestWithParam<Kind> {
 protected:
  [[nodiscard]] static TestJpegOptions Sized(int width, int height) {
    TestJpegOptions options = GetParam().options;
    options.width = width;
    options.height = height;
    return options;
  }
};

TEST_P(JpegWindowTest, IsTheCropOfTinyImages) {
  for (const int height : {1, 2, 3, 7, 8, 9, 17}) {
    for (const int width : {1, 2, 3, 5, 8, 9, 16, 17, 18}) {
      Subject(Sized(width, height))
          .ExpectCropsAtStride(height * width / 60 + 1);
    }
  }
}

TEST_P(JpegWindowTest, IsTheCropOfSmallImagesAtAStride) {
  Subject(Sized(33, 31)).ExpectCropsAtStride(6);
  Subject(Sized(40, 35)).ExpectCropsAtStride(7);
  Subject(Sized(64, 64)).ExpectCropsAtStride(11);
  Subject(Sized(70, 67)).ExpectCropsAtStride(11);
}

TEST_P(JpegWindowTest, IsTheCropOfLargerImagesAtRandom) {
  Subject(Sized(70, 70)).ExpectRandomCrops(300);
  Subject(Sized(181, 97)).ExpectRandomCrops(150);
  Subject(Sized(37, 250)).ExpectRandomCrops(150);
  Subject(Sized(322, 241)).ExpectRandomCrops(60);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, JpegWindowTest,
    testing::Values(
        Kind{"Plain444", {}}, Kind{"H2v1", {.subsampling = Subsampling::k422}},
        Kind{"H2v2", {.subsampling = Subsampling::k420}},
        Kind{"H1v2", {.subsampling = Subsampling::k440}},
        Kind{"H4v1", {.subsampling = Subsampling::k411}},
        Kind{"Gray", {.color = TestColor::kGray}},
        Kind{"Cmyk",
             {.subsampling = Subsampling::k420, .color = TestColor::kCmyk}},
        Kind{
            "Ycck",
            {.subsampling = Subsampling::k422, .color = TestColor::kAdobeYcck}},
        Kind{"Progressive444", {.progressive = true}},
        Kind{"ProgressiveH2v2",
             {.subsampling = Subsampling::k420, .progressive = true}},
        Kind{"SeparateScansH2v2",
             {.subsampling = Subsampling::k420, .separate_scans = true}},
        Kind{"ArithmeticH2v2",
             {.subsampling = Subsampling::k420, .arithmetic = true}},
        Kind{"RestartEachMcuH2v2",
             {.subsampling = Subsampling::k420, .restart_interval = 1}},
        Kind{"RestartEachThird444", {.restart_interval = 3}},
        Kind{"RestartEachFifthH2v1",
             {.subsampling = Subsampling::k422, .restart_interval = 5}}),
    [](const testing::TestParamInfo<Kind>& kind) {
      return std::string(kind.param.name);
    });

}  // namespace
}  // namespace infeed
