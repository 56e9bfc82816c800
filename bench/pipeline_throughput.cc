// How many images a second the input pipeline makes of some shards, where the
// time goes, and what would change it.

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "bench/throughput_report.h"
#include "bench/throughput_run.h"
#include "records/record_index.h"
#include "records/shards.h"
#include "tools/cloud_flags.h"
#include "tools/flags.h"
#include "tools/input_flags.h"
#include "tools/number_checks.h"

namespace infeed {
namespace {

struct Flags {
  std::string data_dir;
  std::string split = "train";
  std::string shards;
  std::string json;
  std::int64_t hash_batches = 0;
  InputFlags input;
  ThroughputOptions throughput;
  CloudFlags cloud;
};

constexpr const char* kDescription =
    "Measures how fast the input pipeline makes batches of TFRecord shards: "
    "images per second, time and waiting of each stage, and in words what "
    "bounds it. Nothing is done with the batches, so this is what a training "
    "run could get at best.\n\n"
    "  pipeline_throughput --data_dir DIR --threads 1,2 --seconds 5\n"
    "  pipeline_throughput --data_dir DIR --eval --split validation\n"
    "  pipeline_throughput --shards 'DIR/train-*' --hash 100\n";

void AddDataFlags(CLI::App& app, Flags& flags) {
  app.add_option("--data_dir", flags.data_dir,
                 "folder with the data set's shards")
      ->type_name("DIR");
  app.add_option("--split", flags.split, "which shards of it")
      ->capture_default_str();
  app.add_option("--shards", flags.shards,
                 "files, folders or patterns, instead of --data_dir")
      ->type_name("SPEC");
}

void AddMeasurementFlags(CLI::App& app, Flags& flags) {
  ThroughputOptions& throughput = flags.throughput;
  app.add_option("--threads", throughput.threads,
                 "a run for each of these; 0: one thread for each core")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--seconds", throughput.seconds, "of each round")
      ->check(PositiveNumber())
      ->capture_default_str();
  app.add_option("--rounds", throughput.rounds,
                 "of every run, in turns; the median counts")
      ->check(PositiveNumber())
      ->capture_default_str();
  app.add_option("--json", flags.json, "writes the report there as JSON")
      ->type_name("FILE");
  app.add_option("--hash", flags.hash_batches,
                 "does not measure, but prints the SHA-256 of the pixels and "
                 "labels of the first N batches, for each of --threads")
      ->check(PositiveNumber())
      ->type_name("N");
}

std::vector<std::string> ShardsOf(const Flags& flags) {
  if (flags.data_dir.empty() == flags.shards.empty()) {
    throw UsageError("give one of --data_dir and --shards");
  }
  if (!flags.shards.empty()) {
    return ListShards(flags.shards);
  }
  std::vector<std::string> shards = FindSplit(flags.data_dir, flags.split);
  if (shards.empty()) {
    throw UsageError(flags.data_dir + " has no shards of the split \"" +
                     flags.split + "\": give another --split, or --shards");
  }
  return shards;
}

void PrintHashes(const RecordIndex& index, const Flags& flags) {
  for (const int threads : flags.throughput.threads) {
    InputOptions input = flags.throughput.input;
    input.threads = threads;
    fmt::print("{}\n", HashStream(index, input, flags.hash_batches));
  }
}

void Measure(const RecordIndex& index, const Flags& flags) {
  const int rounds = flags.throughput.rounds;
  const std::vector<ThroughputRun> runs = MeasureThroughput(
      index, flags.throughput, [rounds](int round, int threads, double rate) {
        fmt::print(stderr, "round {}/{}, {} threads: {:.1f} images/s\n", round,
                   rounds, threads, rate);
      });
  const std::int64_t peak = PeakRssBytes();
  fmt::print("{}", ThroughputText(runs, peak));
  if (!flags.json.empty()) {
    WriteFileAtomically(
        flags.json, ThroughputJson(runs, flags.throughput, index.size(), peak));
  }
}

ExitCode PipelineThroughput(int argc, char** argv) {
  Flags flags;
  CLI::App app(kDescription);
  AddDataFlags(app, flags);
  AddStreamFlags(app, flags.input);
  AddMeasurementFlags(app, flags);
  AddPerformanceFlags(app, flags.input);
  AddCloudFlags(app, flags.cloud);
  if (!ParseFlags(app, argc, argv)) {
    return ExitCode::kDone;
  }
  flags.throughput.input = ResolveInput(flags.input);
  ApplyCloudFlags(flags.cloud);
  const RecordIndex index(ShardsOf(flags));
  fmt::print(stderr, "{} records in {} shards\n", index.size(),
             index.shards().size());
  if (flags.hash_batches > 0) {
    PrintHashes(index, flags);
  } else {
    Measure(index, flags);
  }
  return ExitCode::kDone;
}

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::PipelineThroughput);
}
