#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"

namespace infeed {

// Which checkpoints stay when a new one has been written.
struct KeepOptions {
  int last = 5;            // number of the newest ones; > 0
  std::int64_t every = 0;  // also those whose step is a multiple of it; 0: none
  // Also this step, which has the best evaluation.
  std::optional<std::int64_t> best = {};
};

// The steps, of those given in ascending order, that are not kept.
[[nodiscard]] std::vector<std::int64_t> NotKept(
    const std::vector<std::int64_t>& steps, const KeepOptions& keep);

// Writes a checkpoint as checkpoint.h describes it, complete and synced; only
// then deletes those that are not kept. Returns the folder. Throws IoError;
// older checkpoints are untouched then.
std::string SaveCheckpoint(const std::string& model_dir,
                           const Checkpoint& checkpoint,
                           const KeepOptions& keep = {});

}  // namespace infeed
