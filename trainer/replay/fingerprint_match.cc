#include "trainer/replay/fingerprint_match.h"

#include "base/error.h"

namespace infeed {

FingerprintMatch MatchFingerprints(std::span<const HistoryFingerprint> a,
                                   std::span<const HistoryFingerprint> b) {
  FingerprintMatch match;
  auto of_b = b.begin();
  for (const HistoryFingerprint& of_a : a) {
    while (of_b != b.end() && of_b->step < of_a.step) {
      ++of_b;
    }
    if (of_b == b.end()) {
      break;
    }
    if (of_b->step != of_a.step) {
      continue;
    }
    if (of_a.has_pixels != of_b->has_pixels) {
      throw UsageError(
          "the fingerprints of only one of the runs have the pixels: train "
          "both with the same input_hash");
    }
    match.has_pixels = of_a.has_pixels;
    if (of_a.value != of_b->value) {
      match.differs_by = of_a.step;
      return match;
    }
    match.equal_steps = of_a.step;
  }
  if (match.equal_steps == 0) {
    throw UsageError(
        "there is no step at which a loop of both runs ended: give them "
        "iterations_per_loop with a common multiple");
  }
  return match;
}

}  // namespace infeed
