#pragma once

#include <string>

namespace CLI {
class App;
}

// What is made of a program's flags beside --help, so that it is always that of
// the program. The build asks each program for both and installs them.
namespace infeed {

// The manual page of section 1, for man(1).
[[nodiscard]] std::string ManPage(const CLI::App& app);

// A script for bash that completes the program's flags, verbs, and values: a
// flag whose type is "a|b|c" has those, FILE and PATH files, DIR folders.
[[nodiscard]] std::string BashCompletion(const CLI::App& app);

}  // namespace infeed
