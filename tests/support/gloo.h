#pragma once

namespace infeed {

// Whether this build joins ranks on CPUs. PyTorch's wheels have no headers of
// Gloo, which that takes.
inline constexpr bool kHasGloo = INFEED_GLOO;
inline constexpr const char* kNoGloo = "this LibTorch has no headers of Gloo";

}  // namespace infeed
