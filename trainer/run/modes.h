#pragma once

#include <functional>
#include <stop_token>

#include "base/program_end.h"
#include "trainer/run/job.h"
#include "trainer/run/preparation.h"

// The modes of train_resnet.
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

// Throws UsageError for an unknown format, IoError where export_dir cannot be
// written.
void RequireExportable(const RunOptions& options);

}  // namespace infeed
