#include "tools/flags.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/base_name.h"
#include "tools/man_page.h"

namespace infeed {
namespace {

int Fail(std::string_view program, std::string_view message, ExitCode code) {
  std::cout.flush();  // Results first where both go to one place.
  std::cerr << program << ": " << message << std::endl;
  return static_cast<int>(code);
}

// "--max-shards=a-b" -> "--max_shards=a-b"; anything but a long flag stays.
std::string WithUnderscores(std::string argument) {
  if (argument.size() > 2 && argument.starts_with("--")) {
    const auto end = std::find(argument.begin(), argument.end(), '=');
    std::replace(argument.begin() + 2, end, '-', '_');
  }
  return argument;
}

// The arguments as the app takes them: from the last to the first.
std::vector<std::string> Arguments(int argc, char** argv) {
  std::vector<std::string> arguments;
  bool flags = true;
  for (int i = 1; i < argc; ++i) {
    flags = flags && std::string_view(argv[i]) != "--";
    arguments.push_back(flags ? WithUnderscores(argv[i]) : argv[i]);
  }
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

// A flag that --help does not show, answered like it.
void AddAnswer(CLI::App& app, const char* name,
               std::string (*answer)(const CLI::App& app)) {
  app.add_flag_callback(
         name, [&app, answer] { throw CLI::CallForVersion(answer(app), 0); })
      ->group("");
}

}  // namespace

int RunMain(int argc, char** argv,
            const std::function<ExitCode(int argc, char** argv)>& program) {
  const std::string_view name = BaseName(argc > 0 ? argv[0] : "infeed");
  try {
    const ExitCode code = program(argc, argv);
    std::cout.flush();
    if (std::fflush(stdout) != 0 || !std::cout) {
      return Fail(name, "cannot write the results to standard output",
                  ExitCode::kRuntimeError);
    }
    return static_cast<int>(code);
  } catch (const UsageError& error) {
    return Fail(name, error.what(), ExitCode::kUsageError);
  } catch (const DataError& error) {
    return Fail(name, error.what(), ExitCode::kDataError);
  } catch (const std::exception& error) {  // IoError, and what we do not throw
    return Fail(name, error.what(), ExitCode::kRuntimeError);
  }
}

bool ParseFlags(CLI::App& app, int argc, char** argv) {
  const std::string name(BaseName(argc > 0 ? argv[0] : "infeed"));
  app.name(name);
  app.set_version_flag("--version", name + " (infeed) " INFEED_VERSION);
  AddAnswer(app, "--man_page", ManPage);
  AddAnswer(app, "--bash_completion", BashCompletion);
  try {
    app.parse(Arguments(argc, argv));
  } catch (const CLI::Success& answer) {  // --help, --version
    app.exit(answer, std::cout, std::cerr);
    return false;
  } catch (const CLI::ParseError& error) {
    throw UsageError(std::string(error.what()) + " (see " + name + " --help)");
  }
  return true;
}

}  // namespace infeed
