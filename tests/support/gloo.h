#pragma once

namespace infeed {

// Whether this build supports ranks on CPUs. That needs Gloo's headers, which
// PyTorch's wheels lack.
inline constexpr bool kHasGloo = INFEED_GLOO;
inline constexpr const char* kNoGloo = "this LibTorch has no headers of Gloo";

}  // namespace infeed
