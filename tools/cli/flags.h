#pragma once

#include <functional>

#include "base/error.h"
#include "base/program_end.h"

namespace CLI {
class App;
}

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
// (completion.h). Names of flags are written with underscores and accepted with
// hyphens too. Returns false when --help, --version or the like was given and
// printed: the program has nothing left to do. Throws UsageError.
[[nodiscard]] bool ParseFlags(CLI::App& app, int argc, char** argv);

}  // namespace infeed
