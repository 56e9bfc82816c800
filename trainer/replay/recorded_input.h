#pragma once

#include <cstdint>
#include <string>

#include "pipeline/options/options.h"
#include "records/store/record_index.h"
#include "trainer/feed/data_set.h"
#include "trainer/replay/recorded_run.h"
#include "trainer/replay/step_place.h"

namespace infeed {

// The input of one step.
struct StepInput {
  StepPlace place = {};
  // As on rank 0, alone on its machine: those of another rank differ in `rank`
  // only. With the step's image size.
  InputOptions options = {};
};

// The training input of a recorded run, opened again, maybe on another machine:
// BatchLookup gives the batches.
//
// Const members may be called from several threads at once. The constructor
// throws UsageError for fake data, and as DataSet; At() UsageError for a step
// that the run has not made, and, with the difference, where the data or the
// parameters are not those of the step.
class RecordedInput {
 public:
  // data_dir: where the data is; "": where it was for the run.
  explicit RecordedInput(RecordedRun run, const std::string& data_dir = "");

  [[nodiscard]] const RecordedRun& run() const { return run_; }
  [[nodiscard]] const RecordIndex& index() const {
    return *data_.train_index();
  }

  [[nodiscard]] StepInput At(std::int64_t step) const;

 private:
  void RequireSameData(const StepsOfStart& steps) const;
  void RequireSameStream(std::int64_t step, const StepsOfStart& steps) const;

  RecordedRun run_;
  std::string data_dir_;
  DataSet data_;
};

}  // namespace infeed
