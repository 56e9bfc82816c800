#include "preprocess/resize/sink.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "preprocess/pixels/image_size.h"
#include "preprocess/pixels/pack.h"
#include "preprocess/pixels/simd_target.h"
#include "preprocess/resize/resize.h"
#include "tests/support/test_jpeg.h"

namespace infeed {
namespace {

constexpr std::uint32_t kGuard = 0xDEADBEEF;

// The first rows of an image, as if a decoder stopped there.
void PutFirstRows(const RgbView& image, int rows, RowSink& sink) {
  sink.Begin(image.width, image.height);
  for (int y = 0; y < rows; ++y) {
    std::memcpy(sink.Next(1).row(0), image.row(y),
                std::size_t{3} * image.width);
    sink.Filled();
  }
}

// As PutImage(), from a decoder that has rows in planes and writes behind them.
// False: the sink does not take planes.
bool PutPlanes(const RgbView& image, RowSink& sink, int band) {
  sink.Begin(image.width, image.height);
  for (int y = 0; y < image.height; y += band) {
    const int count = std::min(band, image.height - y);
    const std::optional<PlaneRows> rows = sink.NextPlanes(count);
    if (!rows) {
      return false;
    }
    for (int i = 0; i < count; ++i) {
      const PlanesRow row = rows->row(i);
      for (int plane = 0; plane < 3; ++plane) {
        for (int x = 0; x < image.width; ++x) {
          row[plane][x] = image.row(y + i)[3 * x + plane];
        }
        std::fill_n(row[plane] + image.width, PlaneRows::kSlack,
                    static_cast<std::uint8_t>(99 * plane));
      }
    }
    sink.Filled();
  }
  return true;
}

// Black and white at random: the largest sums there are.
RgbImage HardEdges(int width, int height) {
  RgbImage image;
  image.Resize(width, height);
  SampleRandom random({}, RandomStream::kMadeData);
  for (std::uint8_t& sample : image.pixels()) {
    sample = random.Below(2) == 0 ? 0 : 255;
  }
  return image;
}

struct SinkCase {
  ResizeKernel kernel;
  std::string target;
};

class ResizeSinkTest : public testing::TestWithParam<SinkCase> {
 protected:
  void SetUp() override { UseSimdTarget(GetParam().target); }
  void TearDown() override { UseSimdTarget(""); }

  static std::unique_ptr<ResizeSink> Sink(const ImageSize& size) {
    return MakeResizeSink(GetParam().kernel, size);
  }
  static std::vector<std::uint32_t> Twin(const RgbView& image,
                                         const ImageSize& size, bool flip) {
    std::vector<std::uint32_t> pixels(size.pixels());
    Resize(GetParam().kernel, image, size.width, size.height, pixels);
    if (flip) {
      MirrorRows(size.width, pixels);
    }
    return pixels;
  }

  static void ExpectTwin(const RgbView& image, const ImageSize& size, bool flip,
                         int band) {
    ExpectTwin(image, size, flip, band, *Sink(size));
  }

  static void ExpectTwin(const RgbView& image, const ImageSize& size, bool flip,
                         int band, ResizeSink& sink) {
    const std::size_t count = size.pixels();
    std::vector<std::uint32_t> pixels(count + 1, kGuard);
    sink.Aim(std::span(pixels).first(count), flip);
    PutImage(image, sink, band);
    EXPECT_TRUE(sink.is_complete());
    EXPECT_EQ(pixels.back(), kGuard);
    pixels.pop_back();
    ASSERT_TRUE(pixels == Twin(image, size, flip))
        << image.width << "x" << image.height << " to " << size << ", flip "
        << flip << ", bands of " << band;

    std::vector<std::uint32_t> of_planes(count);
    sink.Aim(of_planes, flip);
    ASSERT_EQ(PutPlanes(image, sink, band), !IsAntialiased(GetParam().kernel));
    ASSERT_TRUE(IsAntialiased(GetParam().kernel) || of_planes == pixels)
        << image.width << "x" << image.height << " to " << size;
  }
};

TEST_P(ResizeSinkTest, GivesTheTwinsBytesAtSmallSizes) {
  for (int width = 1; width <= 9; ++width) {
    for (int height = 1; height <= 9; ++height) {
      const RgbImage image = HardEdges(width, height);
      for (int size = 1; size <= 9; ++size) {
        ExpectTwin(image.view(), size, (width + height) % 2 == 0, 1 + size % 3);
      }
    }
  }
}

TEST_P(ResizeSinkTest, GivesTheTwinsBytesAtRandomSizes) {
  SampleRandom random({.seed = 2}, RandomStream::kMadeData);
  const auto draw = [&](std::uint32_t most) {
    return 1 + static_cast<int>(random.Below(most));
  };
  for (int i = 0; i < 100; ++i) {
    const int side = draw(70);
    const ImageSize size = i < 50 ? ImageSize(side) : ImageSize(side, draw(90));
    const RgbImage image = HardEdges(draw(400), draw(400));
    ExpectTwin(image.view(), size, i % 2 == 0, draw(RowSink::kMaxRows));
  }
}

// From far more columns than output pixels to far fewer.
TEST_P(ResizeSinkTest, GivesTheTwinsBytesAtAllScales) {
  for (int width = 1; width < 1000; width += 1 + width / 7) {
    const RgbImage image = TestPhotograph(width, 37, 3);
    ExpectTwin(image.view(), 33, false, 16);
    ExpectTwin(image.view(), 32, true, 8);
  }
}

// Aligned rows are written past the caches, unless they are to stay there.
TEST_P(ResizeSinkTest, GivesTheTwinsBytesAtAnyAddress) {
  const RgbImage image = TestPhotograph(70, 60, 5);
  for (const int size : {32, 33, 48}) {
    const std::size_t count = std::size_t{1} * size * size;
    struct alignas(64) Line {
      std::uint32_t pixels[16];
    };
    std::vector<Line> memory(count / 16 + 2);
    for (const std::size_t shift : {0, 1, 4, 8, 15}) {
      for (const PixelStores stores :
           {PixelStores::kPastCaches, PixelStores::kInCaches,
            PixelStores::kHashed}) {
        const std::span<std::uint32_t> pixels(memory.front().pixels + shift,
                                              count);
        std::ranges::fill(pixels, kGuard);
        const std::unique_ptr<ResizeSink> sink = Sink(size);
        sink->Aim(pixels, false, std::nullopt, stores);
        PutImage(image.view(), *sink);
        EXPECT_TRUE(std::ranges::equal(pixels, Twin(image.view(), size, false)))
            << size << ", " << shift << ", " << static_cast<int>(stores);
        if (stores == PixelStores::kHashed) {
          EXPECT_EQ(sink->hash(), HashPixels(std::as_bytes(pixels)));
        }
      }
    }
  }
}

TEST_P(ResizeSinkTest, ImagesLeaveNothingBehind) {
  const std::unique_ptr<ResizeSink> sink = Sink(20);
  ExpectTwin(HardEdges(100, 90).view(), 20, true, 32, *sink);
  ExpectTwin(TestPhotograph(3, 2, 1).view(), 20, false, 1, *sink);
  ExpectTwin(HardEdges(7, 300).view(), 20, true, 5, *sink);
}

TEST_P(ResizeSinkTest, StartsOverAtAnyTime) {
  const RgbImage image = TestPhotograph(50, 60, 2);
  for (const int rows : {0, 1, 7, 33, 69}) {
    const std::unique_ptr<ResizeSink> sink = Sink(24);
    std::vector<std::uint32_t> pixels(std::size_t{24} * 24);
    sink->Aim(pixels, true);
    const RgbImage other = HardEdges(80, 70);
    PutFirstRows(other.view(), rows, *sink);
    EXPECT_FALSE(sink->is_complete());
    PutImage(image.view(), *sink, 8);
    EXPECT_TRUE(sink->is_complete());
    EXPECT_EQ(pixels, Twin(image.view(), 24, true));
  }
}

// The square at (y, x) of a resize of the image to width x height.
std::vector<std::uint32_t> Square(const std::vector<std::uint32_t>& pixels,
                                  int width, int y, int x, int size) {
  std::vector<std::uint32_t> square;
  for (int row = 0; row < size; ++row) {
    const auto from = pixels.begin() + std::ptrdiff_t{y + row} * width + x;
    square.insert(square.end(), from, from + size);
  }
  return square;
}

TEST_P(ResizeSinkTest, GivesASquareOfALargerResizeFromItsSupport) {
  SampleRandom random({.seed = 4}, RandomStream::kMadeData);
  const auto draw = [&](int least, int most) {
    return least + static_cast<int>(random.Below(
                       static_cast<std::uint32_t>(most - least + 1)));
  };
  const ResizeKernel kernel = GetParam().kernel;
  for (int i = 0; i < 100; ++i) {
    const RgbImage image = HardEdges(draw(1, 200), draw(1, 200));
    const int size = draw(1, 40);
    const int width = size + draw(0, 50);
    const int height = size + draw(0, 50);
    ResizeSide vertical{.in_size = image.height(),
                        .out_size = height,
                        .out_first = draw(0, height - size)};
    ResizeSide horizontal{.in_size = image.width(),
                          .out_size = width,
                          .out_first = draw(0, width - size)};
    const ResizeSpan rows = SupportOf(kernel, vertical, size);
    const ResizeSpan columns = SupportOf(kernel, horizontal, size);
    vertical.in_first = rows.first;
    horizontal.in_first = columns.first;
    const bool flip = i % 2 == 1;
    std::vector<std::uint32_t> pixels(std::size_t{1} * size * size);
    const std::unique_ptr<ResizeSink> sink = Sink(size);
    sink->Aim(pixels, flip, ResizeSides{vertical, horizontal});
    PutImage(image.view({rows.first, columns.first, rows.count, columns.count}),
             *sink, draw(1, RowSink::kMaxRows));
    EXPECT_TRUE(sink->is_complete());

    std::vector<std::uint32_t> whole(std::size_t{1} * width * height);
    Resize(kernel, image.view(), width, height, whole);
    std::vector<std::uint32_t> expected =
        Square(whole, width, vertical.out_first, horizontal.out_first, size);
    if (flip) {
      MirrorRows(size, expected);
    }
    ASSERT_TRUE(pixels == expected) << i;
  }
}

// The image after margins in one of another colour.
std::vector<std::uint32_t> Padded(const std::vector<std::uint32_t>& pixels,
                                  const ImageSize& from, const ImageSize& to,
                                  int top, int left, std::uint32_t fill) {
  std::vector<std::uint32_t> padded(to.pixels(), fill);
  for (int y = 0; y < from.height; ++y) {
    std::copy_n(pixels.begin() + std::ptrdiff_t{y} * from.width, from.width,
                padded.begin() + std::ptrdiff_t{top + y} * to.width + left);
  }
  return padded;
}

TEST_P(ResizeSinkTest, LeavesMarginsOfAResizeThatIsSmaller) {
  const RgbImage image = HardEdges(50, 40);
  const ImageSize resized(20, 25);
  for (const ImageSize size : {ImageSize(20, 31), ImageSize(27, 25),
                               ImageSize(33, 34), ImageSize(21, 64)}) {
    for (int i = 0; i < 8; ++i) {
      const bool flip = i % 2 == 1;
      const int part = i / 2 % 2;  // of the room, as a margin: none, or half
      const int top = part * (size.height - resized.height) / 2;
      const int left = part * (size.width - resized.width) / 2;
      const std::uint32_t fill = i / 4 == 1 ? PackPixel(114, 7, 255) : 0;
      std::vector<std::uint32_t> pixels(size.pixels(), kGuard);
      const std::unique_ptr<ResizeSink> sink = Sink(size);
      sink->Aim(pixels, flip,
                ResizeSides{.vertical = {.in_size = 40,
                                         .out_size = resized.height,
                                         .margin = top},
                            .horizontal = {.in_size = 50,
                                           .out_size = resized.width,
                                           .margin = left},
                            .fill = fill},
                flip ? PixelStores::kHashed : PixelStores::kPastCaches);
      PutImage(image.view(), *sink);
      EXPECT_TRUE(sink->is_complete());
      if (flip) {
        EXPECT_EQ(sink->hash(), HashPixels(std::as_bytes(std::span(pixels))));
      }
      std::vector<std::uint32_t> expected = Padded(
          Twin(image.view(), resized, false), resized, size, top, left, fill);
      if (flip) {
        MirrorRows(size.width, expected);
      }
      EXPECT_EQ(pixels, expected) << size << ", case " << i;
    }
  }
}

std::vector<SinkCase> Cases() {
  std::vector<SinkCase> cases;
  for (const std::string& target : SupportedSimdTargets()) {
    for (const ResizeKernel kernel :
         {ResizeKernel::kBicubic, ResizeKernel::kBilinear,
          ResizeKernel::kAntialias, ResizeKernel::kAntialiasBicubic}) {
      cases.push_back({kernel, target});
    }
  }
  return cases;
}

std::string CaseName(const testing::TestParamInfo<SinkCase>& test) {
  constexpr const char* kKernels[] = {"Bicubic", "Bilinear", "Antialias",
                                      "AntialiasBicubic"};
  return kKernels[static_cast<int>(test.param.kernel)] + test.param.target;
}

INSTANTIATE_TEST_SUITE_P(Targets, ResizeSinkTest, testing::ValuesIn(Cases()),
                         CaseName);

TEST(ResizeSinkDeathTest, WritesImagesOfItsSize) {
  std::vector<std::uint32_t> pixels(15);
  for (const ResizeKernel kernel :
       {ResizeKernel::kBicubic, ResizeKernel::kAntialias}) {
    const std::unique_ptr<ResizeSink> sink = MakeResizeSink(kernel, 4);
    EXPECT_DEATH(sink->Aim(pixels, false),
                 "the destination has the given size");
  }
}

}  // namespace
}  // namespace infeed
