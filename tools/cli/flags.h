#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/program_end.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

// The common main() of all programs: flags in, exit code out.
//
//   int main(int argc, char** argv) {
//     return infeed::RunMain(argc, argv, [](int count, char** arguments) {
//       CLI::App app("Counts things.");
//       std::string path;
//       app.add_option("--path", path, "what to count");
//       if (!infeed::ParseFlags(app, count, arguments)) {
//         return infeed::ExitCode::kDone;
//       }
//       return CountThings(path);
//     });
//   }
namespace infeed {

// Runs a program and returns what main() returns: the exit code of `program`,
// or, when it throws, the one of that error. After each end that is no success
// the last line on stderr is "NAME: REASON". Results that could not be written
// to stdout (a full disk) are an error as well.
[[nodiscard]] int RunMain(
    int argc, char** argv,
    const std::function<ProgramEnd(int argc, char** argv)>& program);

// Parses the command line into the app's options, and adds --help, --help_all
// (help_text.h), --version and, for the build, --bash_completion
// (BashCompletion()). Names of flags are written with underscores and accepted
// with hyphens too. Returns false when --help, --version or the like was given
// and printed: the program has nothing left to do. Throws UsageError.
[[nodiscard]] bool ParseFlags(CLI::App& app, int argc, char** argv);

// The choices of an option whose text or type is "a|b|c"; others have none.
[[nodiscard]] std::vector<std::string> ChoicesOf(const CLI::Option& option);

// A script that completes the verbs and flags of a program and their choices in
// bash, and in zsh by bashcompinit. It is made from the flags, so it always
// matches the program.
[[nodiscard]] std::string BashCompletion(const CLI::App& app);

}  // namespace infeed
