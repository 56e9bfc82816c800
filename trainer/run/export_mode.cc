#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/shown_text.h"
#include "trainer/checkpoint/average.h"
#include "trainer/loop/exporter.h"
#include "trainer/params/station_options.h"
#include "trainer/remote/run.h"
#include "trainer/run/job.h"
#include "trainer/run/modes.h"

namespace infeed {
namespace {

// Loads the mean of the checkpoints up to this step onto the device, and
// returns their steps.
std::vector<std::int64_t> LoadAverage(const Job& job, std::int64_t last_step) {
  const AveragedWeights average = AverageCheckpoints(
      job.options.model_dir, last_step, job.options.average_checkpoints);
  job.device.LoadWeights(average.weights);
  Say(fmt::format("exporting the mean of the checkpoints of steps {}",
                  fmt::join(average.steps, ", ")));
  return average.steps;
}

}  // namespace

void ExportNow(const Job& job, std::int64_t step, ModelLabels labels,
               const std::vector<std::int64_t>& averaged_steps) {
  if (labels.names().empty() && !job.options.data_dir.empty()) {
    labels = DataLabels(job);
  }
  const TensorMap weights = job.params.export_moving_average
                                ? job.device.SaveForUse()
                                : job.device.Save().model;
  std::string folder =
      ExportModel({.export_dir = job.options.export_dir,
                   .formats = job.options.formats,
                   .batch_size = job.options.export_batch_size},
                  {.model = MakeModelOptions(job.params),
                   .input = job.params.input,
                   .normalization = NormalizationOf(job.params),
                   .moving_average = job.params.export_moving_average,
                   .labels = std::move(labels),
                   .step = step,
                   .averaged_steps = averaged_steps},
                  weights);
  if (job.options.storage != nullptr) {
    folder = job.options.storage->Exported(folder);
  }
  fmt::print("exported the model of step {} to {}\n", step, ShownText(folder));
}

void RequireExportable(const RunOptions& options) {
  CheckFormats(options.formats);
  RequireWritableFolder(options.export_dir);
}

Work PrepareExport(const Job& job, Preparation& preparation) {
  const bool averages = job.options.average_checkpoints > 1;
  RunStart from;
  std::vector<std::int64_t> averaged;
  preparation.Do([&] {
    if (averages && job.params.export_moving_average) {
      throw UsageError(fmt::format(
          "average_checkpoints={} and export_moving_average=true: they are two "
          "means, give one",
          job.options.average_checkpoints));
    }
  });
  preparation.Do([&] { RequireExportable(job.options); });
  preparation.Do([&] {
    from = LoadTrained(job, "export");
    if (averages) {
      averaged = LoadAverage(job, from.step);
    }
  });
  return [&job, from, averaged](const std::stop_token& stop) -> ProgramEnd {
    if (stop.stop_requested()) {
      return Stopped();
    }
    ExportNow(job, from.step, from.labels, averaged);
    return ExitCode::kDone;
  };
}

}  // namespace infeed
