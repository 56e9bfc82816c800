#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trainer/param_value.h"

// From what the user wrote to assignments, in the order written.
namespace infeed {

// Reads a YAML (or JSON) map of names to single values, without looking at
// either. origin is the file's name for messages, or "". Throws UsageError for
// anything else: lists, maps in maps, aliases, more than one document or 64
// KiB.
[[nodiscard]] std::vector<ParamAssignment> ParseParamYaml(
    std::string_view text, std::string_view origin);

// Reads a config file. Throws IoError too.
[[nodiscard]] std::vector<ParamAssignment> ReadParamFile(
    const std::string& path);

// Reads one --params_override: "a=1, b='x,y'", or YAML or JSON text of a map,
// or else the path of a YAML file.
[[nodiscard]] std::vector<ParamAssignment> ParseOverride(std::string_view text);

}  // namespace infeed
