#include "tools/cli/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace infeed {

std::size_t ThreadCount(int threads) {
  return threads > 0 ? static_cast<std::size_t>(threads)
                     : std::max(1U, std::thread::hardware_concurrency());
}

void ParallelFor(std::size_t count, int threads,
                 const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next = 0;
  std::once_flag failed;
  std::exception_ptr error;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) {
        body(i);
      }
    } catch (...) {
      next = count;
      std::call_once(failed, [&] { error = std::current_exception(); });
    }
  };
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < std::min(ThreadCount(threads), count); ++i) {
      workers.emplace_back(work);
    }
  }  // Joined here.
  if (error) {
    std::rethrow_exception(error);
  }
}

}  // namespace infeed
