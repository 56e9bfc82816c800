#pragma once

#include <span>
#include <string>

#include "records/example/reader.h"

namespace infeed {

// Returns a serialized tf.train.Example of any features, with keys in bytewise
// order: the inverse of ListFeatures(). Equal features give equal bytes.
[[nodiscard]] std::string BuildExample(
    std::span<const ExampleFeature> features);

}  // namespace infeed
