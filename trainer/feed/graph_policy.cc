#include "trainer/feed/graph_policy.h"

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

}  // namespace infeed
