#include "preprocess/codecs/webp_codec.h"

#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include <webp/decode.h>

#include "base/error.h"

namespace infeed {
namespace {

const char* Reason(VP8StatusCode status) {
  const bool is_cut =
      status == VP8_STATUS_SUSPENDED || status == VP8_STATUS_NOT_ENOUGH_DATA;
  return is_cut ? "it ends too early" : "it is damaged";
}

void CheckStatus(VP8StatusCode status) {
  if (status == VP8_STATUS_OUT_OF_MEMORY) {
    throw std::bad_alloc();
  }
  if (status != VP8_STATUS_OK) {
    throw DataError(std::string("libwebp cannot read the image: ") +
                    Reason(status));
  }
}

}  // namespace

bool IsWebp(std::span<const std::byte> bytes) {
  return bytes.size() >= 12 && std::memcmp(bytes.data(), "RIFF", 4) == 0 &&
         std::memcmp(bytes.data() + 8, "WEBP", 4) == 0;
}

void DecodeWebp(std::span<const std::byte> bytes, RgbImage& image) {
  const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  WebPDecoderConfig config;
  Check(WebPInitDecoderConfig(&config) != 0,
        "libwebp is of the version of its header");
  // Refuses a frame that is not of the size in the file's header.
  CheckStatus(WebPGetFeatures(data, bytes.size(), &config.input));
  if (config.input.has_animation != 0) {
    throw DataError("libwebp cannot read the image: it is an animation");
  }
  image.Resize(config.input.width, config.input.height);
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {.rgba = image.row(0),
                          .stride = image.width() * 3,
                          .size = image.pixels().size()};
  CheckStatus(WebPDecode(data, bytes.size(), &config));
}

}  // namespace infeed
