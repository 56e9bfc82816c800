#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace infeed {

// Facts needed to repeat a run, in addition to its parameters: the command
// line, the program, the machine and the data, as names and values.
// docs/report.md has the names. No value has a password, a token or a
// signature.
using RunOrigin = std::vector<std::pair<std::string, std::string>>;

// The value with this name; "": there is none.
[[nodiscard]] std::string OriginValue(const RunOrigin& origin,
                                      std::string_view name);

// A command line as a POSIX shell reads it, without the secrets in its URLs.
// Control characters are replaced by '?', so that it is one line.
[[nodiscard]] std::string CommandText(const std::vector<std::string>& words);

// "NAME=VALUE NAME=VALUE", sorted: the environment variables that affect a run,
// which are INFEED_*, OMP_*, CUDA_VISIBLE_DEVICES and those that launchers set.
// The value of a secret one is "...". variables: as in `environ`, "NAME=VALUE"
// each, with nullptr at the end.
[[nodiscard]] std::string EnvironmentText(const char* const* variables);

// Lines of comments for a YAML file.
[[nodiscard]] std::string YamlComments(const RunOrigin& origin);

}  // namespace infeed
