#include "tests/support/stream_reader.h"

#include <span>
#include <utility>

#include "pipeline/order/sample_order.h"
#include "preprocess/recipe/recipe.h"
#include "records/example/imagenet_example.h"
#include "records/store/record_store.h"
#include "tests/support/shard_builder.h"

namespace infeed {

namespace {

std::vector<std::byte> PartOf(std::span<const std::byte> bytes,
                              std::size_t slot, int slots) {
  const std::size_t part = bytes.size() / static_cast<std::size_t>(slots);
  const std::span<const std::byte> of_slot = bytes.subspan(slot * part, part);
  return {of_slot.begin(), of_slot.end()};
}

FieldColumn ListOf(const FieldColumn& column, std::size_t slot) {
  const std::int64_t first = column.offsets[slot];
  const std::int64_t end = column.offsets[slot + 1];
  FieldColumn list;
  list.offsets.push_back(end - first);
  if (!column.int64s.empty()) {
    list.int64s.assign(column.int64s.begin() + first,
                       column.int64s.begin() + end);
  }
  if (!column.floats.empty()) {
    list.floats.assign(column.floats.begin() + first,
                       column.floats.begin() + end);
  }
  if (column.byte_offsets.size() > 1) {
    for (auto i = static_cast<std::size_t>(first);
         i < static_cast<std::size_t>(end); ++i) {
      const auto begin = static_cast<std::size_t>(column.byte_offsets[i]);
      list.bytes += column.bytes.substr(
          begin, static_cast<std::size_t>(column.byte_offsets[i + 1]) - begin);
      list.byte_offsets.push_back(std::ssize(list.bytes));
    }
  }
  return list;
}

}  // namespace

const RecordIndex& SharedIndex() {
  static const TestShards shards(TestPayloads(22));
  return shards.index();
}

InputOptions SmallTraining() {
  return {.batch_size = 4,
          .preprocess = {.image_size = 16},
          .seed = 7,
          .on_bad_record = OnBadRecord::kFail,
          .threads = 2};
}

InputOptions SmallEvaluation() {
  InputOptions options = SmallTraining();
  options.training = false;
  return options;
}

BatchCopy CopyOf(const Batch& batch) {
  std::vector<std::vector<std::byte>> fixed;
  std::vector<std::vector<std::int64_t>> lengths;
  for (std::size_t i = 0; i < batch.field_specs().size(); ++i) {
    if (!batch.field_specs()[i].IsFixed()) {
      continue;
    }
    fixed.emplace_back(batch.fixed(i).begin(), batch.fixed(i).end());
    lengths.emplace_back(batch.lengths(i).begin(), batch.lengths(i).end());
  }
  std::vector<std::vector<std::byte>> views;
  for (std::size_t i = 0; i < batch.view_shapes().size(); ++i) {
    views.emplace_back(batch.view(i).begin(), batch.view(i).end());
  }
  return {.pixels = {batch.pixels().begin(), batch.pixels().end()},
          .rgb = {batch.rgb().begin(), batch.rgb().end()},
          .labels = {batch.labels().begin(), batch.labels().end()},
          .weights = {batch.weights().begin(), batch.weights().end()},
          .records = {batch.records().begin(), batch.records().end()},
          .positions = {batch.positions().begin(), batch.positions().end()},
          .epoch = batch.epoch,
          .number = batch.number,
          .fields = batch.fields(),
          .fixed = std::move(fixed),
          .lengths = std::move(lengths),
          .views = std::move(views),
          .next = batch.next};
}

SlotCopy SlotOf(const Batch& batch, std::size_t slot) {
  SlotCopy copy = {.image = PartOf(batch.image_bytes(), slot, batch.size()),
                   .label = batch.labels()[slot],
                   .weight = batch.weights()[slot],
                   .record = batch.records()[slot],
                   .geometry = {batch.geometry()[slot]}};
  for (std::size_t i = 0; i < batch.view_shapes().size(); ++i) {
    copy.views.push_back(PartOf(batch.view(i), slot, batch.size()));
    copy.geometry.push_back(batch.geometry(i + 1)[slot]);
  }
  for (std::size_t i = 0; i < batch.field_specs().size(); ++i) {
    if (batch.field_specs()[i].IsFixed()) {
      copy.rows.push_back(PartOf(batch.fixed(i), slot, batch.size()));
      copy.lengths.push_back(batch.lengths(i)[slot]);
    } else {
      copy.lists.push_back(ListOf(batch.fields()[i], slot));
    }
  }
  const BoxColumn& boxes = batch.boxes();
  copy.boxes.assign(boxes.xyxy.begin() + 4 * boxes.offsets[slot],
                    boxes.xyxy.begin() + 4 * boxes.offsets[slot + 1]);
  return copy;
}

std::vector<BatchCopy> TakeBatches(InputPipeline& pipeline, int count) {
  std::vector<BatchCopy> batches;
  while (static_cast<int>(batches.size()) < count) {
    const BatchHandle batch = pipeline.Next();
    if (batch == nullptr) {
      break;
    }
    batches.push_back(CopyOf(*batch));
  }
  return batches;
}

std::vector<BatchCopy> Stream(const RecordIndex& index,
                              const InputOptions& options, int count,
                              const StreamPosition& start) {
  InputPipeline pipeline(index, options, start);
  return TakeBatches(pipeline, count);
}

std::vector<BatchCopy> PlainStream(const RecordIndex& index,
                                   const InputOptions& options, int count) {
  const RecordStore store(index);
  const SampleOrder order(index.size(), options.shuffle, options.seed);
  Preprocessor preprocessor(options.preprocess, options.training);
  std::vector<BatchCopy> batches;
  StreamPosition place;
  std::vector<std::byte> buffer;
  for (int i = 0; i < count; ++i) {
    Batch batch({.size = options.batch_size,
                 .image_size = options.preprocess.image_size});
    batch.epoch = place.epoch;
    batch.number = place.position / options.batch_size;
    for (int slot = 0; slot < options.batch_size; ++slot, ++place.position) {
      const std::int64_t record =
          order.Epoch(place.epoch).RecordAt(place.position);
      const ImagenetExampleView example =
          ParseImagenetExample(store.Read(record, buffer));
      const SampleKey key{
          .seed = options.seed,
          .epoch = place.epoch,
          .position = static_cast<std::uint64_t>(place.position)};
      preprocessor.Fill(example.encoded, key, batch.slot_pixels(slot));
      const std::size_t at = static_cast<std::size_t>(slot);
      batch.labels()[at] = static_cast<std::int32_t>(example.label) - 1;
      batch.weights()[at] = 1;
      batch.records()[at] = record;
      batch.positions()[at] = place.position;
    }
    if (place.position + options.batch_size > index.size()) {
      place = {.epoch = place.epoch + 1,
               .position = 0,
               .past_epochs = place.past_epochs + 1};
    }
    batch.next = place;
    batches.push_back(CopyOf(batch));
  }
  return batches;
}

std::vector<std::int32_t> LabelsOf(const std::vector<BatchCopy>& batches) {
  std::vector<std::int32_t> labels;
  for (const BatchCopy& batch : batches) {
    labels.insert(labels.end(), batch.labels.begin(), batch.labels.end());
  }
  return labels;
}

}  // namespace infeed
