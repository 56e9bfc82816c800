#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trainer/log/run_history.h"

namespace infeed {

// A step whose loss stands out from those of the steps around it.
struct LossSpike {
  std::int64_t step = 0;
  // The first step without a loss in the history before it; step: none.
  std::int64_t first_step = 0;
  double loss = 0;      // NaN: not finite
  double median = 0;    // of the losses around it; NaN: of too few
  double distance = 0;  // infinity: the loss is not finite
};

inline constexpr std::size_t kMostSpikes = 5;

// The steps whose loss stands out most, at most kMostSpikes, the worst first.
//
// A loss is compared with the window of the 25 losses before it, itself, and
// the 25 after it, in order of steps:
//
//   distance = (loss - median) / max(MAD, median / 1000, 1e-6)
//
// with the window's median, and its MAD, the median of |loss - median|. The
// window never reaches further forward than back, or a falling loss would begin
// with a spike. A step stands out from distance 6 on, in a window of at least
// 11 losses; normal noise gets there once in some thousand steps. Of several in
// a row only the worst is listed, or one spike could be all of them.
//
// A loss that is not finite stands out most of all. Of several in a row only
// the first is listed, since it spoils those after it.
[[nodiscard]] std::vector<LossSpike> FindLossSpikes(
    std::span<const HistoryPoint> points);

// FindLossSpikes() of the history's steps; where the last run diverged, also of
// the step at which it did.
[[nodiscard]] std::vector<LossSpike> FindLossSpikes(const RunHistory& history);

// The spikes as an HTML table with the command that shows each step's batch and
// its images' losses. model_dir: as the user names it; "": there are no batches
// to show.
[[nodiscard]] std::string SpikesTable(const std::vector<LossSpike>& spikes,
                                      const std::string& model_dir);

}  // namespace infeed
