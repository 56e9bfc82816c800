#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace infeed {

// The instruction sets that the vector code is compiled for, best first, by
// Highway's names: on x86-64 AVX3_DL (AVX-512 as of Ice Lake and Zen 4), AVX3
// (AVX-512 as of Skylake), AVX2, SSE4; and PORTABLE, plain C++. All give the
// same bytes.
[[nodiscard]] std::vector<std::string> CompiledSimdTargets();

// The compiled instruction sets that this CPU supports, best first. Never
// empty.
[[nodiscard]] std::vector<std::string> SupportedSimdTargets();

// The instruction set in use: the best, unless another was chosen.
[[nodiscard]] std::string CurrentSimdTarget();

// Makes all vector code use one of the supported targets from now on; an empty
// name selects the best one again. For tests and benchmarks; no other thread
// may decode or resize meanwhile. Throws UsageError that lists the targets.
void UseSimdTarget(std::string_view name);

}  // namespace infeed
