#include "preprocess/codecs/png_codec.h"

#include <png.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "base/error.h"
#include "tests/support/test_jpeg.h"

namespace infeed::png_codec_test {

// The kind of a PNG, as in its header.
struct Kind {
  int color;
  int bits;
  bool is_interlaced = false;
  bool is_transparent = false;  // has a tRNS chunk
};

// Colours of palettes and of tRNS chunks.
png_color TestColor(int i) {
  return {static_cast<png_byte>(5 * i), static_cast<png_byte>(255 - i),
          static_cast<png_byte>(i * i)};
}

void SetPalette(png_structp png, png_infop info, const Kind& kind) {
  std::vector<png_color> colors;
  for (int i = 0; i < 1 << kind.bits; ++i) {
    colors.push_back(TestColor(i));
  }
  if (kind.color == PNG_COLOR_TYPE_PALETTE) {
    png_set_PLTE(png, info, colors.data(), 1 << kind.bits);
  }
  if (kind.is_transparent) {
    const png_byte alpha[] = {0, 128};
    const png_color_16 color = {1, 1, 1, 1, 1};
    const bool has_palette = kind.color == PNG_COLOR_TYPE_PALETTE;
    png_set_tRNS(png, info, has_palette ? alpha : nullptr, has_palette ? 2 : 0,
                 has_palette ? nullptr : &color);
  }
}

// A PNG of random samples.
std::string MadePng(const Kind& kind, int width, int height) {
  std::string bytes;
  png_structp png =
      png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &bytes,
      [](png_structp to, png_bytep data, std::size_t count) {
        static_cast<std::string*>(png_get_io_ptr(to))
            ->append(reinterpret_cast<const char*>(data), count);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width),
               static_cast<png_uint_32>(height), kind.bits, kind.color,
               kind.is_interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  SetPalette(png, info, kind);
  png_write_info(png, info);
  std::minstd_rand draws(1);
  std::vector<std::vector<png_byte>> rows(static_cast<std::size_t>(height));
  std::vector<png_bytep> places;
  for (std::vector<png_byte>& row : rows) {
    row.resize(png_get_rowbytes(png, info));
    for (png_byte& byte : row) {
      byte = static_cast<png_byte>(draws() >> 8);
    }
    places.push_back(row.data());
  }
  png_write_image(png, places.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

// R G B.
std::string DecodedByOpencv(const std::string& png) {
  const std::vector<char> bytes(png.begin(), png.end());
  const cv::Mat image = cv::imdecode(bytes, cv::IMREAD_COLOR);
  std::string pixels;
  for (int y = 0; y < image.rows; ++y) {
    for (int x = 0; x < 3 * image.cols; ++x) {
      pixels +=
          static_cast<char>(image.ptr<std::uint8_t>(y)[x / 3 * 3 + 2 - x % 3]);
    }
  }
  return pixels;
}

std::vector<Kind> AllKinds() {
  const Kind plain[] = {
      {PNG_COLOR_TYPE_GRAY, 1},        {PNG_COLOR_TYPE_GRAY, 2},
      {PNG_COLOR_TYPE_GRAY, 4},        {PNG_COLOR_TYPE_GRAY, 8},
      {PNG_COLOR_TYPE_GRAY, 16},       {PNG_COLOR_TYPE_PALETTE, 1},
      {PNG_COLOR_TYPE_PALETTE, 2},     {PNG_COLOR_TYPE_PALETTE, 4},
      {PNG_COLOR_TYPE_PALETTE, 8},     {PNG_COLOR_TYPE_RGB, 8},
      {PNG_COLOR_TYPE_RGB, 16},        {PNG_COLOR_TYPE_GRAY_ALPHA, 8},
      {PNG_COLOR_TYPE_GRAY_ALPHA, 16}, {PNG_COLOR_TYPE_RGB_ALPHA, 8},
      {PNG_COLOR_TYPE_RGB_ALPHA, 16}};
  std::vector<Kind> kinds;
  for (Kind kind : plain) {
    for (const bool is_interlaced : {false, true}) {
      kind.is_interlaced = is_interlaced;
      kind.is_transparent = false;
      kinds.push_back(kind);
      if ((kind.color & PNG_COLOR_MASK_ALPHA) == 0) {
        kind.is_transparent = true;
        kinds.push_back(kind);
      }
    }
  }
  return kinds;
}

TEST(PngCodecTest, DecodesEveryKindAsOpencvDoes) {
  for (const Kind& kind : AllKinds()) {
    for (const auto& [width, height] : {std::pair(1, 1), std::pair(37, 21)}) {
      const std::string png = MadePng(kind, width, height);
      RgbImage image;
      ASSERT_TRUE(IsPng(AsBytes(png)));
      DecodePng(AsBytes(png), image);
      ASSERT_EQ(image.width(), width);
      ASSERT_EQ(image.height(), height);
      EXPECT_EQ(Flat(image.view()), DecodedByOpencv(png))
          << "colour type " << kind.color << ", bits " << kind.bits
          << (kind.is_interlaced ? ", interlaced" : "")
          << (kind.is_transparent ? ", transparent" : "");
    }
  }
}

// An image or a DataError, whichever bytes are damaged or missing.
TEST(PngCodecTest, SurvivesDamage) {
  for (const bool is_interlaced : {false, true}) {
    const std::string png =
        MadePng({PNG_COLOR_TYPE_PALETTE, 4, is_interlaced, true}, 19, 13);
    RgbImage image;
    // The pixels end before the end chunk.
    const std::size_t needed = png.size() - 12;
    for (std::size_t size = 8; size < needed; ++size) {
      EXPECT_THROW(DecodePng(AsBytes(png.substr(0, size)), image), DataError)
          << size;
    }
    DecodePng(AsBytes(png), image);
    const std::string pixels = Flat(image.view());
    for (std::size_t size = needed; size < png.size(); ++size) {
      image = {};
      DecodePng(AsBytes(png.substr(0, size)), image);
      EXPECT_EQ(Flat(image.view()), pixels) << size;
    }
    for (std::size_t place = 8; place < png.size(); ++place) {
      std::string damaged = png;
      damaged[place] = static_cast<char>(damaged[place] ^ 0x55);
      try {
        DecodePng(AsBytes(damaged), image);
      } catch (const DataError&) {
      }
    }
  }
}

TEST(PngCodecTest, WritesTheBytesThatOpencvWrites) {
  const RgbImage image = TestPhotograph(61, 43, 1);
  cv::Mat swapped(image.height(), image.width(), CV_8UC3);
  for (int y = 0; y < swapped.rows; ++y) {
    for (int x = 0; x < 3 * swapped.cols; ++x) {
      swapped.ptr<std::uint8_t>(y)[x] =
          image.view().row(y)[x / 3 * 3 + 2 - x % 3];
    }
  }
  std::vector<std::uint8_t> expected;
  ASSERT_TRUE(cv::imencode(".png", swapped, expected));
  EXPECT_EQ(EncodePng(image.view()),
            std::string(expected.begin(), expected.end()));
}

}  // namespace infeed::png_codec_test
