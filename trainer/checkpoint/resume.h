#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/model/options.h"

namespace infeed {

// Whether --resume refers to a checkpoint in model_dir: auto, best or a step.
[[nodiscard]] bool IsOfModelDir(const std::string& resume);

// Whether it refers to one that need not be the newest: best or a step.
[[nodiscard]] bool MayGoBack(const std::string& resume);

// Throws UsageError if model_dir has checkpoints of later steps: a training
// that goes on from this one would leave them as the newest.
void RequireNewest(const std::string& model_dir, std::int64_t step);

// The frozen stages of the training that wrote a checkpoint of this network:
// those before the first one that has state of the optimizer. nullopt: the
// checkpoint has no such state.
[[nodiscard]] std::optional<int> FrozenStagesOf(const Checkpoint& checkpoint,
                                                const ModelOptions& model);

// The checkpoint from which a run resumes. The values of --resume:
//
//   auto   the newest undamaged one in model_dir
//   never  none; a model_dir that has checkpoints is rejected
//   best   the one that best.json in model_dir names (keep_best)
//   STEP   the one of this step in model_dir
//   PATH   a checkpoint's folder, or the newest in another model_dir. A run
//          that trains uses it only while model_dir has no checkpoints, so
//          that the same command resumes after an interruption.
//
// nullopt when there is none; `damaged` then has a line for each damaged
// checkpoint. Throws UsageError for a step or a path without a checkpoint, and
// for "best" without a best.json.
[[nodiscard]] std::optional<Checkpoint> FindResume(
    const std::string& model_dir, const std::string& resume, bool trains,
    std::vector<std::string>& damaged);

}  // namespace infeed
