#include "trainer/cuda/log.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <exception>
#include <string>

#include "base/error.h"
#include "trainer/groups/torch_errors.h"

namespace infeed {
namespace {

// Reads CUDA's messages from its construction on.
class CudaLog {
 public:
#if CUDART_VERSION >= 13000
  CudaLog() : has_start_(cudaLogsCurrent(&start_, 0) == cudaSuccess) {}

  // Each in a line of its own, after a line break; "" if there are none.
  [[nodiscard]] std::string Read() {
    constexpr std::size_t kMostBytes = 25600;
    std::string text(kMostBytes, '\0');
    std::size_t size = text.size();
    if (!has_start_ ||
        cudaLogsDumpToMemory(&start_, text.data(), &size, 0) != cudaSuccess) {
      return "";
    }
    text.resize(size);
    text.erase(text.find_last_not_of('\n') + 1);
    return text.empty() ? text : "\n" + text;
  }

 private:
  cudaLogIterator start_ = 0;
  bool has_start_;
#else
  [[nodiscard]] static std::string Read() { return ""; }
#endif
};

}  // namespace

void WithCudaLog(const std::function<void()>& call) {
  CudaLog log;
  try {
    call();
  } catch (const std::exception& error) {
    throw IoError(ErrorText(error) + log.Read());
  }
}

}  // namespace infeed
