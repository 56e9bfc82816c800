#include "pipeline/stats/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "base/count_text.h"

namespace infeed {
namespace {

// Smaller shares are not mentioned.
constexpr double kNotable = 0.01;
// At least this share of the bytes read comes from disks if reading waits for
// disks.
constexpr double kFromDisks = 0.1;
// The share of rows with a seek index from which more would gain little.
constexpr double kNearlyAll = 0.99;
constexpr double kHardlyBusy = 0.75;

std::string Percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

std::string Rate(double per_second, const PipelineStats& stats) {
  return fmt::format("{:.0f} {}/s", per_second, stats.items_name());
}

// The share of time that the device waited, after the text `before`; "" if
// nothing was done with the batches.
std::string Waited(std::string_view before, const Bottleneck& bottleneck,
                   const PipelineStats& stats) {
  return bottleneck.device_rate
             ? fmt::format("{}the device waited {} of the time and can take {}",
                           before, Percent(bottleneck.device_wait_share),
                           Rate(*bottleneck.device_rate, stats))
             : "";
}

// The images per second with more cores: with all that the machine has, or, if
// they are all in use, with twice as many as there are threads. Requires:
// images_per_core is set.
std::string CoresText(const Bottleneck& bottleneck,
                      const PipelineStats& stats) {
  const bool has_more = stats.cores > stats.threads;
  const int cores = has_more ? stats.cores : 2 * stats.threads;
  return fmt::format("{}{}{} would give {}", has_more ? "this machine's " : "",
                     CountText(cores, "core"), has_more ? "" : " of this kind",
                     Rate(cores * *bottleneck.images_per_core, stats));
}

// The number of cores that would keep up with the device; without a device,
// cores that would make the input faster.
std::string MoreCores(const Bottleneck& bottleneck,
                      const PipelineStats& stats) {
  return bottleneck.cores_needed
             ? fmt::format(
                   "at least {:.1f} more cores of this kind would feed it",
                   *bottleneck.cores_needed)
             : CoresText(bottleneck, stats);
}

// Advice on what seek indexes would gain.
std::string SeekAdvice(const Bottleneck& bottleneck,
                       const SeekIndexStats& indexes) {
  if (indexes.rows > 0) {  // Decoding finds indexes.
    const double covered = CoveredShare(indexes);
    return covered < kNearlyAll
               ? "; seek indexes cover " + Percent(covered) +
                     " of the rows so far: later epochs decode less"
               : "";
  }
  if (indexes.none + indexes.refused <= indexes.used) {
    return "";
  }
  const std::string build = indexes.refused > indexes.none
                                ? "build seek indexes anew: these are of other "
                                  "JPEGs (records index --seek)"
                                : "build seek indexes (records index --seek)";
  return bottleneck.outside_share >= kNotable
             ? "; " + Percent(bottleneck.outside_share) +
                   " of the pixels decoded are outside the crops: " + build
             : "; " + build;
}

// Advice on how to reduce the work of the largest stage.
std::string StageAdvice(const Bottleneck& bottleneck,
                        const PipelineStats& stats) {
  if (bottleneck.stage == "decode") {
    const std::string advice = SeekAdvice(bottleneck, stats.seek_indexes);
    return advice.empty() ? "; smaller images in the shards would cost less"
                          : advice;
  }
  if (bottleneck.stage == "read" && stats.of_image_files) {
    return "; each image is a file to open: shards of the same images are read "
           "in long ranges (imagenet_to_records)";
  }
  if (bottleneck.stage == "read") {
    return bottleneck.storage_share >= kFromDisks
               ? "; " + Percent(bottleneck.storage_share) +
                     " of what was read came from disks: a faster one, or "
                     "memory for its page cache, would help"
               : "; nearly all came from the page cache or a network: threads "
                 "that wait for it would help";
  }
  return bottleneck.stage == "augment"
             ? "; a lighter augmentation would cost less"
         : stats.has_images ? "; a smaller image_size would cost less"
                            : "; fewer fields would cost less";
}

// "2 threads at 86 %".
std::string ThreadsText(const Bottleneck& bottleneck,
                        const PipelineStats& stats) {
  return CountText(stats.threads, "thread") + " at " +
         Percent(bottleneck.busy_share);
}

std::string WorkersVerdict(const Bottleneck& bottleneck,
                           const PipelineStats& stats) {
  return fmt::format(
      "{} bounds the run with {} of the work: {}{}; {}{}", bottleneck.stage,
      Percent(bottleneck.stage_share), ThreadsText(bottleneck, stats),
      Waited("; ", bottleneck, stats), MoreCores(bottleneck, stats),
      StageAdvice(bottleneck, stats));
}

std::string NoOverlapVerdict(const Bottleneck& bottleneck,
                             const PipelineStats& stats) {
  const std::string text =
      "nothing overlaps (graph=basic): " + Waited("", bottleneck, stats);
  if (!bottleneck.cores_needed) {
    return text + "one thread did the work" +
           (bottleneck.images_per_core
                ? "; with graph=flow " + CoresText(bottleneck, stats)
                : "");
  }
  const double busy = bottleneck.busy_share * stats.threads;
  const double needed = std::ceil(busy + *bottleneck.cores_needed);
  return text +
         ", while one thread did the work; graph=flow works ahead of it: at "
         "least " +
         CountText(static_cast<int>(needed), "thread") + " would feed it";
}

std::string ConsumerVerdict(const Bottleneck& bottleneck,
                            const PipelineStats& stats) {
  const std::string text = fmt::format(
      "the device bounds the run: it waited {} of the time for its input, with "
      "{}",
      Percent(bottleneck.device_wait_share), ThreadsText(bottleneck, stats));
  return stats.threads > 1 && bottleneck.busy_share < kHardlyBusy
             ? text + "; fewer input threads would be enough"
             : text;
}

// Receiving that costs more than this part of making the images gains little.
constexpr double kMuchOfIt = 0.5;

// What more workers would do for the device, or without one for the rate, as
// far as the input bounds the run. Requires: open > 0.
std::string MoreWorkers(std::ptrdiff_t open, const Bottleneck& bottleneck,
                        const PipelineStats& stats) {
  const std::string text =
      fmt::format("; {} made {}{}", CountText(open, "input worker"),
                  Rate(bottleneck.worker_rate.value_or(0), stats),
                  open == 1 ? "" : " each");
  if (!bottleneck.workers_wanted) {
    return text + ": more of them, or more threads, would make more";
  }
  const double more = *bottleneck.workers_wanted - static_cast<double>(open);
  return more > 0  // Else they came lately, or others were lost.
             ? text + fmt::format(
                          ": at least {:.1f} more of them would feed it", more)
             : text;
}

// A warning where receiving an image costs nearly as much as making it here, or
// where nothing is known of that.
std::string CostOfReceiving(const Bottleneck& bottleneck,
                            const PipelineStats& stats) {
  const StageStats* const receive = stats.stage("receive");
  if (receive == nullptr || receive->items == 0) {
    return "";
  }
  if (!bottleneck.images_per_core) {
    return bottleneck.bound == Bound::kConsumer
               ? ""
               : fmt::format(
                     "; input workers made all {}: what cores here "
                     "make was not measured",
                     stats.items_name());
  }
  const double cost =
      1000 * receive->busy_seconds / static_cast<double>(receive->items);
  const double here = 1000 / *bottleneck.images_per_core;
  return cost > kMuchOfIt * here
             ? fmt::format(
                   "; input workers gain little here: receiving costs "
                   "{:.2f} CPU s per 1,000 {}, making them {:.2f}",
                   cost, stats.items_name(), here)
             : "";
}

std::string InputWorkersText(const Bottleneck& bottleneck,
                             const PipelineStats& stats) {
  if (stats.workers.empty()) {
    return "";
  }
  const auto open =
      std::ranges::count(stats.workers, "open", &WorkerStats::state);
  if (open == 0) {
    return "; no input worker is there: the local threads fill all batches";
  }
  return (bottleneck.bound == Bound::kWorkers
              ? MoreWorkers(open, bottleneck, stats)
              : "") +
         CostOfReceiving(bottleneck, stats);
}

std::string BadRecordsText(const Bottleneck& bottleneck) {
  return bottleneck.bad_share >= kNotable
             ? "; " + Percent(bottleneck.bad_share) +
                   " of the samples met a bad record: bad_record_report lists "
                   "them"
             : "";
}

std::string BoundText(const Bottleneck& bottleneck,
                      const PipelineStats& stats) {
  const std::string threads =
      ThreadsText(bottleneck, stats) + Waited("; ", bottleneck, stats);
  switch (bottleneck.bound) {
    case Bound::kConsumer:
      return ConsumerVerdict(bottleneck, stats);
    case Bound::kWorkers:
      return WorkersVerdict(bottleneck, stats);
    case Bound::kNoOverlap:
      return NoOverlapVerdict(bottleneck, stats);
    case Bound::kPool:
      return "the batch pool bounds the run: no batch was free for " + threads +
             (bottleneck.device_rate ? "; it takes its batches in bursts"
                                     : "") +
             ": a larger batches_in_pool would help";
    case Bound::kUnknown:
      break;
  }
  return "it is not clear what bounds the run, with " + threads +
         "; it was too short to tell, or the threads do not get their cores";
}

}  // namespace

std::string Verdict(const PipelineStats& stats) {
  if (stats.batches == 0 || stats.elapsed_seconds <= 0) {
    return "no batch has been delivered yet";
  }
  const Bottleneck bottleneck = BottleneckOf(stats);
  return BoundText(bottleneck, stats) + InputWorkersText(bottleneck, stats) +
         BadRecordsText(bottleneck);
}

}  // namespace infeed
