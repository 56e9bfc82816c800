#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"

namespace infeed {

// Which checkpoints stay when a new one has been written.
struct KeepOptions {
  int last = 5;            // so many of the newest; > 0
  std::int64_t every = 0;  // those of multiples of it as well; 0: none
  // The one with the best evaluation as well.
  std::optional<std::int64_t> best = {};
};

// Of steps in ascending order, those that are not kept.
[[nodiscard]] std::vector<std::int64_t> NotKept(
    const std::vector<std::int64_t>& steps, const KeepOptions& keep);

// Writes a checkpoint as checkpoint.h draws it, whole and synced; only then
// deletes those that are not kept. Returns the folder. Throws IoError; older
// checkpoints are then untouched.
std::string SaveCheckpoint(const std::string& model_dir,
                           const Checkpoint& checkpoint,
                           const KeepOptions& keep = {});

}  // namespace infeed
