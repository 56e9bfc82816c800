#include <cstdio>

#include <fmt/format.h>

#include "base/error.h"
#include "trainer/job/job.h"
#include "trainer/log/run_storage.h"
#include "trainer/run/exporter.h"

namespace infeed {
namespace {

// The class names in the model directory, else those of the data.
ModelLabels LabelsOf(const Job& job) {
  ModelLabels labels = ModelLabels::OfModel(job.options.model_dir);
  if (!labels.names().empty() || job.options.data_dir.empty() ||
      job.data.is_fake()) {
    return labels;
  }
  return DataLabels(job);
}

}  // namespace

void ExportNow(const Job& job, std::int64_t step) {
  const ModelLabels labels = LabelsOf(job);
  const TensorMap weights = job.params.export_moving_average
                                ? job.device.SaveForUse()
                                : job.device.Save().model;
  std::string folder =
      ExportModel({.export_dir = job.options.export_dir,
                   .formats = job.options.formats,
                   .batch_size = job.options.export_batch_size},
                  {.params = job.params,
                   .labels = labels,
                   .step = step,
                   .weights = weights});
  if (job.options.storage != nullptr) {
    folder = job.options.storage->Exported(folder);
  }
  fmt::print("exported the model of step {} to {}\n", step, folder);
}

ExitCode ExportMode(const Job& job, const std::stop_token& stop) {
  const std::optional<std::int64_t> step = LoadTrained(job, "export");
  if (!step) {
    return ExitCode::kCheckpointUnusable;
  }
  if (stop.stop_requested()) {
    return ExitCode::kStoppedBySignal;
  }
  ExportNow(job, *step);
  return ExitCode::kDone;
}

}  // namespace infeed
