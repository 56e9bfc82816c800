#pragma once

#include <string_view>

#include "trainer/params/run_options.h"

namespace CLI {
class App;
}

namespace infeed {

// The end of the titles of the groups of parameters.
inline constexpr std::string_view kParameterGroup = "(parameters)";

// Throws UsageError for a given flag that is for other modes, and, in the modes
// replay and compare, which only read recorded runs, for all that they do not
// use.
void CheckFlagsOfMode(const CLI::App& app, Mode mode);

}  // namespace infeed
