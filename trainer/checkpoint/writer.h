#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <string>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/save.h"

namespace infeed {

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
