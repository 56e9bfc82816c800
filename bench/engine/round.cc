#include "bench/engine/round.h"

#include <cstddef>
#include <optional>
#include <span>
#include <thread>

#include "base/seconds.h"
#include "bench/engine/paced_device.h"
#include "pipeline/engine/input_pipeline.h"

namespace infeed {
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
