#include "trainer/feed/slot_graphs.h"

#include <exception>

#include "base/error.h"

namespace infeed {

bool GraphPolicy::Try(const std::function<void()>& capture) {
  std::string reason;
  try {
    capture();
    return true;
  } catch (const std::exception& error) {
    reason = error.what();
  }
  if (replay_ == GraphReplay::kRequired) {
    throw IoError("cuda_graph=required: the GPU rejected a CUDA graph: " +
                  reason);
  }
  replay_ = GraphReplay::kFalse;
  if (say_) {
    say_(
        "cuda_graph: work is launched kernel by kernel, which is slower, since "
        "the GPU rejected a CUDA graph: " +
        reason);
  }
  return false;
}

void SlotGraphs::Run(int slot) {
  const bool is_warm = runs_ >= options_.warm_up;
  if (is_warm && policy_.enabled() && IsCaptured(slot)) {
    device_.Replay(slot);
    return;
  }
  runs_ += is_warm ? 0 : 1;
  device_.Run(slot);
}

// Captures the work on the slot if that has not been done.
bool SlotGraphs::IsCaptured(int slot) {
  const auto at = static_cast<std::size_t>(slot);
  if (!captured_[at]) {
    captured_[at] = policy_.Try([&] { device_.Capture(slot); });
  }
  return captured_[at];
}

void SlotGraphs::Reset() {
  device_.Drop();
  captured_.assign(captured_.size(), false);
  runs_ = 0;
}

}  // namespace infeed
