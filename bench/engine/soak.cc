// Tests whether the input pipeline leaks: creates, resumes and stops pipelines
// for an hour, and records memory, open files and threads.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"
#include "base/seconds.h"
#include "bench/common/growth.h"
#include "bench/common/stream_hash.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/options/options.h"
#include "pipeline/order/stream_state.h"
#include "records/files/shards.h"
#include "records/store/record_index.h"
#include "tools/cli/flags.h"
#include "tools/cli/number_checks.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kDescription =
    "Runs short-lived input pipelines with changing options: takes batches, "
    "resumes streams from their state and stops them. Prints memory, open "
    "files and threads of the process; exits 1 when they grow.\n\n"
    "  soak --shards 'DIR/train-*' --seconds 3600\n";
constexpr int kLines = 20;
constexpr std::size_t kFewestCycles = 8;

struct SoakOptions {
  int batch_size = 32;
  int image_size = 64;
  std::string bad_record_report;  // a file for this only; each cycle removes it
};

// The counts of a soak test so far.
struct SoakCounts {
  std::int64_t cycles = 0;
  std::int64_t images = 0;
  std::int64_t resumed = 0;  // streams resumed from their state
  std::int64_t bad_records = 0;
};

// A limit of pixels; photographs have about twice as many.
constexpr std::int64_t kFewPixels = 100'000;

InputOptions DrawOptions(const SoakOptions& soak, std::int64_t records,
                         SampleRandom& draws) {
  InputOptions options{
      .batch_size =
          static_cast<int>(std::min<std::int64_t>(soak.batch_size, records)),
      .preprocess = {.recipe =
                         draws.Below(2) == 0 ? Recipe::kTpu : Recipe::kPlain,
                     .image_size = soak.image_size,
                     .lenient = draws.Below(2) == 0},
      .training = draws.Below(4) != 0,
      .shuffle = static_cast<Shuffle>(draws.Below(4)),
      .seed = draws.Word(),
      .on_bad_record = static_cast<OnBadRecord>(draws.Below(4)),
      .max_bad_records = draws.Below(4) == 0 ? 10 : -1,
      .graph = draws.Below(8) == 0 ? GraphKind::kBasic : GraphKind::kFlow,
      .threads = 1 + static_cast<int>(draws.Below(4)),
      .use_cache = draws.Below(2) == 0,
      .bad_record_report = soak.bad_record_report};
  if (draws.Below(2) == 0) {
    options.preprocess.limits.max_pixels = kFewPixels;
  }
  return options;
}

// The hash of the next batch, 64 digits, or a text for the stream's end or
// error.
std::string HashNextBatch(InputPipeline& pipeline) {
  try {
    const BatchHandle batch = pipeline.Next();
    if (batch == nullptr) {
      return "the end";
    }
    StreamHash hash;
    hash.Add(*batch);
    return hash.Finish();
  } catch (const DataError& error) {
    return std::string("an error: ") + error.what();
  }
}

bool IsBatch(const std::string& next) { return next.size() == 64; }

void Add(const PipelineStats& stats, SoakCounts& counts) {
  counts.images += stats.images;
  counts.bad_records += stats.bad_records;
}

// Takes batches until another thread stops the stream.
void TakeUntilStopped(InputPipeline& pipeline, int batches) {
  std::jthread stopper;
  try {
    while (pipeline.Next() != nullptr) {
      if (--batches == 0) {
        stopper = std::jthread([&] { pipeline.Stop(); });
      }
    }
  } catch (const DataError&) {
  }
}

// Runs a short-lived pipeline with options drawn from the cycle's number: a
// policy, a shuffle, a recipe, threads or the basic graph, training or
// evaluation, with or without a limit of pixels that makes larger images bad.
// Takes some batches, saves the state, and resumes the stream in a pipeline
// with other threads, which is then stopped from another thread. Throws
// DataError when the resumed stream does not continue with the same batch.
void RunSoakCycle(const RecordIndex& index, const SoakOptions& soak,
                  std::int64_t cycle, SoakCounts& counts) {
  constexpr std::uint32_t kMostBatches = 20;
  SampleRandom draws({.position = static_cast<std::uint64_t>(cycle)},
                     RandomStream::kMadeData);
  InputOptions options = DrawOptions(soak, index.size(), draws);
  std::string state;
  std::string next;
  {
    InputPipeline pipeline(index, options);
    const std::uint32_t batches = draws.Below(kMostBatches);
    state = pipeline.State();
    next = HashNextBatch(pipeline);
    for (std::uint32_t i = 0; i < batches && IsBatch(next); ++i) {
      state = pipeline.State();
      next = HashNextBatch(pipeline);
    }
    Add(pipeline.stats(), counts);
  }
  ++counts.cycles;
  options.threads = 1 + static_cast<int>(draws.Below(4));
  options.max_bad_records = -1;  // Budgets start over on resuming.
  std::filesystem::remove(options.bad_record_report);
  options.bad_record_report.clear();
  if (!IsBatch(next)) {
    return;
  }
  InputPipeline resumed(index, options, ResumePosition(state, index, options));
  ++counts.resumed;
  if (HashNextBatch(resumed) != next) {
    throw DataError("cycle " + std::to_string(cycle) +
                    ": the resumed stream continued with another batch than " +
                    next);
  }
  TakeUntilStopped(resumed, 1 + static_cast<int>(draws.Below(kMostBatches)));
  Add(resumed.stats(), counts);
}

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
  const std::string growth = DescribeGrowth(Soak(index, flags));
  fmt::print("{}\n", growth.empty() ? "nothing grew" : growth);
  return growth.empty() ? ExitCode::kDone : ExitCode::kRuntimeError;
}

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::RunSoak);
}
