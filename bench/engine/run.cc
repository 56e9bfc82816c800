#include "bench/engine/run.h"

#include <algorithm>
#include <utility>

#include "pipeline/engine/input_pipeline.h"

namespace infeed {
namespace {

double PerThousand(double value, const ThroughputRound& round) {
  return value * 1000 /
         static_cast<double>(std::max<std::int64_t>(round.images, 1));
}

void AddCpu(const std::vector<ThroughputRound>& rounds, ThroughputRun& run) {
  std::vector<double> seconds;
  std::vector<double> instructions;
  for (const ThroughputRound& round : rounds) {
    seconds.push_back(PerThousand(round.cpu.seconds, round));
    if (round.cpu.instructions) {
      instructions.push_back(
          PerThousand(static_cast<double>(*round.cpu.instructions), round));
    }
  }
  run.cpu_seconds_per_1000 = Median(std::move(seconds));
  if (!instructions.empty()) {
    run.instructions_per_1000 = Median(std::move(instructions));
  }
}

// Sorts a run's rounds by rate and computes the reported figures.
ThroughputRun Summarize(std::vector<ThroughputRound> rounds, bool has_device) {
  std::ranges::sort(rounds, {}, &ThroughputRound::images_per_second);
  const ThroughputRound& middle = rounds[rounds.size() / 2];
  ThroughputRun run{.threads = middle.stats.threads,
                    .stats = middle.stats,
                    .memory = middle.memory,
                    .load = middle.load};
  std::vector<double> waits;
  for (const ThroughputRound& round : rounds) {
    run.images_per_second.push_back(round.images_per_second);
    waits.push_back(round.input_wait);
  }
  AddCpu(rounds, run);
  if (has_device) {
    run.input_wait = Median(std::move(waits));
  }
  return run;
}

}  // namespace

std::vector<ThroughputRun> MeasureThroughput(const RoundMaker& measure,
                                             const ThroughputOptions& options,
                                             const RunSink& sink) {
  std::vector<std::vector<ThroughputRound>> rounds(options.threads.size());
  for (int number = 1; number <= options.rounds; ++number) {
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      InputOptions input = options.input;
      input.threads = options.threads[i];
      RunProgress progress{.round = number, .threads = input.threads};
      const RoundOptions of_round{.seconds = options.seconds,
                                  .device_rate = options.device_rate,
                                  .live = options.live,
                                  .progress = [&](double seconds) {
                                    progress.seconds = seconds;
                                    sink(progress);
                                  }};
      rounds[i].push_back(measure(input, of_round));
      const ThroughputRound& round = rounds[i].back();
      progress.threads = round.stats.threads;
      progress.rate = round.images_per_second;
      sink(progress);
    }
  }
  std::vector<ThroughputRun> runs;
  runs.reserve(rounds.size());
  for (std::vector<ThroughputRound>& of_one : rounds) {
    runs.push_back(Summarize(std::move(of_one), options.device_rate > 0));
  }
  return runs;
}

}  // namespace infeed
