#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"

namespace infeed {

// The checkpoints that are kept when a new one has been written.
struct KeepOptions {
  int last = 5;            // number of the newest ones; > 0
  std::int64_t every = 0;  // also those whose step is a multiple of it; 0: none
  // Also this step, which best.json names.
  std::optional<std::int64_t> best = {};
  // Whether those of later steps go: the run went back behind them.
  bool drops_later = false;
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

// Writes a run's checkpoints, in the caller's thread, or one at a time in a
// background thread, from a copy of the state, while the training continues.
// The copy needs the state's size in memory once more.
//
// One thread at a time. An error of the background thread is thrown by the next
// call, except the destructor, which waits and drops the error. Throws IoError.
class CheckpointWriter {
 public:
  // Called for each checkpoint once it is on disk, in the caller's thread.
  using Written =
      std::function<void(std::int64_t step, const std::string& folder)>;

  CheckpointWriter(std::string model_dir, bool beside, Written written);

  // Waits for the previous checkpoint; writes this one, or begins to.
  void Save(Checkpoint checkpoint, const KeepOptions& keep);

  // Waits until nothing is being written.
  void Finish();

 private:
  std::string model_dir_;
  bool beside_;
  Written written_;
  std::int64_t step_ = 0;            // of the checkpoint being written
  std::future<std::string> folder_;  // of this checkpoint; its destructor waits
};

}  // namespace infeed
