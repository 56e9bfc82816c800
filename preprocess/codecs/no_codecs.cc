#include "base/error.h"
#include "preprocess/codecs/opencv_codecs.h"

// Replaces opencv_codecs.cc in a build without image codecs.
namespace infeed {

void DecodeByOpencv(std::span<const std::byte> /*bytes*/, RgbImage& /*image*/) {
  throw DataError("not a JPEG, PNG or WebP, and this build reads nothing else");
}

}  // namespace infeed
