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
  // Batch::fingerprints(); with all else equal, the records' bytes differ.
  std::uint64_t fingerprint_a = 0;
  std::uint64_t fingerprint_b = 0;
  bool has_other_pixels = false;  // and the rest of the description is equal
};

struct StepsMatch {
  std::optional<SampleDifference> difference = {};
  // Without a difference, the sum of the steps' fingerprints modulo 2^64.
  std::uint64_t fed = 0;
};

// Makes the batches of both trainings, of all ranks, from step `first` to
// `last`, and compares them sample by sample: record, file name, label, window,
// flips and augmentations, then pixels and fingerprint. on_step is called for
// each step that is equal.
//
// Several steps are made at once. Throws as RecordedInput::At() and
// BatchLookup.
[[nodiscard]] StepsMatch FindSampleDifference(
    const RecordedInput& a, const RecordedInput& b, std::int64_t first,
    std::int64_t last, const std::function<void(std::int64_t step)>& on_step);

}  // namespace infeed
