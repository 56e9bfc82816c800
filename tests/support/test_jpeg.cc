#include "tests/support/test_jpeg.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

// jpeglib.h needs size_t and FILE declared before it.
#include <jpeglib.h>

namespace infeed {
namespace {

// Smooth noise: random values on a grid of the given step, bilinear between.
class Noise {
 public:
  Noise(std::uint64_t seed, int step) : seed_(seed), step_(step) {}

  // In 0..255.
  [[nodiscard]] int At(int y, int x) const {
    const int gy = y / step_;
    const int gx = x / step_;
    const int fy = y % step_;
    const int fx = x % step_;
    const int top = Grid(gy, gx) * (step_ - fx) + Grid(gy, gx + 1) * fx;
    const int low = Grid(gy + 1, gx) * (step_ - fx) + Grid(gy + 1, gx + 1) * fx;
    return (top * (step_ - fy) + low * fy) / (step_ * step_);
  }

 private:
  [[nodiscard]] int Grid(int y, int x) const {
    std::uint64_t hash = seed_ * 0x9E3779B97F4A7C15U + step_;
    hash = (hash ^ static_cast<std::uint64_t>(y)) * 0xBF58476D1CE4E5B9U;
    hash = (hash ^ static_cast<std::uint64_t>(x)) * 0x94D049BB133111EBU;
    return static_cast<int>((hash ^ hash >> 31) & 255);
  }

  std::uint64_t seed_;
  int step_;
};

struct Factors {
  int horizontal;
  int vertical;
};

// The sampling factors of three components, for each Subsampling; a fourth
// component keeps libjpeg's.
constexpr Factors kFactors[][3] = {{{1, 1}, {1, 1}, {1, 1}},   // k444
                                   {{2, 1}, {1, 1}, {1, 1}},   // k422
                                   {{2, 2}, {1, 1}, {1, 1}},   // k420
                                   {{1, 2}, {1, 1}, {1, 1}},   // k440
                                   {{4, 1}, {1, 1}, {1, 1}},   // k411
                                   {{1, 4}, {1, 1}, {1, 1}},   // k441
                                   {{4, 2}, {1, 1}, {1, 1}},   // k410
                                   {{2, 1}, {2, 1}, {2, 1}},   // kAllWide
                                   {{1, 1}, {2, 1}, {2, 1}},   // kWideChroma
                                   {{2, 2}, {1, 2}, {1, 1}}};  // kTallBlue

void SetSubsampling(Subsampling subsampling, jpeg_compress_struct& codec) {
  const Factors* const factors = kFactors[static_cast<int>(subsampling)];
  for (int i = 0; i < std::min(3, codec.num_components); ++i) {
    codec.comp_info[i].h_samp_factor = factors[i].horizontal;
    codec.comp_info[i].v_samp_factor = factors[i].vertical;
  }
}

void SetColor(TestColor color, jpeg_compress_struct& codec) {
  const bool four = color == TestColor::kCmyk ||
                    color == TestColor::kAdobeCmyk ||
                    color == TestColor::kAdobeYcck;
  codec.input_components = four ? 4 : 3;
  codec.in_color_space = four ? JCS_CMYK : JCS_RGB;
  jpeg_set_defaults(&codec);
  switch (color) {
    case TestColor::kRgb:
      break;
    case TestColor::kAdobeRgb:
      jpeg_set_colorspace(&codec, JCS_RGB);
      codec.write_Adobe_marker = TRUE;
      break;
    case TestColor::kGray:
      jpeg_set_colorspace(&codec, JCS_GRAYSCALE);
      break;
    case TestColor::kCmyk:
      jpeg_set_colorspace(&codec, JCS_CMYK);
      codec.write_Adobe_marker = FALSE;
      break;
    case TestColor::kAdobeCmyk:
      jpeg_set_colorspace(&codec, JCS_CMYK);
      break;
    case TestColor::kAdobeYcck:
      jpeg_set_colorspace(&codec, JCS_YCCK);
      break;
  }
}

// One baseline scan for each component.
std::array<jpeg_scan_info, 4> SeparateScans() {
  std::array<jpeg_scan_info, 4> scans{};
  for (int i = 0; i < 4; ++i) {
    scans[i].comps_in_scan = 1;
    scans[i].component_index[0] = i;
    scans[i].Se = DCTSIZE2 - 1;
  }
  return scans;
}

void WriteRows(const TestJpegOptions& options, jpeg_compress_struct& codec) {
  const RgbImage image =
      TestPicture(options.content, options.width, options.height, options.seed);
  const int components = codec.input_components;
  std::vector<std::uint8_t> row(image.view().stride / 3 * components);
  for (int y = 0; y < options.height; ++y) {
    const std::uint8_t* rgb = image.view().row(y);
    for (int x = 0; x < options.width; ++x) {
      std::copy_n(rgb + x * 3, 3, row.data() + x * components);
      if (components == 4) {  // Black from another place of the image.
        row[x * 4 + 3] = rgb[(options.width - 1 - x) * 3] / 2 + 127;
      }
    }
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&codec, &pointer, 1);
  }
}

}  // namespace

RgbImage TestPhotograph(int width, int height, std::uint64_t seed) {
  RgbImage image;
  image.Resize(width, height);
  for (int y = 0; y < height; ++y) {
    std::uint8_t* pixel = image.row(y);
    for (int x = 0; x < width; ++x) {
      // Two materials with an edge between them, a texture on each, grain.
      const bool front = Noise(seed, 61).At(y, x) > 127;
      const int texture = Noise(seed + 1, 7).At(y, x) / (front ? 3 : 6);
      const int grain = Noise(seed + 2, 1).At(y, x) / 24;
      for (int c = 0; c < 3; ++c) {
        const int shade = Noise(seed + 3 + c, 97).At(y, x) / 2;
        const int light = shade + (front ? 40 * c : 60 - 20 * c);
        *pixel++ =
            static_cast<std::uint8_t>(std::min(255, light + texture + grain));
      }
    }
  }
  return image;
}

RgbImage TestPicture(TestContent content, int width, int height,
                     std::uint64_t seed) {
  if (content == TestContent::kPhotograph) {
    return TestPhotograph(width, height, seed);
  }
  RgbImage image;
  image.Resize(width, height);
  for (int y = 0; y < height; ++y) {
    std::uint8_t* pixel = image.row(y);
    for (int i = 0; i < 3 * width; ++i) {
      const int level = content == TestContent::kNoise
                            ? Noise(seed + i % 3, 1).At(y, i / 3)
                            : static_cast<int>(seed * 50 + i % 3 * 60) % 256;
      *pixel++ = static_cast<std::uint8_t>(level);
    }
  }
  return image;
}

std::string TestJpeg(const TestJpegOptions& options) {
  jpeg_compress_struct codec{};
  jpeg_error_mgr errors{};
  codec.err = jpeg_std_error(&errors);  // Ends the test program on an error.
  errors.trace_level = -1;              // No word about wide quantisers.
  jpeg_create_compress(&codec);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type.
  jpeg_mem_dest(&codec, &bytes, &size);

  codec.image_width = static_cast<JDIMENSION>(options.width);
  codec.image_height = static_cast<JDIMENSION>(options.height);
  SetColor(options.color, codec);
  jpeg_set_quality(&codec, options.quality,
                   options.wide_quantisers ? FALSE : TRUE);
  if (options.color != TestColor::kGray) {
    SetSubsampling(options.subsampling, codec);
  }
  codec.restart_interval = static_cast<unsigned>(options.restart_interval);
  codec.restart_in_rows = options.restart_rows;
  codec.arith_code = options.arithmetic ? TRUE : FALSE;
  codec.optimize_coding =
      options.optimize && !options.arithmetic ? TRUE : FALSE;
  const std::array<jpeg_scan_info, 4> scans = SeparateScans();
  if (options.progressive) {
    jpeg_simple_progression(&codec);
  } else if (options.separate_scans) {
    codec.scan_info = scans.data();
    codec.num_scans = codec.num_components;
  }
  jpeg_start_compress(&codec, TRUE);
  WriteRows(options, codec);
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
  std::string jpeg(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);  // NOLINT: libjpeg's malloc.
  return jpeg;
}

std::string DecodeInks(const std::string& jpeg) {
  jpeg_decompress_struct codec{};
  jpeg_error_mgr errors{};
  codec.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&codec);
  jpeg_mem_src(&codec, reinterpret_cast<const unsigned char*>(jpeg.data()),
               jpeg.size());
  jpeg_read_header(&codec, TRUE);
  codec.out_color_space = JCS_CMYK;
  jpeg_start_decompress(&codec);
  const std::size_t row_bytes = std::size_t{4} * codec.output_width;
  std::string inks(row_bytes * codec.output_height, '\0');
  while (codec.output_scanline < codec.output_height) {
    JSAMPROW row = reinterpret_cast<JSAMPROW>(
        inks.data() + codec.output_scanline * row_bytes);
    jpeg_read_scanlines(&codec, &row, 1);
  }
  jpeg_destroy_decompress(&codec);
  return inks;
}

std::string Flat(const RgbView& image) {
  std::string pixels;
  const std::size_t row_bytes = static_cast<std::size_t>(image.width) * 3;
  pixels.reserve(row_bytes * image.height);
  for (int y = 0; y < image.height; ++y) {
    pixels.append(reinterpret_cast<const char*>(image.row(y)), row_bytes);
  }
  return pixels;
}

}  // namespace infeed
