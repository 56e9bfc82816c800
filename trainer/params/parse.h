#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trainer/params/value.h"

// From what the user wrote to assignments, in the order written.
namespace infeed {

// Reads one --params_override: "a=1, b='x,y', c=[3,4]", or YAML or JSON text of
// a map, or else the path of a YAML file.
[[nodiscard]] std::vector<ParamAssignment> ParseOverride(std::string_view text);

// Reads a YAML (or JSON) map of names to values, without looking at either.
// origin is the file's name for messages, or "". A map in it is names with
// dots, {train: {steps: 5}} is train.steps=5; a list of values is one text,
// [3, 4] is 3,4. Throws UsageError for anything else: deeper maps and lists,
// aliases, more than one document or 64 KiB.
[[nodiscard]] std::vector<ParamAssignment> ParseParamYaml(
    std::string_view text, std::string_view origin);

// Whether there is a config file, or an object of that URL. Throws IoError.
[[nodiscard]] bool HasParamFile(const std::string& path);

// Reads a config file, or the object that a URL names. Throws IoError too.
[[nodiscard]] std::vector<ParamAssignment> ReadParamFile(
    const std::string& path);

}  // namespace infeed
