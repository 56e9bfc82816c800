#include "trainer/params/resumed_run.h"

#include <filesystem>
#include <system_error>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/resume.h"
#include "trainer/params/parse.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWeights = "resnet_checkpoint";

// folder: a model directory, or a checkpoint in one.
std::string ParamsOfRun(const std::string& folder) {
  std::error_code ignored;
  const fs::path path = fs::absolute(folder, ignored).lexically_normal();
  const fs::path whole = path.has_filename() ? path : path.parent_path();
  return ParamsPath(CheckpointStep(whole.filename().string())
                        ? whole.parent_path().string()
                        : folder);
}

}  // namespace

std::string ResumedFolder(const RunOptions& options) {
  if (options.resume == "never") {
    return "";
  }
  if (!ListCheckpoints(options.model_dir).empty()) {
    return options.model_dir;
  }
  return IsOfModelDir(options.resume) ? "" : options.resume;
}

std::optional<std::string> ParamSoFar(const RunOptions& options,
                                      std::string_view name) {
  const std::string folder = ResumedFolder(options);
  const std::string path = folder.empty() ? "" : ParamsOfRun(folder);
  if (path.empty() || !HasParamFile(path)) {
    return std::nullopt;
  }
  for (const OptionAssignment& param : ReadParamFile(path)) {
    if (param.name == name) {
      return param.value;
    }
  }
  return std::nullopt;
}

void KeepStartingWeights(const RunOptions& options, Ranks& ranks,
                         RunParams& resolved) {
  if (!Trains(options.mode) || resolved.origins.contains(kWeights)) {
    return;
  }
  const std::string weights = ranks.Broadcast(
      options.place.is_first() ? ParamSoFar(options, kWeights).value_or("")
                               : "");
  if (!weights.empty()) {
    resolved.values.resnet_checkpoint = weights;
    resolved.origins[kWeights] = "the resumed run";
  }
}

}  // namespace infeed
