#include "bench/engine/soak_cycle.h"

#include <algorithm>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "base/random.h"
#include "bench/common/stream_hash.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/order/stream_state.h"

namespace infeed {
namespace {

// A limit of pixels; photographs have about twice as many.
constexpr std::int64_t kFewPixels = 100'000;

InputOptions DrawOptions(const SoakOptions& soak, std::int64_t records,
                         SampleRandom& draws) {
  InputOptions options{
      .batch_size =
          static_cast<int>(std::min<std::int64_t>(soak.batch_size, records)),
      .image_size = soak.image_size,
      .recipe = draws.Below(2) == 0 ? Recipe::kTpu : Recipe::kPlain,
      .training = draws.Below(4) != 0,
      .shuffle = static_cast<Shuffle>(draws.Below(3)),
      .seed = draws.Word(),
      .on_bad_record = static_cast<OnBadRecord>(draws.Below(3)),
      .max_bad_records = draws.Below(4) == 0 ? 10 : -1,
      .lenient = draws.Below(2) == 0,
      .graph = draws.Below(8) == 0 ? GraphKind::kBasic : GraphKind::kFlow,
      .threads = 1 + static_cast<int>(draws.Below(4)),
      .use_cache = draws.Below(2) == 0,
      .bad_record_report = soak.bad_record_report};
  if (draws.Below(2) == 0) {
    options.jpeg_limits.max_pixels = kFewPixels;
  }
  return options;
}

// The hash of the next batch, 64 digits, or a text for the stream's end or
// error.
std::string NextOf(InputPipeline& pipeline) {
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

}  // namespace

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
    next = NextOf(pipeline);
    for (std::uint32_t i = 0; i < batches && IsBatch(next); ++i) {
      state = pipeline.State();
      next = NextOf(pipeline);
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
  if (NextOf(resumed) != next) {
    throw DataError("cycle " + std::to_string(cycle) +
                    ": the stream went on with another batch than " + next);
  }
  TakeUntilStopped(resumed, 1 + static_cast<int>(draws.Below(kMostBatches)));
  Add(resumed.stats(), counts);
}

}  // namespace infeed
