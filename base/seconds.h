#pragma once

#include <chrono>

namespace infeed {

template <class Rep, class Period>
[[nodiscard]] constexpr double ToSeconds(
    std::chrono::duration<Rep, Period> time) {
  return std::chrono::duration<double>(time).count();
}

// Seconds from a moment until now.
[[nodiscard]] inline double SecondsSince(
    std::chrono::steady_clock::time_point start) {
  return ToSeconds(std::chrono::steady_clock::now() - start);
}

}  // namespace infeed
