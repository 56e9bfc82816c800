#pragma once

#include <cstddef>
#include <span>

#include "preprocess/codecs/image_decoder.h"
#include "preprocess/pixels/image.h"
#include "records/example/imagenet_example.h"
#include "tools/inspect/packed_record.h"

namespace infeed {

// What `verify` and `repair` ask of a record that is an Example. One thread at
// a time.
class PayloadCheck {
 public:
  // decode: images are decoded whole.
  explicit PayloadCheck(bool decode) : decode_(decode) {}

  // Returns the Example; it has no image where the record holds its pixels
  // ready. Throws DataError when it is no Example, its pixels are not as many
  // as its size says, or its image cannot be decoded.
  ImagenetExampleView Check(std::span<const std::byte> payload) {
    const ImagenetExampleView example = ParseImagenetExample(payload);
    const bool is_packed = example.encoded.empty() && HoldsPixels(payload);
    if (decode_ && !is_packed) {
      decoder_.Decode(example.encoded, image_);
    }
    return example;
  }

 private:
  const bool decode_;
  ImageDecoder decoder_;
  RgbImage image_;
};

}  // namespace infeed
