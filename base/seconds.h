#pragma once

#include <chrono>

namespace infeed {

// Seconds from a moment until now.
[[nodiscard]] inline double SecondsSince(
    std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace infeed
