#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/log/run_history.h"
#include "trainer/params/params.h"
#include "trainer/replay/step_place.h"

namespace infeed {

// What a model directory has of a training and its input.
struct RecordedRun {
  std::string model_dir = {};
  RunParams params = {};                // of the newest start, resolved
  std::vector<HistoryRun> starts = {};  // in their order
  std::int64_t steps = 0;               // updates done
  std::vector<HistoryFingerprint> fingerprints = {};  // of its input, by step
  // The undamaged ones of these steps, without their tensors, by step; not
  // those of a course that a later start, from an earlier step, has left.
  std::vector<Checkpoint> checkpoints = {};
};

// Reads params.yaml, metrics.jsonl and the checkpoints' state.json. Throws
// UsageError where there is no trained run; IoError, UsageError for files that
// cannot be read.
[[nodiscard]] RecordedRun ReadRun(const std::string& model_dir);

// Where the newest start found its data; "": not recorded.
[[nodiscard]] std::string RecordedDataDir(const RecordedRun& run);

// Throws UsageError for a run on fake data.
void RequireRecords(const RecordedRun& run);

// Steps that one start of the program made, up to that from which the next one
// began.
struct StepsOfStart {
  HistoryRun start = {};       // at its defaults if metrics.jsonl is missing
  std::int64_t last_step = 0;  // the first one is start.first_step + 1
  int world_size = 1;          // ranks that trained together
};

// The start that made a step. Throws UsageError for a step that the run has not
// made.
[[nodiscard]] StepsOfStart FindStart(const RecordedRun& run, std::int64_t step);

// A place of the stream in which these steps are: that of a checkpoint among
// them, or before the first one; else the stream's beginning. Throws UsageError
// where there is no such checkpoint, and steps before them were of another
// stream.
[[nodiscard]] KnownPlace FindKnownPlace(const RecordedRun& run,
                                        const StepsOfStart& steps);

// The newest of the run's checkpoints at or before a step, else the oldest one,
// as few are kept; null: there is none.
[[nodiscard]] const Checkpoint* CheckpointFor(const RecordedRun& run,
                                              std::int64_t step);

}  // namespace infeed
