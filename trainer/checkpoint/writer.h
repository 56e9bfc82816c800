#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <string>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/save.h"

namespace infeed {

// Writes a run's checkpoints, in the caller's thread or beside it: then one at
// a time in a thread of its own, from a copy of the state, while the training
// goes on. That takes the state's size in memory once more.
//
// One thread at a time. What went wrong with a checkpoint written beside the
// training comes out of the next call but the destructor, which waits and says
// nothing. Throws IoError.
class CheckpointWriter {
 public:
  // Told of each checkpoint once it is on the disk, in the caller's thread.
  using Written =
      std::function<void(std::int64_t step, const std::string& folder)>;

  CheckpointWriter(std::string model_dir, bool beside, Written written);

  // Waits for the one before; writes this one, or begins to.
  void Save(Checkpoint checkpoint, const KeepOptions& keep);

  // Waits until nothing is being written.
  void Finish();

 private:
  std::string model_dir_;
  bool beside_;
  Written written_;
  std::int64_t step_ = 0;            // of the one that is being written
  std::future<std::string> folder_;  // of that; its destructor waits
};

}  // namespace infeed
