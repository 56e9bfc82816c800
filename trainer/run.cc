#include "trainer/run.h"

#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "trainer/dry_run.h"
#include "trainer/job.h"
#include "trainer/run_options.h"

namespace infeed {
namespace {

void PrintStart(const Job& job) {
  if (!job.options.data_dir.empty()) {
    Say("data:   " + job.data.Describe());
  }
  Say("device: " + job.device.Describe());
  Say(fmt::format("model:  {}, {} parameters", ModelName(job.params),
                  job.device.parameter_count()));
  if (Trains(job.options.mode)) {
    Say("parameters that are not defaults (params.yaml has all of them):\n" +
        ChosenText(job.resolved));
  }
  if (job.options.mode == Mode::kTrainAndEval && !job.data.has_eval()) {
    Say("there are no validation-* or test-* shards: this run only trains");
  }
}

ExitCode RunMode(const Job& job, const std::stop_token& stop) {
  switch (job.options.mode) {
    case Mode::kEval:
      return EvalMode(job, stop);
    case Mode::kPredict:
      return PredictMode(job, stop);
    case Mode::kExport:
      return ExportMode(job);
    case Mode::kTrain:
    case Mode::kTrainAndEval:
    case Mode::kDoctor:  // done already
      break;
  }
  return TrainMode(job, stop);
}

}  // namespace

std::string ConfigText(const RunOptions& options) {
  return ToYaml(options.data_dir.empty()
                    ? options.params
                    : Resolve(options.params, options.device, DataOf(options)));
}

ExitCode Run(const RunOptions& options, const std::stop_token& stop) {
  if (options.mode == Mode::kDoctor) {
    return DoctorMode(options);
  }
  if (options.dry_run) {
    return DryRun(options);
  }
  const DataSet data = DataOf(options);
  RequireSplits(options, data);
  const RunParams resolved = Resolve(options.params, options.device, data);
  const TrainParams& params = resolved.values;
  DeviceLoop device(ModelOf(params), OptimizerOf(params),
                    DeviceOf(params, options.device));
  const std::unique_ptr<Ranks> ranks = OneRank();
  const Job job{options, resolved, params, data, device, *ranks};
  PrintStart(job);
  return RunMode(job, stop);
}

}  // namespace infeed
