#pragma once

#include <string>
#include <string_view>

#include "records/example/imagenet_example.h"

namespace infeed {

// A serialized Example as three consecutive parts, so that the image, most of
// its bytes, is not copied.
struct ExampleParts {
  std::string before;
  std::string_view image;  // borrowed from the example
  std::string after;
};

// Returns the bytes that BuildImagenetExample() returns, in parts.
[[nodiscard]] ExampleParts BuildExampleParts(const ImagenetExample& example);

}  // namespace infeed
