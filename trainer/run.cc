#include "trainer/run.h"

#include <fmt/format.h>

#include "base/error.h"
#include "trainer/job.h"
#include "trainer/run_options.h"

namespace infeed {
namespace {

void RequireSplits(const RunOptions& options, const DataSet& data) {
  if (options.mode != Mode::kEval && !data.has_train()) {
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
  Say(fmt::format("model:  ResNet-{}, {} parameters", job.params.resnet_depth,
                  job.device.parameter_count()));
  Say("parameters:\n" + ToYaml(job.resolved));
  if (job.options.mode == Mode::kTrainAndEval && !job.data.has_eval()) {
    Say("there are no validation-* or test-* shards: this run only trains");
  }
}

}  // namespace

Mode ParseMode(std::string_view name) {
  if (name == "train") {
    return Mode::kTrain;
  }
  if (name == "eval") {
    return Mode::kEval;
  }
  if (name == "train_and_eval") {
    return Mode::kTrainAndEval;
  }
  throw UsageError("mode=" + std::string(name) +
                   ": must be train, eval or train_and_eval");
}

ExitCode Run(const RunOptions& options, const std::stop_token& stop) {
  const DataSet data(options.data_dir);
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
  return options.mode == Mode::kEval ? EvalMode(job, stop)
                                     : TrainMode(job, stop);
}

}  // namespace infeed
