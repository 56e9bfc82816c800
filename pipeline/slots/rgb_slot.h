#pragma once

#include <cstdint>
#include <span>

#include "pipeline/stats/stage_counters.h"
#include "preprocess/pixels/packed_copy.h"
#include "preprocess/recipe/recipe.h"

namespace infeed {

// Fills a slot of RGB bytes: fill(words) makes the image's words in scratch and
// returns its counts; unpacking them counts as resize. Requires: scratch has a
// word for each pixel of the slot.
template <typename Fill>
FillCounts FillRgbSlot(std::span<std::uint32_t> scratch,
                       std::span<std::uint8_t> slot, const Fill& fill) {
  const std::span<std::uint32_t> words = scratch.first(slot.size() / 3);
  FillCounts counts = fill(words);
  const StageCounter::Clock::time_point start = StageCounter::Clock::now();
  UnpackPixels(words, slot);
  counts.resize += StageCounter::Clock::now() - start;
  return counts;
}

}  // namespace infeed
