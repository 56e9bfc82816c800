#include "pipeline/stats/bottleneck.h"

#include <algorithm>

#include "base/choices.h"
#include "base/ratio.h"

namespace infeed {
namespace {

// A device that waits less than this is not held up by its input.
constexpr double kLittleWait = 0.02;
// A device that waits more than this does no measurable work of its own.
constexpr double kAllWait = 0.99;
// Threads that are this busy limit the run.
constexpr double kFullyBusy = 0.75;
constexpr double kRgbBytes = 3;

constexpr Choices<Bound, 5> kBounds = {{{"unknown", Bound::kUnknown},
                                        {"consumer", Bound::kConsumer},
                                        {"workers", Bound::kWorkers},
                                        {"pool", Bound::kPool},
                                        {"no_overlap", Bound::kNoOverlap}}};

bool IsWorkersStage(const StageStats& stage) {
  return stage.name == "read" || stage.name == "decode" ||
         stage.name == "resize" || stage.name == "augment";
}

// Sets the stage with most work, and the images per core of all stages; returns
// the busy seconds of all stages.
double FindBusiest(const PipelineStats& stats, Bottleneck& bottleneck) {
  double all = 0;
  double most = 0;
  double of_an_image = 0;
  for (const StageStats& stage : stats.stages) {
    if (!IsWorkersStage(stage)) {
      continue;
    }
    all += stage.busy_seconds;
    of_an_image += stage.items > 0
                       ? stage.busy_seconds / static_cast<double>(stage.items)
                       : 0;
    if (stage.busy_seconds > most) {
      most = stage.busy_seconds;
      bottleneck.stage = stage.name;
    }
  }
  bottleneck.stage_share = Share(most, all);
  if (of_an_image > 0) {
    bottleneck.images_per_core = 1 / of_an_image;
  }
  return all;
}

void FindWaste(const PipelineStats& stats, Bottleneck& bottleneck) {
  if (const StageStats* const decode = stats.stage("decode")) {
    const double outside = static_cast<double>(stats.outside_pixels);
    bottleneck.outside_share = Share(
        outside, outside + static_cast<double>(decode->bytes) / kRgbBytes);
  }
  if (const StageStats* const read = stats.stage("read")) {
    bottleneck.storage_share = Share(static_cast<double>(stats.storage_bytes),
                                     static_cast<double>(read->bytes));
  }
  const BadRecordTotals& bad = stats.bad_record_totals;
  bottleneck.bad_share = Share(static_cast<double>(bad.bad_samples),
                               static_cast<double>(bad.samples));
}

// Images delivered after the first batch.
double LaterImages(const PipelineStats& stats) {
  const double images = static_cast<double>(stats.images);
  return stats.first_wait_seconds > 0  // 0 in later intervals.
             ? images - images / static_cast<double>(stats.batches)
             : images;
}

// The share of the images that were made here, not by workers.
double ShareMadeHere(const PipelineStats& stats) {
  const StageStats* const received = stats.stage("receive");
  const StageStats* const read = stats.stage("read");
  return received != nullptr && read != nullptr
             ? Share(static_cast<double>(read->items),
                     static_cast<double>(read->items + received->items))
             : 1;
}

// Sets the device's own speed and the cores that it needs. Let c cores work for
// the time W + D, in which the device waits for W. To do this work in the time
// D takes c (W + D) / D cores: c W / D more. Where workers make a part of the
// images, c is the cores that would make all of them.
void FindDevice(const PipelineStats& stats, double busy_seconds,
                Bottleneck& bottleneck) {
  if (!stats.has_device || bottleneck.device_wait_share > kAllWait) {
    return;
  }
  const double own_seconds = stats.elapsed_seconds - stats.first_wait_seconds -
                             stats.consumer_wait_seconds;
  if (own_seconds <= 0) {
    return;
  }
  bottleneck.device_rate = LaterImages(stats) / own_seconds;
  if (bottleneck.device_wait_share < kLittleWait) {
    bottleneck.cores_needed = 0;
    return;
  }
  if (ShareMadeHere(stats) <= 0) {
    return;  // What a core makes is not known.
  }
  const double busy_cores =
      Ratio(busy_seconds / stats.elapsed_seconds, ShareMadeHere(stats));
  bottleneck.cores_needed = busy_cores * bottleneck.device_wait_share /
                            (1 - bottleneck.device_wait_share);
}

// Sets the rate of a worker, and the number of workers that the device needs.
// Requires: FindDevice() has been called.
void FindWorkers(const PipelineStats& stats, Bottleneck& bottleneck) {
  double images = 0;
  double seconds = 0;
  for (const WorkerStats& worker : stats.workers) {
    images += static_cast<double>(worker.images);
    seconds += worker.open_seconds;
  }
  if (images <= 0 || seconds <= 0) {
    return;
  }
  bottleneck.worker_rate = images / seconds;
  if (bottleneck.device_rate) {
    const double delivered =
        *bottleneck.device_rate * (1 - bottleneck.device_wait_share);
    const double made_here = delivered * ShareMadeHere(stats);
    bottleneck.workers_wanted =
        (*bottleneck.device_rate - made_here) / *bottleneck.worker_rate;
  }
}

Bound FindBound(const PipelineStats& stats, const Bottleneck& bottleneck) {
  if (stats.has_device && bottleneck.device_wait_share < kLittleWait) {
    return Bound::kConsumer;
  }
  if (!stats.overlapped) {
    return Bound::kNoOverlap;
  }
  if (bottleneck.busy_share >= kFullyBusy) {
    return Bound::kWorkers;
  }
  const StageStats* const order = stats.stage("order");
  const bool starved =
      order != nullptr &&
      Share(order->wait_seconds, stats.elapsed_seconds) >= kLittleWait;
  return starved ? Bound::kPool : Bound::kUnknown;
}

}  // namespace

std::string_view BoundName(Bound bound) { return ChoiceName(bound, kBounds); }

Bottleneck BottleneckOf(const PipelineStats& stats) {
  Bottleneck bottleneck;
  if (stats.batches == 0 || stats.elapsed_seconds <= 0) {
    return bottleneck;
  }
  const double busy_seconds = FindBusiest(stats, bottleneck);
  bottleneck.busy_share =
      Share(busy_seconds, stats.elapsed_seconds * std::max(1, stats.threads));
  bottleneck.device_wait_share =
      Share(stats.consumer_wait_seconds,
            stats.elapsed_seconds - stats.first_wait_seconds);
  FindWaste(stats, bottleneck);
  FindDevice(stats, busy_seconds, bottleneck);
  FindWorkers(stats, bottleneck);
  bottleneck.bound = FindBound(stats, bottleneck);
  return bottleneck;
}

}  // namespace infeed
