#include "tools/train_resnet/model_parameters.h"

#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "base/shown_text.h"
#include "trainer/checkpoint/follower.h"
#include "trainer/params/parse.h"
#include "trainer/results/model_dir.h"

namespace infeed {

void TakeModelParameters(const RunOptions& run, ParamLayers& layers) {
  const std::string path = ParamsPath(run.model_dir);
  if (UsesTrainedModel(run.mode) && HasParamFile(path)) {
    layers.model_file = path;
  }
}

bool AwaitModelParameters(RunOptions& run, ParamLayers& layers,
                          const std::stop_token& stop) {
  if (run.mode != Mode::kEval || !run.eval_timeout ||
      !layers.model_file.empty()) {
    return true;
  }
  const std::string path = ParamsPath(run.model_dir);
  if (run.place.is_first()) {
    fmt::print(stderr,
               "waiting up to {:g} s for {}, which the training run writes\n",
               *run.eval_timeout, ShownText(path));
  }
  const bool came = WaitUntil([&] { return HasParamFile(path); },
                              {.timeout_seconds = *run.eval_timeout,
                               .wait = WaitingUnlessStopped(stop)});
  if (stop.stop_requested()) {
    return false;
  }
  if (!came) {
    throw UsageError(fmt::format(
        "model_dir={}: no params.yaml appeared within {:g} s; start the "
        "training run with this model_dir, or give a longer --eval_timeout",
        run.model_dir, *run.eval_timeout));
  }
  layers.model_file = path;
  run.params = ReadParams(layers);
  return true;
}

}  // namespace infeed
