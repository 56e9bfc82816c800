#include "bench/cluster/cost.h"

#include <algorithm>
#include <cmath>

#include "pipeline/memory/batch.h"
#include "trainer/model/cost.h"
#include "trainer/params/train_params.h"
#include "trainer/scores/eval_sums.h"

namespace infeed {
namespace {

constexpr std::int64_t kIndexEntry = 2 * sizeof(std::int64_t);
// Interval of a rank's heartbeats, at the default --rank_timeout.
constexpr double kBeatSeconds = 5;
// A frame's kind and length.
constexpr std::int64_t kFrameHead = 9;
// Rank 0's answer for each number collected from all ranks: its sum, its
// maximum, and the rank of the maximum.
constexpr std::int64_t kTotalBytes = 3 * sizeof(double);
// Numbers after a loop: whether a rank stops, how long it waited.
constexpr std::int64_t kLoopBytes = kFrameHead + 2 * kTotalBytes;
// Numbers of an evaluation: whether a rank stops, its bad records, its two
// times, and the number of its scores.
constexpr std::int64_t kEvaluationBytes = kFrameHead + 5 * kTotalBytes;

double Real(std::int64_t number) { return static_cast<double>(number); }

// The most bytes of an evaluation's sums: each image has a cell of its own.
std::int64_t SumsBytes(const ClusterSpec& spec) {
  EvalSums sums;
  sums.classes = spec.model.num_classes;
  if (sums.classes <= kMaxConfusionClasses) {
    sums.confusion.resize(static_cast<std::size_t>(sums.classes) *
                          static_cast<std::size_t>(sums.classes));
    const auto cells = std::min(spec.evaluated, std::ssize(sums.confusion));
    std::fill_n(sums.confusion.begin(), cells, 1);
  }
  return static_cast<std::int64_t>(ToBytes(sums).size());
}

}  // namespace

TrainingCost ComputeTrainingCost(const ClusterSpec& spec, int machines) {
  TrainingCost cost;
  cost.ranks = machines * spec.devices;
  cost.part = std::clamp(spec.largest_batch / cost.ranks, 1, spec.largest_part);
  cost.batch = std::int64_t{cost.ranks} * cost.part;
  cost.steps = spec.records / cost.batch;
  cost.device_seconds = cost.part / spec.device_rate;
  const std::int64_t parameters =
      ComputeCost(spec.model, spec.image_size).parameters;
  cost.gradient_bytes = 2 * (cost.ranks - 1) * 4 * parameters / cost.ranks;
  cost.ring_messages = 2 * (cost.ranks - 1);
  // A ring enters and leaves a machine once.
  cost.exchange_seconds =
      machines == 1 ? 0 : Real(cost.gradient_bytes) / spec.link_rate;
  cost.images_per_second =
      Real(cost.batch) / std::max(cost.device_seconds, cost.exchange_seconds);
  return cost;
}

InputCost ComputeInputCost(const ClusterSpec& spec, int machines) {
  const double rate =
      ComputeTrainingCost(spec, machines).images_per_second / machines;
  return {.images_per_second = rate,
          .bytes_per_second = rate * Real(spec.record_bytes),
          .connections = rate / spec.devices * spec.answer_seconds,
          .cores = rate / spec.core_rate};
}

MemoryCost ComputeMemoryCost(const ClusterSpec& spec, int machines) {
  const TrainingCost training = ComputeTrainingCost(spec, machines);
  return {.index_bytes = spec.devices * spec.records * kIndexEntry,
          .batch_bytes = spec.devices * TrainParams().input.batches_in_pool *
                         Batch::MemoryBytes(training.part, spec.image_size),
          .checkpoint_bytes =
              CheckpointBytes(ComputeCost(spec.model, spec.image_size), {})};
}

StarCost ComputeStarCost(const ClusterSpec& spec, int machines) {
  const int ranks = machines * spec.devices;
  const int others = ranks - 1;
  return {.connections = others,
          .beats_per_second = others / kBeatSeconds,
          .loop_bytes = others * kLoopBytes,
          .evaluation_bytes =
              others * (kEvaluationBytes + kFrameHead + SumsBytes(spec))};
}

double CachedShare(const ClusterSpec& spec, int machines, int epoch) {
  const double seen = 1 - std::pow(1 - 1.0 / machines, epoch);
  const double kept =
      spec.page_cache_bytes / (Real(spec.records) * Real(spec.record_bytes));
  return std::min(seen, kept);
}

double StorageBytes(const ClusterSpec& spec, int machines) {
  double epochs = 0;
  for (int epoch = 0; epoch < spec.epochs; ++epoch) {
    epochs += 1 - CachedShare(spec, machines, epoch);
  }
  return epochs * Real(spec.records) * Real(spec.record_bytes);
}

}  // namespace infeed
