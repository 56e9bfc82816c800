#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/options/option_text.h"

// Parses the user's text into parameter assignments, in the order written.
namespace infeed {

// Reads one --params_override: "a=1, b='x,y', c=[3,4]", or YAML or JSON text of
// a map, or else the path of a YAML file.
[[nodiscard]] std::vector<OptionAssignment> ParseOverride(
    std::string_view text);

// Reads a YAML (or JSON) map of names to values, without checking either.
// origin is the file's name for messages, or "". A nested map gives names with
// dots: {train: {steps: 5}} is train.steps=5. A list of values gives one text:
// [3, 4] is 3,4. Throws UsageError for anything else: deeper maps and lists,
// aliases, more than one document, more than 64 KiB.
[[nodiscard]] std::vector<OptionAssignment> ParseParamYaml(
    std::string_view text, std::string_view origin);

// Whether the config file, or the object at a URL, exists. Throws IoError.
[[nodiscard]] bool HasParamFile(const std::string& path);

// Reads a config file, or the object at a URL; a pipe too if own_names is
// kNamedByUser. Throws as ParseParamYaml() does, and IoError.
[[nodiscard]] std::vector<OptionAssignment> ReadParamFile(
    const std::string& path, int own_names = 1);

}  // namespace infeed
