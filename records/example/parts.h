#pragma once

#include <string>
#include <string_view>

#include "records/example/imagenet_example.h"

namespace infeed {

// A serialized Example in three parts that follow one another, so that the
// image in it, most of its bytes, is not copied.
struct ExampleParts {
  std::string before;
  std::string_view image;  // borrowed from the example
  std::string after;
};

// Returns the parts of what BuildImagenetExample() returns, byte for byte.
[[nodiscard]] ExampleParts BuildExampleParts(const ImagenetExample& example);

}  // namespace infeed
