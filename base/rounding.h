#pragma once

#include <concepts>

namespace infeed {

// value / step, rounded up; does not overflow. Requires: step > 0.
template <std::integral Number>
[[nodiscard]] constexpr Number CeilDiv(Number value, Number step) {
  return value / step + (value % step > 0 ? 1 : 0);
}

// The smallest multiple of step that is >= value. Requires: step > 0.
template <std::integral Number>
[[nodiscard]] constexpr Number RoundUp(Number value, Number step) {
  return CeilDiv(value, step) * step;
}

}  // namespace infeed
