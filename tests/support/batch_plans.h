#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pipeline/order/batch_plan.h"

// Batch plans of a stream, and the places that they name.
namespace infeed {

using EpochPlaces = std::vector<std::int64_t>;

inline BatchSequence Sequence(std::int64_t places, const InputOptions& options,
                              const StreamPosition& start = {}) {
  return {places, CheckedInputOptions(options), start};
}

// The next `count` plans, or those left.
inline std::vector<BatchPlan> Take(BatchSequence sequence, int count) {
  std::vector<BatchPlan> plans;
  while (static_cast<int>(plans.size()) < count) {
    const std::optional<BatchPlan> plan = sequence.Next();
    if (!plan) {
      break;
    }
    plans.push_back(*plan);
  }
  return plans;
}

// The places of all slots with a sample.
inline EpochPlaces PlacesOf(const std::vector<BatchPlan>& plans) {
  EpochPlaces places;
  for (const BatchPlan& plan : plans) {
    for (int slot = 0; slot < plan.samples; ++slot) {
      places.push_back(plan.SampleOf(slot).place);
    }
  }
  return places;
}

}  // namespace infeed
