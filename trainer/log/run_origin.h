#pragma once

#include <string>
#include <utility>
#include <vector>

namespace infeed {

// What one needs to do a run again, beside its parameters: the command line,
// the program, the machine and the data, by name. docs/report.md has the names.
// No value holds a password, a token or a signature.
using RunOrigin = std::vector<std::pair<std::string, std::string>>;

// A command line as a POSIX shell reads it, without the secrets of its URLs.
// Control characters stand as '?', so that it is one line.
[[nodiscard]] std::string CommandText(const std::vector<std::string>& words);

// "NAME=VALUE NAME=VALUE", sorted: those of the environment's variables that
// decide about a run, which are INFEED_*, OMP_*, CUDA_VISIBLE_DEVICES and what
// launchers say to their processes. The value of a secret one is "...".
// variables: as the system has them, "NAME=VALUE", with nullptr at the end.
[[nodiscard]] std::string EnvironmentText(const char* const* variables);

// Lines of comments for a YAML file.
[[nodiscard]] std::string YamlComments(const RunOrigin& origin);

}  // namespace infeed
