#pragma once

#include <functional>
#include <stop_token>

#include "base/program_end.h"
#include "trainer/run/job.h"
#include "trainer/run/preparation.h"

namespace infeed {

// A mode's work, prepared. A dry run does not call it.
using Work = std::function<ProgramEnd(const std::stop_token&)>;

// Each function makes all checks of its mode and loads its data and model;
// nothing is written. With several ranks, all make the same calls. The job must
// outlive the work. A dry run that found a problem gets a work that must not be
// called.
[[nodiscard]] Work PrepareTraining(const Job& job, Preparation& preparation);
[[nodiscard]] Work PrepareEvaluation(const Job& job, Preparation& preparation);
[[nodiscard]] Work PreparePrediction(const Job& job, Preparation& preparation);
[[nodiscard]] Work PrepareExport(const Job& job, Preparation& preparation);

// Checks that a dry run adds to the run's own preparation, for problems that a
// run would find only later: the labels of all records, one batch, the
// input workers, and the space for memory and checkpoints. Prints the results.
// Requires: the parameters are resolved.
void Forecast(const RunOptions& options, const DataSet& data,
              const RunParams& resolved, Preparation& preparation);

// The mode kReplay, which needs no preparation: makes the batches of steps of a
// recorded run again, and writes a page and lines of JSON for each. Throws
// UsageError for a step or a rank that the run has not, other data, and with
// losses where the run has no checkpoint.
[[nodiscard]] ProgramEnd ReplaySteps(const RunOptions& options,
                                     const std::stop_token& stop);

// Throws UsageError for an unknown format, IoError where export_dir cannot be
// written.
void RequireExportable(const RunOptions& options);

}  // namespace infeed
