#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/engine/batch_stream.h"
#include "pipeline/options/options.h"

namespace infeed {

// How to read labels as the model's classes.
struct ClassMap {
  int label_offset = 0;  // the label of the data's first class
  // The model's class of each class of the data; empty: the same number.
  std::vector<std::int32_t> to_model = {};
};

// Sets how the input reads labels.
void TakeClasses(const ClassMap& classes, InputOptions& input);
// The stream with labels as the model's classes.
[[nodiscard]] std::unique_ptr<BatchStream> WithModelClasses(
    std::unique_ptr<BatchStream> stream,
    const std::vector<std::int32_t>& to_model);

}  // namespace infeed
