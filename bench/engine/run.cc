#include "bench/engine/run.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "base/seconds.h"
#include "bench/engine/paced_device.h"
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

namespace {

using Clock = PacedDevice::Clock;

// Reads a byte of each image, the least that any consumer would do.
void Touch(const Batch& batch) {
  const std::span<const std::byte> bytes = batch.image_bytes();
  const std::size_t image = bytes.size() / batch.labels().size();
  if (image == 0) {
    return;  // of fields alone
  }
  volatile int seen = 0;
  for (std::size_t i = image / 2; i < bytes.size(); i += image) {
    seen = seen + std::to_integer<int>(bytes[i]);
  }
}

// Takes batches until the time or the stream is over.
void Consume(InputPipeline& pipeline, const RoundOptions& options,
             std::optional<PacedDevice>& device) {
  const Clock::time_point start = Clock::now();
  do {
    const Clock::time_point asked = Clock::now();
    const BatchHandle batch = pipeline.Next();
    if (batch == nullptr) {
      return;
    }
    Touch(*batch);
    if (device) {  // The device holds the batch until it is done with it.
      std::this_thread::sleep_until(
          device->Use(asked, Clock::now(), batch->size()));
    }
    options.progress(SecondsSince(start));
  } while (SecondsSince(start) < options.seconds);
}

PipelineStats ReadStats(const InputPipeline& pipeline,
                        const RoundOptions& options) {
  PipelineStats stats = pipeline.stats();
  stats.has_device = options.device_rate > 0;
  return stats;
}

}  // namespace

ThroughputRound MeasurePipeline(const RecordIndex& index,
                                const InputOptions& input,
                                const RoundOptions& options) {
  const CpuCounters counters;  // Created before the threads that it counts.
  InputPipeline pipeline(index, input);
  const LiveStats::Shown shown(options.live,
                               [&] { return ReadStats(pipeline, options); });
  const Clock::time_point asked = Clock::now();
  (void)pipeline.Next();
  const CpuUse first = counters.Read();
  const std::int64_t first_images = pipeline.stats().images;
  std::optional<PacedDevice> device;
  if (options.device_rate > 0) {
    device.emplace(options.device_rate);
  }
  const std::optional<CpuTimes> before = ReadCpuTimes();
  const Clock::time_point start = Clock::now();
  Consume(pipeline, options, device);
  const double elapsed = SecondsSince(start);

  ThroughputRound round{.cpu = counters.Read(),
                        .input_wait = device ? device->input_wait() : 0,
                        .stats = ReadStats(pipeline, options),
                        .memory = pipeline.memory(),
                        .load = LoadSince(before)};
  round.images = round.stats.images - first_images;
  if (round.images > 0) {
    round.images_per_second = static_cast<double>(round.images) / elapsed;
    round.cpu.seconds -= first.seconds;
    if (round.cpu.instructions && first.instructions) {
      *round.cpu.instructions -= *first.instructions;
    }
  } else {  // The stream had only one batch.
    round.images = first_images;
    round.images_per_second =
        static_cast<double>(first_images) / SecondsSince(asked);
  }
  return round;
}

}  // namespace infeed
