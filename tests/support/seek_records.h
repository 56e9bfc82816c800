#pragma once

#include <string>

#include "records/example/imagenet_example.h"
#include "tests/support/bytes.h"
#include "tools/shards/seek_index_maker.h"

namespace infeed {

// The payload of a record with an image and, where one is given, its index.
inline std::string PayloadWith(const std::string& image,
                               const std::string& seek_index = "") {
  return BuildImagenetExample(
      {.label = 1, .encoded = image, .seek_index = seek_index});
}

// The seek index of a JPEG's rows.
inline std::string SealedOf(const std::string& jpeg) {
  return MakeSealedSeekIndex(AsBytes(jpeg), SeekEntries::kRows);
}

}  // namespace infeed
