#include "trainer/feed/resident_images.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "pipeline/memory/image_choice.h"
#include "pipeline/slots/slot_fingerprint.h"

namespace infeed {
namespace {

constexpr int kBatchSize = 64;

// Options that read each record unchanged: nothing random, no record left out
// or replaced.
InputOptions AsTheyAre(InputOptions options, std::int64_t images) {
  options.batch_size =
      static_cast<int>(std::min<std::int64_t>(images, kBatchSize));
  options.rank = 0;
  options.world_size = 1;
  options.rank_share = RankShare::kContiguous;
  options.last_batch = LastBatch::kPad;
  options.training = false;
  options.repeat = 1;
  options.shuffle = Shuffle::kNone;
  options.window_shards = InputOptions().window_shards;
  options.window_records = InputOptions().window_records;
  options.selection = nullptr;
  options.on_bad_record = OnBadRecord::kFail;
  options.use_cache = false;
  options.workers.clear();  // There is nothing to decode.
  return options;
}

// Throws if anything was decoded: a record with packed pixels needs no
// decoding.
void RequireNothingDecoded(const PipelineStats& stats) {
  const StageStats* const decode = stats.stage("decode");
  Check(decode != nullptr, "a pipeline decodes");
  if (decode->bytes > 0) {
    throw UsageError(
        "data_on_device: needs records with packed pixels (image/packed), as "
        "others are cropped anew in each epoch: convert with "
        "`imagenet_to_records --format pixels`, or give data_on_device=false");
  }
}

// Adds HashRecord() of each record in a batch that was read as it is.
void AddRecords(const Batch& batch, std::vector<std::uint64_t>& hashes) {
  for (std::size_t slot = 0; slot < batch.records().size(); ++slot) {
    if (batch.records()[slot] >= 0) {
      hashes.push_back(RecordHashIn(
          batch.fingerprints()[slot],
          {.epoch = batch.epoch,
           .position = batch.positions()[slot],
           .made = HashOfPacked(batch.image_size(),
                                batch.geometry()[slot].is_mirrored)}));
    }
  }
}

const InputOptions& Checked(const InputOptions& options) {
  CheckResident(options);
  return options;
}

}  // namespace

ResidentShape ComputeResidentShape(const RecordIndex& index,
                                   const InputOptions& options) {
  const std::vector<std::int64_t> shards =
      ShardSizes(index, options.max_records);
  const ResidentShape shape = {
      .images = std::accumulate(shards.begin(), shards.end(), std::int64_t{0}),
      .image_size = options.preprocess.image_size};
  if (shape.images > kMaxHeldImages) {
    throw UsageError("data_on_device: takes up to " +
                     std::to_string(kMaxHeldImages) + " images, not " +
                     std::to_string(shape.images));
  }
  return shape;
}

HeldRecords ReadResidentImages(const RecordIndex& index,
                               const InputOptions& options,
                               const std::function<void(const Batch&)>& take) {
  InputPipeline pipeline(
      index, AsTheyAre(options, ComputeResidentShape(index, options).images));
  auto held = std::make_shared<std::vector<std::uint64_t>>();
  while (const BatchHandle batch = pipeline.Next()) {
    RequireNothingDecoded(pipeline.stats());
    AddRecords(*batch, *held);
    take(*batch);
  }
  return held;
}

ResidentImages::ResidentImages(const ResidentShape& shape) : shape_(shape) {
  const auto images = static_cast<std::size_t>(shape.images);
  pixels_.reserve(images * shape.image_size.pixels());
  labels_.reserve(images);
}

void ResidentImages::Append(const Batch& batch) {
  const std::size_t count =
      std::min(batch.labels().size(),
               static_cast<std::size_t>(shape_.images) - labels_.size());
  const std::span<const std::uint32_t> pixels = batch.pixels().first(
      count * (batch.pixels().size() / batch.labels().size()));
  pixels_.insert(pixels_.end(), pixels.begin(), pixels.end());
  labels_.insert(labels_.end(), batch.labels().begin(),
                 batch.labels().begin() + static_cast<std::ptrdiff_t>(count));
}

void ResidentImages::GatherSlot(std::uint32_t choice, int slot,
                                Batch& to) const {
  const std::span<std::uint32_t> pixels = to.slot_pixels(slot);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = pixels_[static_cast<std::size_t>(
        ChosenPixel(choice, static_cast<int>(i), shape_.image_size.height,
                    shape_.image_size.width))];
  }
  to.labels()[static_cast<std::size_t>(slot)] =
      labels_[static_cast<std::size_t>(ChosenImage(choice))];
  to.weights()[static_cast<std::size_t>(slot)] = 1;
}

void ResidentImages::Gather(const Batch& choices, Batch& to) const {
  for (int slot = 0; slot < choices.size(); ++slot) {
    const std::uint32_t choice =
        choices.pixels()[static_cast<std::size_t>(slot)];
    if (choice == kNoImage) {
      to.BlankSlot(slot);
    } else {
      GatherSlot(choice, slot, to);
    }
  }
  to.CopyPlan(choices);
}

void CheckResident(const InputOptions& options) {
  if (options.preprocess.recipe == Recipe::kCifar) {
    throw UsageError(
        "data_on_device: recipe=cifar moves each image anew, which the device "
        "cannot do; give another recipe, or data_on_device=false");
  }
  if (options.preprocess.augment.is_any_on()) {
    throw UsageError(
        "data_on_device: the device mirrors images and augments them no "
        "further; leave augment_name, brightness, contrast, saturation, hue, "
        "random_flip_vertical, grayscale, blur, solarize and random_erasing "
        "out, or give data_on_device=false");
  }
}

ResidentOrder::ResidentOrder(const RecordIndex& index,
                             const InputOptions& options,
                             const StreamPosition& start, HeldRecords held)
    : options_(CheckedInputOptions(Checked(options))),
      held_(std::move(held)),
      order_(ShardSizes(index, options_.max_records), options_),
      sequence_(order_.places(), options_, start),
      epoch_(order_) {}

bool ResidentOrder::IsMirrored(const SamplePlace& sample) const {
  return IsFlipped(options_.preprocess, options_.training,
                   {.seed = options_.seed,
                    .epoch = sample.epoch,
                    .position = static_cast<std::uint64_t>(sample.position)});
}

std::uint64_t ResidentOrder::FingerprintOf(const SamplePlace& sample,
                                           std::int64_t record) const {
  return SlotFingerprint(held_->at(static_cast<std::size_t>(record)),
                         {.epoch = sample.epoch,
                          .position = sample.position,
                          .made = HashOfPacked(options_.preprocess.image_size,
                                               IsMirrored(sample))});
}

BatchHandle ResidentOrder::Next() {
  const std::optional<BatchPlan> plan =
      stopped_ ? std::nullopt : sequence_.Next();
  if (!plan) {
    return nullptr;
  }
  const int size = options_.share();
  BatchHandle batch(new Batch({.size = size,
                               .image_size = options_.preprocess.image_size,
                               .content = BatchContent::kChoices}));
  EnterPlan(WithRecords(*plan, epoch_), *batch);
  for (int slot = 0; slot < size; ++slot) {
    const auto at = static_cast<std::size_t>(slot);
    const std::int64_t record = batch->records()[at];
    if (record < 0) {
      batch->pixels()[at] = kNoImage;
      continue;
    }
    const SamplePlace sample = plan->SampleOf(slot);
    batch->pixels()[at] = ImageChoice(record, IsMirrored(sample));
    if (held_) {
      batch->fingerprints()[at] = FingerprintOf(sample, record);
    }
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
