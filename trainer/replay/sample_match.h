#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "pipeline/engine/batch_lookup.h"
#include "trainer/replay/recorded_input.h"

namespace infeed {

// The first sample in which a step of two trainings differs.
struct SampleDifference {
  std::int64_t step = 0;
  std::int64_t place = 0;  // in the global batch, from 0
  // nullopt: this training's batch has fewer samples.
  std::optional<SampleDescription> a = {};
  std::optional<SampleDescription> b = {};
  // All but the pixels is equal.
  bool is_of_pixels = false;
};

// Makes the batches of both trainings, of all ranks, from step `first` to
// `last`, and compares them sample by sample: record, file name, label, window,
// flips and augmentations, then the pixels. nullopt: they are equal. on_step
// may be called for each step compared.
//
// Several steps are made at once. Throws as RecordedInput::At() and
// BatchLookup.
[[nodiscard]] std::optional<SampleDifference> FindSampleDifference(
    const RecordedInput& a, const RecordedInput& b, std::int64_t first,
    std::int64_t last, const std::function<void(std::int64_t step)>& on_step);

}  // namespace infeed
