#pragma once

#include <cstdint>
#include <span>

#include "trainer/log/run_history.h"

namespace infeed {

// How far the inputs of two trainings agree, by their fingerprints after loops.
struct FingerprintMatch {
  std::int64_t equal_steps = 0;  // the inputs are equal up to this step
  // They differ up to this one: first in a step after equal_steps. 0: they do
  // not differ.
  std::int64_t differs_by = 0;
  bool has_pixels = false;  // of the fingerprints compared

  [[nodiscard]] bool is_equal() const { return differs_by == 0; }
};

// Compares the fingerprints at the steps at which a loop of both ended, since
// loops may have different lengths. Throws UsageError where there is none, and
// where the fingerprints of only one training have the pixels.
[[nodiscard]] FingerprintMatch MatchFingerprints(
    std::span<const HistoryFingerprint> a,
    std::span<const HistoryFingerprint> b);

}  // namespace infeed
