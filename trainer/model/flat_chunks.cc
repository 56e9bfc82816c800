#include "trainer/model/flat_chunks.h"

#include <algorithm>

#include "base/error.h"

namespace infeed {

FlatPlan MakeFlatPlan(std::span<const FlatParameter> parameters) {
  FlatPlan plan;
  std::int32_t index = 0;
  for (const FlatParameter& parameter : parameters) {
    Check(parameter.count > 0 && parameter.begin % kFlatAlignment == 0,
          "a parameter has elements, and begins where a thread may load");
    plan.first_chunks.push_back(static_cast<std::int32_t>(plan.chunks.size()));
    for (std::int64_t i = 0; i < parameter.count; i += kFlatChunk) {
      plan.chunks.push_back({.begin = parameter.begin + i,
                             .count = static_cast<std::int32_t>(
                                 std::min(kFlatChunk, parameter.count - i)),
                             .parameter = index,
                             .decayed = parameter.decayed ? 1 : 0});
    }
    ++index;
  }
  plan.first_chunks.push_back(static_cast<std::int32_t>(plan.chunks.size()));
  return plan;
}

}  // namespace infeed
