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

// Those of them that this CPU has, best first. Never empty.
[[nodiscard]] std::vector<std::string> SupportedSimdTargets();

// The one in use: the best, unless another was chosen.
[[nodiscard]] std::string CurrentSimdTarget();

// Makes all vector code use one of the supported targets from now on; an empty
// name brings the best one back. For tests and benchmarks: not while another
// thread decodes or resizes. Throws UsageError naming the targets there are.
void UseSimdTarget(std::string_view name);

}  // namespace infeed
