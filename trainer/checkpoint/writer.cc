#include "trainer/checkpoint/writer.h"

#include <utility>

namespace infeed {

CheckpointWriter::CheckpointWriter(std::string model_dir, bool beside,
                                   Written written)
    : model_dir_(std::move(model_dir)),
      beside_(beside),
      written_(std::move(written)) {}

void CheckpointWriter::Save(Checkpoint checkpoint, const KeepOptions& keep) {
  Finish();
  step_ = checkpoint.step;
  // Deferred work runs in the thread that asks for its result.
  folder_ = std::async(
      beside_ ? std::launch::async : std::launch::deferred,
      [model_dir = model_dir_, checkpoint = std::move(checkpoint), keep] {
        return SaveCheckpoint(model_dir, checkpoint, keep);
      });
  if (!beside_) {
    Finish();
  }
}

void CheckpointWriter::Finish() {
  if (folder_.valid()) {
    const std::string folder = folder_.get();
    written_(step_, folder);
  }
}

}  // namespace infeed
