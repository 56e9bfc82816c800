#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace infeed {

// The choices of an option whose text or type is "a|b|c"; others have none.
[[nodiscard]] std::vector<std::string> ChoicesOf(const CLI::Option& option);

// A script that completes the verbs and flags of a program and their choices in
// bash, and in zsh by bashcompinit. It is made from the flags, so it always
// matches the program.
[[nodiscard]] std::string BashCompletion(const CLI::App& app);

}  // namespace infeed
