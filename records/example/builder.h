#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// Returns the Example of some features, and of an image's bytes under one more
// key, in parts. Requires: each key once.
[[nodiscard]] ExampleParts BuildExampleParts(
    std::span<const ExampleFeature> features, std::string_view image_key,
    std::string_view image);

// Writes the parts into buffer, which grows as needed and should be reused, and
// returns the Example, a view into buffer.
[[nodiscard]] std::span<const std::byte> WriteExample(
    const ExampleParts& parts, std::vector<std::byte>& buffer);

// Returns a serialized Example of any features, each key once: the inverse of
// ListFeatures(). Keys are sorted, so that equal features give equal bytes.
[[nodiscard]] std::string BuildExample(
    std::span<const ExampleFeature> features);

}  // namespace infeed
