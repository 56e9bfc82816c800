#include "preprocess/codecs/codec_plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <new>

#include "base/address_space.h"
#include "base/error.h"
#include "preprocess/codecs/sample_depth.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// Where this code lies: a program, or a library of one.
fs::path OwnFolder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&DecodeByPlugin), &info) == 0) {
    return {};
  }
  std::error_code ignored;
  return fs::canonical(info.dli_fname, ignored).parent_path();
}

PluginDecoder Load() {
  if (!HasAddressSpace(kLibraryBytes)) {
    throw std::bad_alloc();  // OpenCV's OpenBLAS would try for ever.
  }
  const fs::path own = OwnFolder();
  // Beside an installed or built program; beside a module of Python's; where
  // the libraries were installed.
  for (const fs::path& folder :
       {own / ".." / INFEED_PLUGIN_FOLDER,
        own / ".." / ".." / INFEED_PLUGIN_FOLDER,
        fs::path(INFEED_PREFIX) / INFEED_PLUGIN_FOLDER}) {
    const std::string path = (folder / "libinfeed_codecs.so").string();
    // Stays loaded: libraries that OpenCV loads have threads of their own.
    void* const plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (plugin != nullptr) {
      return reinterpret_cast<PluginDecoder>(dlsym(plugin, kDecodeByOpencv));
    }
  }
  return nullptr;
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

void DecodeByPlugin(std::span<const std::byte> bytes, RgbImage& image) {
  static const PluginDecoder decode = Load();
  if (decode == nullptr) {
    throw DataError(
        "not a JPEG, PNG, WebP or PNM; other images are read where "
        "libinfeed_codecs.so is installed (INFEED_IMAGE_CODECS)");
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
