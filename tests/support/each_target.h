#pragma once

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "preprocess/pixels/simd_target.h"

namespace infeed {

// Calls body once with each SIMD target that this CPU has in use, and brings
// the best one back.
inline void OnEachSimdTarget(const std::function<void()>& body) {
  for (const std::string& target : SupportedSimdTargets()) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, target);
    UseSimdTarget(target);
    body();
  }
  UseSimdTarget("");
}

}  // namespace infeed
