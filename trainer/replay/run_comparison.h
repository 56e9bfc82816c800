#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainer/replay/fingerprint_match.h"
#include "trainer/replay/recorded_run.h"
#include "trainer/replay/run_differences.h"
#include "trainer/replay/sample_match.h"

namespace infeed {

// Whether two trainings had the same input: the mode compare.
struct RunComparison {
  std::string model_dir_a = {};
  std::string model_dir_b = {};
  std::int64_t steps_a = 0;
  std::int64_t steps_b = 0;
  FingerprintMatch match = {};
  // At the step at which the fingerprints differ, else at the last one
  // compared.
  RunDifferences differences = {};
  // The names of differences.shards, in one of the data sets; empty: none was
  // at hand.
  std::vector<std::string> shard_names = {};
  std::optional<SampleDifference> sample = {};
  // Why there is no sample although the inputs differ.
  std::string no_sample = {};
};

struct CompareOptions {
  std::string model_dir_a = {};
  std::string model_dir_b = {};
  // Where the training data is; "": where the run found it.
  std::string data_dir_a = {};
  std::string data_dir_b = {};
  // Called for each step whose samples turned out to be equal.
  std::function<void(std::int64_t step)> on_step = [](std::int64_t) {};
};

// Compares the fingerprints, then what the runs recorded; where the inputs
// differ, and the data is at hand, finds the first sample that does. Throws
// UsageError for a folder without a run or without fingerprints, and as
// MatchFingerprints(); IoError for files that cannot be read.
[[nodiscard]] RunComparison CompareRuns(const CompareOptions& options);

}  // namespace infeed
