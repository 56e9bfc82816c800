#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "preprocess/codecs/image_decoder.h"
#include "preprocess/pixels/image.h"
#include "records/example/imagenet_example.h"

namespace infeed {

// Whether a record holds packed pixels, image/packed. Throws DataError unless
// these are image/height * image/width pixels of four bytes.
[[nodiscard]] bool HoldsPixels(std::span<const std::byte> payload);

// A record's packed pixels as an image; nullopt: the record has none. Throws
// what HoldsPixels() throws.
[[nodiscard]] std::optional<RgbImage> UnpackRecord(
    std::span<const std::byte> payload);

// The check of an Example in `verify` and `repair`. One thread at a time.
class PayloadCheck {
 public:
  // decode: also decode images completely. keys: must outlive it.
  explicit PayloadCheck(bool decode, const ExampleKeys& keys = {})
      : decode_(decode), keys_(keys) {}

  // Returns the Example, which has no image if the record holds packed pixels.
  // Throws DataError when the payload is not an Example, the number of pixels
  // does not match its size, or its image is missing or cannot be decoded.
  ImagenetExampleView Check(std::span<const std::byte> payload) {
    const ImagenetExampleView example =
        ParseImagenetExample(payload, LabelList::kOne, keys_);
    const bool is_packed = example.encoded.empty() && HoldsPixels(payload);
    if (decode_ && !is_packed) {
      if (example.encoded.empty()) {
        RequireImageKey(payload, keys_.image);
      }
      decoder_.Decode(example.encoded, image_);
    }
    return example;
  }

 private:
  const bool decode_;
  const ExampleKeys keys_;
  ImageDecoder decoder_;
  RgbImage image_;
};

}  // namespace infeed
