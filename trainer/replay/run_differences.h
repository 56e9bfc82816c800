#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/choices.h"
#include "trainer/replay/recorded_run.h"

namespace infeed {

enum class DifferenceKind { kParameter, kData, kVersion };
inline constexpr Choices<DifferenceKind, 3> kDifferenceKinds = {
    {{"parameter", DifferenceKind::kParameter},
     {"data", DifferenceKind::kData},
     {"version", DifferenceKind::kVersion}}};

// Something that two runs recorded differently.
struct RunDifference {
  DifferenceKind kind = DifferenceKind::kParameter;
  std::string name = {};
  std::string a = {};
  std::string b = {};
};

struct RunDifferences {
  // What can make inputs differ: parameters, then the data, then the version.
  std::vector<RunDifference> of_input = {};
  // Parameters of what the device makes of batches that may be the same.
  std::vector<RunDifference> on_device = {};
  // Parameters that do not change what the network sees.
  std::vector<RunDifference> others = {};
  // The numbers of the training shards that differ, where the runs recorded
  // them, and have as many.
  std::vector<std::size_t> shards = {};
};

// The differences of the starts that made a step of the runs. Parameters are
// those of the newest start, as only they are recorded. Throws as FindStart().
[[nodiscard]] RunDifferences FindRunDifferences(const RecordedRun& a,
                                                const RecordedRun& b,
                                                std::int64_t step);

}  // namespace infeed
