#pragma once

#include <string>

namespace CLI {
class App;
}

// Manual page and shell completions, generated from a program's flags so that
// they always match the program. The build runs each program to print them, and
// installs them.
namespace infeed {

// The manual page of section 1, for man(1).
[[nodiscard]] std::string ManPage(const CLI::App& app);

// Scripts that complete the program's flags, verbs, and values
// (tools/cli/completion.h), for bash, zsh and fish.
[[nodiscard]] std::string BashCompletion(const CLI::App& app);
[[nodiscard]] std::string ZshCompletion(const CLI::App& app);
[[nodiscard]] std::string FishCompletion(const CLI::App& app);

}  // namespace infeed
