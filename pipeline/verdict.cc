#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "pipeline/stats.h"

namespace infeed {
namespace {

// A consumer that waits less than this is not held up by its input.
constexpr double kLittleWait = 0.02;
// Workers that are this busy are what bounds the throughput.
constexpr double kFullyBusy = 0.75;

struct Shares {
  double waited = 0;   // of the time after the first batch, by the consumer
  double busy = 0;     // of the workers' time
  double starved = 0;  // of the elapsed time, by the driver for a free batch
  const StageStats* busiest = nullptr;
  double busiest_share = 0;  // of what the workers did
};

bool IsWorkersStage(const StageStats& stage) {
  return stage.name != "order" && stage.name != "batch";
}

Shares SharesOf(const PipelineStats& stats) {
  Shares shares;
  double busy_seconds = 0;
  for (const StageStats& stage : stats.stages) {
    if (stage.name == "order") {
      shares.starved = stage.wait_seconds / stats.elapsed_seconds;
    }
    if (!IsWorkersStage(stage)) {
      continue;
    }
    busy_seconds += stage.busy_seconds;
    if (shares.busiest == nullptr ||
        stage.busy_seconds > shares.busiest->busy_seconds) {
      shares.busiest = &stage;
    }
  }
  const double after_first = stats.elapsed_seconds - stats.first_wait_seconds;
  shares.waited = after_first > 0
                      ? std::min(1.0, stats.consumer_wait_seconds / after_first)
                      : 0;
  shares.busy = std::min(
      1.0, busy_seconds / (stats.elapsed_seconds * std::max(1, stats.threads)));
  if (shares.busiest != nullptr && busy_seconds > 0) {
    shares.busiest_share = shares.busiest->busy_seconds / busy_seconds;
  }
  return shares;
}

std::string Percent(double share) {
  std::array<char, 16> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%.0f %%", 100 * share);
  return {text.data(), static_cast<std::size_t>(length)};
}

// What would change it that a stage bounds the throughput.
std::string Advice(std::string_view stage, const SeekIndexStats& indexes) {
  if (stage == "read") {
    return "faster storage, shards in the page cache, or more threads to wait "
           "for it";
  }
  if (stage == "decode") {
    const std::string others =
        "more threads (up to the cores there are), or shards of smaller "
        "images";
    return indexes.none > indexes.used
               ? "seek indexes of the JPEGs (records index --seek), " + others
               : others;
  }
  return "more threads (up to the cores there are), or a smaller image_size";
}

}  // namespace

std::string Verdict(const PipelineStats& stats) {
  if (stats.batches == 0 || stats.elapsed_seconds <= 0) {
    return "No batch has been delivered yet.";
  }
  const Shares shares = SharesOf(stats);
  const std::string waited =
      "it waited " + Percent(shares.waited) + " of the time";
  if (shares.waited < kLittleWait) {
    return "The consumer bounds the throughput: " + waited +
           " for its input, whose workers were " + Percent(shares.busy) +
           " busy. A faster consumer would change it; fewer threads would do.";
  }
  if (shares.busy >= kFullyBusy && shares.busiest != nullptr) {
    const std::string& name = shares.busiest->name;
    return name + " bounds the throughput with " +
           Percent(shares.busiest_share) +
           " of the work, and the consumer waits for it: " + waited + ". " +
           "What would change it: " + Advice(name, stats.seek_indexes) + ".";
  }
  if (shares.starved >= kLittleWait) {
    return "The batch pool bounds the throughput: workers were " +
           Percent(shares.busy) +
           " busy, as no batch was free, while the consumer took its batches "
           "in bursts: " +
           waited + ". A larger batches_in_pool would change it.";
  }
  return "The run is too short to tell, or the threads do not get their cores: "
         "workers were " +
         Percent(shares.busy) + " busy, and the consumer: " + waited +
         ". A longer run, or a machine with nothing else to do, would tell.";
}

}  // namespace infeed
