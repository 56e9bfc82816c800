#include "preprocess/codecs/codec_plugin.h"

#include <dlfcn.h>

#include <filesystem>

#include "base/error.h"

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

}  // namespace

void DecodeByPlugin(std::span<const std::byte> bytes, RgbImage& image) {
  static const PluginDecoder decode = Load();
  if (decode == nullptr) {
    throw DataError(
        "not a JPEG, PNG or WebP; other images are read where "
        "libinfeed_codecs.so is installed (INFEED_IMAGE_CODECS)");
  }
  PluginImage decoded;
  decode(bytes, decoded);
  if (!decoded.error.empty()) {
    throw DataError(decoded.error);
  }
  image.Resize(decoded.width, decoded.height);
  const std::span<std::uint8_t> rgb = image.pixels();
  for (std::size_t i = 0; i < rgb.size(); i += 3) {
    rgb[i] = decoded.bgr[i + 2];
    rgb[i + 1] = decoded.bgr[i + 1];
    rgb[i + 2] = decoded.bgr[i];
  }
}

}  // namespace infeed
