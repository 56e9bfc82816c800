#pragma once

#include <algorithm>

namespace infeed {

// part / whole; 0 if there is no whole.
[[nodiscard]] inline double Ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

// Ratio() limited to 0..1: times measured separately may add up to more.
[[nodiscard]] inline double Share(double part, double whole) {
  return std::clamp(Ratio(part, whole), 0.0, 1.0);
}

}  // namespace infeed
