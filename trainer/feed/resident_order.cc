#include "trainer/feed/resident_order.h"

#include <cstddef>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/random.h"
#include "pipeline/memory/image_choice.h"

namespace infeed {
namespace {

const InputOptions& Checked(const InputOptions& options) {
  CheckResident(options);
  return options;
}

}  // namespace

void CheckResident(const InputOptions& options) {
  if (options.recipe == Recipe::kCifar) {
    throw UsageError(
        "data_on_device: recipe=cifar moves each image anew, which the device "
        "cannot do; give another recipe, or data_on_device=false");
  }
  if (options.augment.is_any_on()) {
    throw UsageError(
        "data_on_device: the device mirrors images and augments them no "
        "further; leave augment_name and random_erasing out, or give "
        "data_on_device=false");
  }
}

ResidentOrder::ResidentOrder(const RecordIndex& index,
                             const InputOptions& options,
                             const StreamPosition& start)
    : options_(CheckedInputOptions(Checked(options))),
      preprocess_(PreprocessOptionsOf(options_)),
      order_(ShardSizes(index, options_.max_records), options_),
      sequence_(order_.places(), options_, start),
      epoch_(order_) {}

std::uint32_t ResidentOrder::ChoiceOf(std::uint32_t epoch,
                                      std::int64_t position,
                                      std::int64_t record) const {
  const SampleKey key = {.seed = options_.seed,
                         .epoch = epoch,
                         .position = static_cast<std::uint64_t>(position)};
  return ImageChoice(record, IsFlipped(preprocess_, key));
}

BatchHandle ResidentOrder::Next() {
  const std::optional<BatchPlan> plan =
      stopped_ ? std::nullopt : sequence_.Next();
  if (!plan) {
    return nullptr;
  }
  const int size = options_.batch_size / options_.world_size;
  BatchHandle batch(
      new Batch(size, options_.image_size, {}, BatchContent::kChoices));
  EnterPlan(*plan, epoch_.Of(plan->epoch), *batch);
  for (std::size_t slot = 0; slot < batch->records().size(); ++slot) {
    const std::int64_t record = batch->records()[slot];
    batch->pixels()[slot] =
        record < 0 ? kNoImage
                   : ChoiceOf(plan->epoch, batch->positions()[slot], record);
  }
  ++batches_;
  images_ += plan->samples;
  return batch;
}

PipelineStats ResidentOrder::stats() const {
  PipelineStats stats;
  stats.batches = batches_;
  stats.images = images_;
  return stats;
}

}  // namespace infeed
