#include "base/error.h"
#include "preprocess/codecs/opencv_codecs.h"

// Replaces opencv_codecs.cc if OpenCV has no image codecs.
namespace infeed {

void DecodeByOpencv(std::span<const std::byte> /*bytes*/, RgbImage& /*image*/) {
  throw DataError("neither JPEG nor PNG, and this build reads nothing else");
}

}  // namespace infeed
