#pragma once

#include <span>
#include <string>
#include <string_view>

#include "records/example/imagenet_example.h"
#include "records/example/reader.h"

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

// Returns a serialized Example of any features, each key once: the inverse of
// ListFeatures(). Keys are sorted, so that equal features give equal bytes.
[[nodiscard]] std::string BuildExample(
    std::span<const ExampleFeature> features);

}  // namespace infeed
