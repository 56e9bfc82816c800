#include "pipeline/engine/batch_lookup.h"

#include <exception>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "base/error.h"
#include "pipeline/engine/input_graph.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/order/epoch_batches.h"
#include "pipeline/order/label_class.h"
#include "pipeline/slots/open_batch.h"
#include "preprocess/augment/steps.h"
#include "records/example/reader.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

// The options of the stream, without its reports and its trace.
InputOptions WithoutOutputs(InputOptions options) {
  options.bad_record_report.clear();
  options.on_bad = nullptr;
  options.on_note = nullptr;
  options.trace = nullptr;
  return options;
}

// The one value of image/filename; "": there is none.
std::string FileNameIn(std::span<const std::byte> payload) {
  int unreadable = 0;
  for (const ExampleFeature& feature : ListFeatures(payload, &unreadable)) {
    const auto* const texts =
        std::get_if<std::vector<std::string_view>>(&feature.values);
    if (feature.key == "image/filename" && texts != nullptr &&
        texts->size() == 1) {
      return std::string(texts->front());
    }
  }
  return "";
}

}  // namespace

BatchLookup::BatchLookup(const RecordIndex& index, const InputOptions& options)
    : index_(index),
      options_(
          ResolvedOptions(CheckedInputOptions(WithoutOutputs(options)), index)),
      order_(ShardSizes(index, options_.max_records), options_),
      data_(index, options_),
      filler_(data_.store, data_.seek_store, order_.places(), data_.options,
              counters_) {}

BatchHandle BatchLookup::At(std::uint32_t epoch, std::int64_t number,
                            const StreamPosition& place) {
  CurrentEpoch orders(order_);
  const PlannedBatch planned = WithRecords(
      PlanAt(order_.places(), options_, epoch, number, place), orders);
  data_.store.WillRead(planned.records);
  OpenBatch open;
  open.Begin(0, planned, BatchHandle(new Batch(BatchSpecOf(options_))));
  InputGraph(filler_, {.threads = 0}, [](OpenBatch&) {}).Put(open);
  if (open.error()) {
    std::rethrow_exception(open.error());
  }
  open.GatherFields();
  open.batch().fed = open.batch().fingerprint();
  return open.TakeBatch();
}

std::vector<SampleDescription> BatchLookup::Describe(const Batch& batch) const {
  std::vector<SampleDescription> samples;
  for (std::size_t slot = 0; slot < batch.records().size(); ++slot) {
    samples.push_back(DescribeSlot(batch, slot));
  }
  if (!index_.is_of_images()) {
    AddFileNames(samples);
  }
  return samples;
}

void BatchLookup::AddFileNames(std::vector<SampleDescription>& samples) const {
  std::vector<std::int64_t> records;
  std::vector<SampleDescription*> described;
  for (SampleDescription& sample : samples) {
    if (sample.record >= 0) {
      records.push_back(sample.record);
      described.push_back(&sample);
    }
  }
  try {
    data_.store.ReadMany(
        records,
        [&](std::size_t place, std::span<const std::byte> payload) {
          described[place]->file_name = FileNameIn(payload);
        },
        [](std::size_t /*place*/, const DataError& /*error*/) {});
  } catch (const IoError&) {  // The rest of the description is known.
  }
}

SampleDescription BatchLookup::DescribeSlot(const Batch& batch,
                                            std::size_t slot) const {
  SampleDescription sample = {.record = batch.records()[slot]};
  if (sample.record < 0) {
    return sample;
  }
  const RecordLocation location = index_.at(sample.record);
  sample.shard = index_.shard_of(location);
  sample.number = location.number;
  sample.file_name = index_.is_of_images() ? FileNameOf(sample.shard) : "";
  sample.label = batch.labels()[slot];
  sample.geometry = batch.geometry()[slot];
  if (options_.training && batch.content() != BatchContent::kNone) {
    std::vector<AugmentStep> steps;
    DrawAugmentation(options_.preprocess.augment, batch.image_size(),
                     KeyOf(batch, slot), steps);
    for (const AugmentStep& step : steps) {
      sample.augmentations.push_back(AugmentStepText(step));
    }
  }
  return sample;
}

SampleKey BatchLookup::KeyOf(const Batch& batch, std::size_t slot) const {
  StreamPosition at = {.epoch = batch.epoch,
                       .position = batch.positions()[slot]};
  const EpochBatches batches = EpochBatchesOf(order_.places(), options_);
  if (batches.carries) {
    at = batches.After({.epoch = at.epoch}, at.position);
  }
  return {.seed = options_.seed,
          .epoch = at.epoch,
          .position = static_cast<std::uint64_t>(at.position)};
}

}  // namespace infeed
