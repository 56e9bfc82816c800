#include "preprocess/codecs/codec_plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <string_view>

#include "base/error.h"
#include "base/shared_library.h"
#include "preprocess/codecs/tiff_directory.h"

namespace infeed {
namespace {

// The white that a tag of a TIFF of 16 bits names: 2^n - 1 for n below 16. Any
// other value is the largest one of that image's samples. 0: none.
int TaggedMaximum(const TiffDirectory& tags) {
  constexpr int kMaxSampleValue = 281;
  constexpr int kSMaxSampleValue = 341;
  std::int64_t largest = 0;
  for (const int tag : {kMaxSampleValue, kSMaxSampleValue}) {
    for (const std::int64_t value : tags.Integers(tag)) {
      largest = std::max(largest, value);
    }
  }
  const bool is_depth =
      std::has_single_bit(static_cast<std::uint64_t>(largest) + 1);
  return is_depth && largest > 255 && largest < 65535
             ? static_cast<int>(largest)
             : 0;
}

SampleDepth TiffDepth(std::span<const std::byte> bytes) {
  constexpr int kBitsPerSample = 258;
  constexpr int kPhotometric = 262;
  constexpr int kExtraSamples = 338;
  constexpr int kSampleFormat = 339;
  constexpr int kWhiteIsZero = 0;
  const TiffDirectory tags(bytes);
  for (const std::int64_t format : tags.Integers(kSampleFormat)) {
    // 1: unsigned, 4: not defined.
    if (format != 1 && format != 4) {
      throw DataError(
          "a TIFF with signed or floating-point samples is not supported");
    }
  }
  for (const std::int64_t extra : tags.Integers(kExtraSamples)) {
    // 2: an alpha that is not in the colours yet. libtiff would multiply it in.
    if (extra == 2) {
      throw DataError(
          "a TIFF with straight alpha is not supported: save it without alpha");
    }
  }
  std::vector<std::int64_t> bits = tags.Integers(kBitsPerSample);
  if (bits.empty()) {
    bits.push_back(1);
  }
  const std::vector<std::int64_t> photometric = tags.Integers(kPhotometric);
  const bool has_palette = !photometric.empty() && photometric.front() == 3;
  for (const std::int64_t depth : bits) {
    if (depth != bits.front() || (depth != 1 && depth != 8 && depth != 16 &&
                                  !(depth == 4 && has_palette))) {
      throw DataError("a TIFF with " + std::to_string(depth) +
                      "-bit samples is not supported");
    }
  }
  if (bits.front() != 16) {
    return {};
  }
  const int max_value = TaggedMaximum(tags);
  if (max_value > 0 && !photometric.empty() &&
      photometric.front() == kWhiteIsZero) {
    throw DataError(
        "a TIFF in which 0 is white is not supported with a MaxSampleValue");
  }
  return {.max_value = max_value, .may_be_less = max_value == 0};
}

// OpenCV leaves the low bits of 5- and 6-bit samples 0.
SampleDepth BmpDepth(std::span<const std::byte> bytes) {
  const ByteFields fields(bytes, false);
  constexpr std::int64_t kBitFields = 3;
  constexpr std::int64_t kSixBitsOfGreen = 0x7e0;
  if (fields.At(14, 4) < 40 || fields.At(28, 2) != 16) {
    return {};
  }
  const bool has_six =
      fields.At(30, 4) == kBitFields && fields.At(58, 4) == kSixBitsOfGreen;
  return {.bits = 5, .green_bits = has_six ? 6 : 5};
}

// The segment SIZ, which begins a codestream, has a byte for each component:
// its bits - 1, and whether it is signed. OpenCV shifts all components alike,
// and none to more bits.
void CheckCodestream(std::span<const std::byte> bytes) {
  constexpr std::string_view kStart = "\xff\x4f\xff\x51";
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size());
  const std::size_t place = text.find(kStart);
  if (place == std::string_view::npos) {
    return;
  }
  const ByteFields fields(bytes.subspan(place), true);
  const std::int64_t components = std::min<std::int64_t>(fields.At(40, 2), 4);
  for (std::int64_t i = 0; i < components; ++i) {
    const std::int64_t depth =
        fields.At(static_cast<std::size_t>(42 + 3 * i), 1);
    if (depth != fields.At(42, 1) || depth < 7 || depth > 15) {
      throw DataError(
          "a JPEG 2000 image is supported with unsigned samples of 8 to 16 "
          "bits, the same in all components");
    }
  }
}

PluginDecoder Load() {
  if (!HasAddressSpace(kLibraryBytes)) {
    throw std::bad_alloc();  // OpenCV's OpenBLAS would try for ever.
  }
  // Stays loaded: libraries that OpenCV loads have threads of their own.
  void* const plugin =
      dlopen(PluginPath("libinfeed_codecs.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  return plugin == nullptr
             ? nullptr
             : reinterpret_cast<PluginDecoder>(dlsym(plugin, kDecodeByOpencv));
}

// Spreads `bits` high bits to all eight.
std::uint8_t Spread(std::uint8_t sample, int bits) {
  return static_cast<std::uint8_t>(sample | sample >> bits);
}

// 12 bits in samples of 16 are black in 8.
void CheckBrightness(std::span<const std::uint8_t> samples) {
  constexpr std::uint8_t kTwelveBitsIn8 = 16;
  const std::uint8_t brightest = *std::ranges::max_element(samples);
  if (brightest > 0 && brightest <= kTwelveBitsIn8) {
    throw DataError(
        "the depth of a 16-bit TIFF is unknown: all samples have at most 12 "
        "bits, and there is no MaxSampleValue of 2^n - 1");
  }
}

}  // namespace

SampleDepth ReadSampleDepth(std::span<const std::byte> bytes) {
  const auto starts = [&](std::string_view text) {
    return bytes.size() >= text.size() &&
           std::memcmp(bytes.data(), text.data(), text.size()) == 0;
  };
  if (starts("BM")) {
    return BmpDepth(bytes);
  }
  if (starts("II") || starts("MM")) {
    return TiffDepth(bytes);
  }
  CheckCodestream(bytes);
  return {};
}

void DecodeByPlugin(std::span<const std::byte> bytes, RgbImage& image) {
  static const PluginDecoder decode = Load();
  if (decode == nullptr) {
    throw DataError(
        "not a JPEG, PNG, WebP or PNM; other images are read where "
        "libinfeed_codecs.so (INFEED_IMAGE_CODECS) is beside the program, in "
        "../lib/infeed or in its RUNPATH");
  }
  const SampleDepth depth = ReadSampleDepth(bytes);
  PluginImage decoded;
  decoded.max_value = depth.max_value;
  decode(bytes, decoded);
  if (!decoded.error.empty()) {
    throw DataError(decoded.error);
  }
  if (depth.may_be_less) {
    CheckBrightness(decoded.bgr);
  }
  image.Resize(decoded.width, decoded.height);
  const std::span<std::uint8_t> rgb = image.pixels();
  for (std::size_t i = 0; i < rgb.size(); i += 3) {
    rgb[i] = Spread(decoded.bgr[i + 2], depth.bits);
    rgb[i + 1] = Spread(decoded.bgr[i + 1], depth.green_bits);
    rgb[i + 2] = Spread(decoded.bgr[i], depth.bits);
  }
}

}  // namespace infeed
