#include "trainer/checkpoint/resume.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "records/bytes/whole_number.h"
#include "trainer/checkpoint/best_checkpoint.h"
#include "trainer/model/layers.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

std::optional<std::int64_t> ParseStep(const std::string& text) {
  const auto step = ParseWholeNumber<std::int64_t>(text);
  return step && *step >= 0 ? step : std::nullopt;
}

// The result of load(); a DataError becomes a line in `damaged`.
template <typename Load>
std::optional<Checkpoint> Whole(Load load, std::vector<std::string>& damaged) {
  try {
    return load();
  } catch (const DataError& error) {
    damaged.emplace_back(error.what());
    return std::nullopt;
  }
}

std::optional<Checkpoint> OfStep(const std::string& model_dir,
                                 std::int64_t step,
                                 std::vector<std::string>& damaged) {
  const std::vector<std::int64_t> steps = ListCheckpoints(model_dir);
  if (std::ranges::find(steps, step) == steps.end()) {
    throw UsageError(fmt::format(
        "model_dir={}: no checkpoint of step {}; it has {}", model_dir, step,
        steps.empty() ? "none" : fmt::format("{}", fmt::join(steps, ", "))));
  }
  return Whole([&] { return LoadCheckpoint(model_dir, step); }, damaged);
}

std::optional<Checkpoint> Best(const std::string& model_dir,
                               std::vector<std::string>& damaged) {
  const std::optional<std::int64_t> step = RecordedBestStep(model_dir);
  if (!step) {
    throw UsageError(fmt::format(
        "model_dir={}: it has no best.json, which names the best checkpoint, "
        "or a damaged one; train with keep_best, or choose the newest "
        "checkpoint or a step",
        model_dir));
  }
  return OfStep(model_dir, *step, damaged);
}

std::optional<Checkpoint> OfPath(const std::string& path,
                                 std::vector<std::string>& damaged) {
  std::optional<Checkpoint> found =
      Whole([&] { return FindCheckpoint(path, damaged); }, damaged);
  if (!found && damaged.empty()) {
    throw UsageError(
        "resume=" + path +
        ": no checkpoint there; give auto, best, never, a step, or "
        "the path of a checkpoint or a model_dir");
  }
  return found;
}

}  // namespace

bool IsOfModelDir(const std::string& resume) {
  return resume == "auto" || MayGoBack(resume);
}

bool MayGoBack(const std::string& resume) {
  return resume == "best" || ParseStep(resume).has_value();
}

void RequireNewest(const std::string& model_dir, std::int64_t step) {
  std::vector<std::int64_t> later = ListCheckpoints(model_dir);
  std::erase_if(later, [&](std::int64_t other) { return other <= step; });
  if (!later.empty()) {
    throw UsageError(fmt::format(
        "model_dir={0}: the checkpoints of later steps, {1}, would stay the "
        "newest of a training that goes on from step {2}: give another "
        "model_dir and --resume {3}, move them away, or delete them at the "
        "first new checkpoint by --force",
        model_dir, fmt::join(later, ", "), step,
        CheckpointFolder(model_dir, step)));
  }
}

std::optional<int> FrozenStagesOf(const Checkpoint& checkpoint,
                                  const ModelOptions& model) {
  const TensorMap& state = checkpoint.state.optimizer;
  std::optional<int> first;
  for (const LayerPlan& layer : PlanLayers(model)) {
    for (const TensorPlan& tensor : TensorsOf(layer)) {
      if (state.contains(tensor.name) || state.contains(tensor.name + "/m")) {
        first = std::min(layer.stage, first.value_or(layer.stage));
      }
    }
  }
  return first;
}

std::optional<Checkpoint> FindResume(const std::string& model_dir,
                                     const std::string& resume, bool trains,
                                     std::vector<std::string>& damaged) {
  const std::vector<std::int64_t> steps = ListCheckpoints(model_dir);
  if (resume == "never") {
    if (!steps.empty()) {
      throw UsageError(fmt::format(
          "resume=never: {} has checkpoints, the newest of step {}; give "
          "another model_dir, or move them away",
          model_dir, steps.back()));
    }
    return std::nullopt;
  }
  if (const std::optional<std::int64_t> step = ParseStep(resume)) {
    return OfStep(model_dir, *step, damaged);
  }
  if (resume == "best") {
    return Best(model_dir, damaged);
  }
  if (resume != "auto" && (!trains || steps.empty())) {
    return OfPath(resume, damaged);
  }
  return LoadNewestCheckpoint(model_dir, damaged);
}

}  // namespace infeed
