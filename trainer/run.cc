#include "trainer/run.h"

#include <fmt/format.h>

#include "base/error.h"
#include "trainer/job.h"
#include "trainer/model_identity.h"
#include "trainer/run_options.h"

namespace infeed {
namespace {

// Throws UsageError where a mode lacks the images that it is for.
void RequireSplits(const RunOptions& options, const DataSet& data) {
  if (Trains(options.mode) && !data.has_train()) {
    throw UsageError("data_dir=" + options.data_dir +
                     ": no train-* shards to train on; use --mode eval, or "
                     "another data_dir");
  }
  if (options.mode == Mode::kEval && !data.has_eval()) {
    throw UsageError("data_dir=" + options.data_dir +
                     ": no validation-* or test-* shards to evaluate");
  }
}

void PrintStart(const Job& job) {
  Say("data:   " + job.data.Describe());
  Say("device: " + job.device.Describe());
  Say(fmt::format("model:  {}, {} parameters", ModelNameOf(job.params),
                  job.device.parameter_count()));
  Say("parameters:\n" + ToYaml(job.resolved));
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

ExitCode Run(const RunOptions& options, const std::stop_token& stop) {
  if (options.mode == Mode::kDoctor) {
    return DoctorMode(options);
  }
  const DataSet data =
      options.data_dir.empty() ? DataSet() : DataSet(options.data_dir);
  RequireSplits(options, data);
  const RunParams resolved = Resolve(options.params, options.device, data);
  const TrainParams& params = resolved.values;
  DeviceLoop device(ModelOf(params), OptimizerOf(params),
                    DeviceOf(params, options.device));
  const Job job{options, resolved, params, data, device};
  PrintStart(job);
  if (options.dry_run) {
    Say("dry run: nothing was written");
    return ExitCode::kDone;
  }
  return RunMode(job, stop);
}

}  // namespace infeed
