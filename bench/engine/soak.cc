// Tests whether the input pipeline leaks: creates, resumes and stops pipelines
// for an hour, and records memory, open files and threads.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "base/seconds.h"
#include "bench/common/growth.h"
#include "bench/common/process_status.h"
#include "bench/engine/soak_cycle.h"
#include "records/files/shards.h"
#include "records/store/record_index.h"
#include "tools/cli/flags.h"
#include "tools/cli/number_checks.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kDescription =
    "Uses the input pipeline over and over for a time, each cycle with other "
    "options: batches are taken, streams resumed by their state and stopped. "
    "Prints what the process holds; exits 1 when that grows.\n\n"
    "  soak --shards 'DIR/train-*' --seconds 3600\n";
constexpr int kLines = 20;
constexpr std::size_t kFewestCycles = 8;

struct Flags {
  std::string shards;
  double seconds = 3600;
  SoakOptions soak;
};

void PrintLine(const Holding& holding, const SoakCounts& counts) {
  fmt::print("{:8.0f} {:8} {:10} {:8} {:8} {:8.1f} {:6} {:8}\n",
             holding.seconds, counts.cycles, counts.images, counts.resumed,
             counts.bad_records, static_cast<double>(holding.bytes) / (1 << 20),
             holding.descriptors, holding.threads);
  std::fflush(stdout);
}

// Runs cycles for the given time and returns the holdings after each cycle.
std::vector<Holding> Soak(const RecordIndex& index, const Flags& flags) {
  fmt::print("{:>8} {:>8} {:>10} {:>8} {:>8} {:>8} {:>6} {:>8}\n", "seconds",
             "cycles", "images", "resumed", "bad", "MiB", "files", "threads");
  const Clock::time_point start = Clock::now();
  std::vector<Holding> holdings;
  SoakCounts counts;
  int lines = 0;
  while (SecondsSince(start) < flags.seconds ||
         holdings.size() < kFewestCycles) {
    RunSoakCycle(index, flags.soak, counts.cycles, counts);
    holdings.push_back({.seconds = SecondsSince(start),
                        .bytes = ResidentBytes(),
                        .descriptors = OpenDescriptors(),
                        .threads = RunningThreads()});
    if (holdings.back().seconds >= flags.seconds * lines / kLines) {
      PrintLine(holdings.back(), counts);
      ++lines;
    }
  }
  PrintLine(holdings.back(), counts);
  return holdings;
}

ExitCode RunSoak(int argc, char** argv) {
  Flags flags;
  CLI::App app(kDescription);
  app.add_option("--shards", flags.shards, "files, folders or patterns")
      ->required()
      ->type_name("SPEC");
  app.add_option("--seconds", flags.seconds, "how long")
      ->check(PositiveNumber())
      ->capture_default_str();
  app.add_option("--batch_size", flags.soak.batch_size, "images of a batch")
      ->check(PositiveNumber())
      ->capture_default_str();
  app.add_option("--image_size", flags.soak.image_size,
                 "side of an image, pixels")
      ->check(PositiveNumber())
      ->capture_default_str();
  if (!ParseFlags(app, argc, argv)) {
    return ExitCode::kDone;
  }
  flags.soak.bad_record_report = std::filesystem::temp_directory_path() /
                                 fmt::format("infeed_soak.{}", ::getpid());
  const RecordIndex index(ListShards(flags.shards));
  const std::string growth = GrowthOf(Soak(index, flags));
  fmt::print("{}\n", growth.empty() ? "nothing grew" : growth);
  return growth.empty() ? ExitCode::kDone : ExitCode::kRuntimeError;
}

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::RunSoak);
}
