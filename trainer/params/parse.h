#pragma once

#include <string_view>
#include <vector>

#include "trainer/params/value.h"

// From what the user wrote to assignments, in the order written.
namespace infeed {

// Reads one --params_override: "a=1, b='x,y', c=[3,4]", or YAML or JSON text of
// a map, or else the path of a YAML file.
[[nodiscard]] std::vector<ParamAssignment> ParseOverride(std::string_view text);

}  // namespace infeed
