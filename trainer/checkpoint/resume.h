#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"

namespace infeed {

// Whether --resume stands for a checkpoint in model_dir: auto, best or a step.
[[nodiscard]] bool IsOfModelDir(const std::string& resume);

// The checkpoint that a run goes on from, as --resume says:
//
//   auto   the newest one in model_dir that is whole
//   never  none; a model_dir that has checkpoints is refused
//   best   the one that its best.json names (keep_best)
//   STEP   the one of this step in model_dir
//   PATH   a checkpoint's folder, or the newest in another model_dir. A run
//          that trains takes it only while model_dir has none of its own, so
//          that the same command goes on after an interruption.
//
// nullopt when there is none; `damaged` then has a line for each that was not
// whole, if any. Throws UsageError for a step or a path that has no
// checkpoint, and where no evaluation made one the best.
[[nodiscard]] std::optional<Checkpoint> FindResume(
    const std::string& model_dir, const std::string& resume, bool trains,
    std::vector<std::string>& damaged);

}  // namespace infeed
