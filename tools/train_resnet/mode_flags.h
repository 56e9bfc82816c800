#pragma once

#include <string_view>

#include "trainer/params/run_options.h"

namespace CLI {
class App;
}

namespace infeed {

// The end of the titles of the groups of parameters.
inline constexpr std::string_view kParameterGroup = "(parameters)";

// The modes replay and compare only read recorded runs: they have flags of
// their own, and use few others. Throws UsageError for a given flag that has no
// effect in such a mode, and for a flag of such a mode in another one.
void CheckFlagsOfMode(const CLI::App& app, Mode mode);

}  // namespace infeed
