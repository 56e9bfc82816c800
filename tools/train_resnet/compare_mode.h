#pragma once

#include <string>

#include "base/program_end.h"
#include "trainer/params/run_options.h"

namespace CLI {
class App;
}

// train_resnet --mode compare: whether two trainings had the same input.
namespace infeed {

struct CompareFlags {
  std::string with;        // the other run's model_dir
  std::string data_dir_b;  // of the other run; "": data_dir
};

void AddCompareFlags(CLI::App& app, CompareFlags& flags);

// Throws UsageError where the mode lacks its other run, and for URLs.
void CheckCompareFlags(const CompareFlags& flags, const RunOptions& run);

// Prints the report on stdout. Ends with kDone if the inputs are equal, with
// kDataError if they differ. Throws as CompareRuns().
[[nodiscard]] ProgramEnd CompareWith(const CompareFlags& flags,
                                     const RunOptions& run, bool json);

}  // namespace infeed
