// The programs of the Python package in one file, so that the package contains
// the engine twice (here and in its module) instead of five times. The program
// is chosen by the name that this file is called by, or by the first word.

#include <sys/prctl.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/program_end.h"
#include "bench/engine/pipeline_throughput.h"
#include "records/bytes/plain_text.h"
#include "tools/cli/flags.h"
#include "tools/convert/imagenet_to_records.h"
#include "tools/records/records.h"
#include "tools/worker/input_worker.h"

namespace infeed {
namespace {

struct PackageProgram {
  std::string_view name;
  ProgramEnd (*run)(int argc, char** argv);
};

constexpr PackageProgram kPrograms[] = {
    {"imagenet_to_records", ImagenetToRecords},
    {"input_worker", InputWorker},
    {"pipeline_throughput", PipelineThroughput},
    {"records", Records},
};

const PackageProgram* FindProgram(std::string_view name) {
  const PackageProgram* const found =
      std::ranges::find(kPrograms, name, &PackageProgram::name);
  return found == std::end(kPrograms) ? nullptr : found;
}

ProgramEnd RefuseToChoose(int /*argc*/, char** /*argv*/) {
  throw UsageError(fmt::format(
      "the first word must be a program's name: {}",
      fmt::join(std::views::transform(kPrograms, &PackageProgram::name),
                ", ")));
}

// Shows the program's name in messages, and in `ps` and `top`, as if it was the
// file's.
void TakeName(char* name) {
  program_invocation_short_name = name;
  (void)::prctl(PR_SET_NAME, name);
}

int RunPackageProgram(int argc, char** argv) {
  if (argc > 0) {
    if (const auto* const called = FindProgram(BaseName(argv[0]))) {
      return RunMain(argc, argv, called->run);
    }
  }
  if (argc > 1) {
    if (const auto* const named = FindProgram(argv[1])) {
      TakeName(argv[1]);
      return RunMain(argc - 1, argv + 1, named->run);
    }
  }
  return RunMain(argc, argv, RefuseToChoose);
}

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  return infeed::RunPackageProgram(argc, argv);
}
