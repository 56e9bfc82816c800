#pragma once

#include <string>

namespace CLI {
class App;
}

// What is made of a program's flags beside --help, so that it is always that of
// the program. The build asks each program for all of these and installs them.
namespace infeed {

// The manual page of section 1, for man(1).
[[nodiscard]] std::string ManPage(const CLI::App& app);

// Scripts that complete the program's flags, verbs, and values
// (tools/cli/completion.h), for bash, zsh and fish.
[[nodiscard]] std::string BashCompletion(const CLI::App& app);
[[nodiscard]] std::string ZshCompletion(const CLI::App& app);
[[nodiscard]] std::string FishCompletion(const CLI::App& app);

}  // namespace infeed
