#include "bench/throughput_run.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "bench/stream_hash.h"
#include "pipeline/input_pipeline.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;

struct Round {
  double images_per_second = 0;
  PipelineStats stats;
  MemoryPlan memory;
};

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Takes batches for a while; returns false when the stream ended.
bool Consume(InputPipeline& pipeline, double seconds) {
  const Clock::time_point start = Clock::now();
  do {
    if (pipeline.Next() == nullptr) {
      return false;
    }
  } while (SecondsSince(start) < seconds);
  return true;
}

Round MeasureRound(const RecordIndex& index, const InputOptions& options,
                   double seconds) {
  InputPipeline pipeline(index, options);
  const Clock::time_point asked = Clock::now();
  (void)pipeline.Next();
  const std::int64_t first_images = pipeline.stats().images;
  const Clock::time_point start = Clock::now();
  Consume(pipeline, seconds);
  const double elapsed = SecondsSince(start);

  Round round{.stats = pipeline.stats(), .memory = pipeline.memory()};
  const std::int64_t images = round.stats.images - first_images;
  round.images_per_second =
      images > 0 ? static_cast<double>(images) / elapsed
                 // The stream was one batch long.
                 : static_cast<double>(first_images) / SecondsSince(asked);
  return round;
}

// Sorts a run's rounds by rate and keeps what is reported of them.
ThroughputRun Summarize(std::vector<Round> rounds) {
  std::ranges::sort(rounds, {}, &Round::images_per_second);
  const Round& median = rounds[rounds.size() / 2];
  ThroughputRun run{.threads = median.stats.threads,
                    .stats = median.stats,
                    .memory = median.memory};
  for (const Round& round : rounds) {
    run.images_per_second.push_back(round.images_per_second);
  }
  return run;
}

}  // namespace

std::vector<ThroughputRun> MeasureThroughput(const RecordIndex& index,
                                             const ThroughputOptions& options,
                                             const RoundSink& sink) {
  std::vector<std::vector<Round>> rounds(options.threads.size());
  for (int number = 1; number <= options.rounds; ++number) {
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      InputOptions input = options.input;
      input.threads = options.threads[i];
      rounds[i].push_back(MeasureRound(index, input, options.seconds));
      const Round& round = rounds[i].back();
      sink(number, round.stats.threads, round.images_per_second);
    }
  }
  std::vector<ThroughputRun> runs;
  runs.reserve(rounds.size());
  for (std::vector<Round>& of_one : rounds) {
    runs.push_back(Summarize(std::move(of_one)));
  }
  return runs;
}

std::string HashStream(const RecordIndex& index, const InputOptions& options,
                       std::int64_t batches) {
  InputPipeline pipeline(index, options);
  StreamHash hash;
  for (std::int64_t i = 0; i < batches; ++i) {
    const BatchHandle batch = pipeline.Next();
    if (batch == nullptr) {
      break;
    }
    hash.Add(*batch);
  }
  return hash.Finish();
}

}  // namespace infeed
