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
  if (is_warm && IsCaptured(slot)) {
    device_.Replay(slot);
    return;
  }
  runs_ += is_warm ? 0 : 1;
  device_.Run(slot);
}

// Captures the work on the slot if that has not been done. Slots with graphs
// and slots without are not mixed.
bool SlotGraphs::IsCaptured(int slot) {
  const auto at = static_cast<std::size_t>(slot);
  if (!rejected_ && !captured_[at]) {
    captured_[at] =
        policy_.enabled() && policy_.Try([&] { device_.Capture(slot); });
    rejected_ = !captured_[at];
  }
  return !rejected_;
}

void SlotGraphs::Reset() {
  device_.Drop();
  captured_.assign(captured_.size(), false);
  rejected_ = false;
  runs_ = 0;
}

}  // namespace infeed
