#include "pipeline/slots/sample_loader.h"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "pipeline/stats/stage_scope.h"
#include "preprocess/recipe/boxes.h"
#include "records/example/fields.h"
#include "records/example/imagenet_example.h"
#include "records/example/reader.h"

namespace infeed {

SampleLoader::SampleLoader(const RecordStore& store,
                           const SeekIndexUse& seek_indexes,
                           const InputOptions& options, StageCounters& counters,
                           RecordCache* cache)
    : store_(store),
      seek_indexes_(seek_indexes),
      options_(options),
      counters_(counters),
      cache_(cache),
      has_images_(options.layout != BatchContent::kNone),
      reads_labels_(ReadsLabels(options)) {}

void SampleLoader::Load(Sample& sample) const {
  StageScope scope(counters_.read, options_.trace, sample.place(), sample.start,
                   sample.since);
  sample.failure = nullptr;
  sample.payload = {};
  sample.seek_index.open_rows = 0;
  sample.seek_index.found.clear();
  sample.stage = BadRecordKind::kFrame;
  try {
    CachedRecord kept;
    const RecordPayload& payload = Read(sample, kept);
    scope.set_bytes(payload.bytes.size());
    sample.payload_bytes = payload.bytes.size();
    sample.stored_crc = payload.stored_crc;
    RequireContent(payload.bytes, sample);
    seek_indexes_.Open(payload, kept.seek_index, sample);
  } catch (...) {
    sample.failure = std::current_exception();
  }
}

const RecordPayload& SampleLoader::Read(Sample& sample,
                                        CachedRecord& kept) const {
  if (cache_ != nullptr) {
    if (const std::optional<CachedRecord> found = cache_->Find(sample.record)) {
      kept = *found;
      Parse(kept.payload.bytes, sample);
      kept.seek_index = seek_indexes_.Find(sample, kept.seek_index);
      return kept.payload;
    }
  }
  sample.payload = store_.ReadPayload(sample.record, sample.buffer,
                                      sample.access, Verification::kLater);
  Parse(sample.payload.bytes, sample);
  // Packed pixels are verified while they are copied, unless a cache comes
  // first, which keeps good records only.
  if (sample.example.packed.empty() || cache_ != nullptr) {
    Verify(sample);
  }
  kept.seek_index = seek_indexes_.Find(sample);
  if (cache_ != nullptr) {
    kept.payload = sample.payload;
    cache_->Keep(sample.record, kept);
  }
  return sample.payload;
}

void SampleLoader::Parse(std::span<const std::byte> payload,
                         Sample& sample) const {
  sample.stage = BadRecordKind::kExample;
  if (has_images_ || reads_labels_) {
    sample.example =
        ParseImagenetExample(payload, LabelList::kAny, KeysOf(options_));
  }
  const std::size_t fields = sample.specs.size();
  sample.fields.resize(fields);
  sample.field_places.resize(fields);
  Batch* const batch = fields == 0 ? nullptr : &sample.batch->batch();
  for (std::size_t i = 0; i < fields; ++i) {
    if (sample.specs[i].IsFixed()) {
      sample.field_places[i] = batch->fixed_place(i, sample.slot);
    } else {
      sample.field_places[i].column = &sample.fields[i];
    }
  }
  sample.cut_lists = sample.field_reader.Read(payload, sample.field_places);
  if (sample.cut_lists != 0) {
    counters_.cut_lists.fetch_add(sample.cut_lists, std::memory_order_relaxed);
  }
}

void SampleLoader::RequireContent(std::span<const std::byte> payload,
                                  Sample& sample) const {
  const BadRecordKind stage =
      std::exchange(sample.stage, BadRecordKind::kImage);
  if (has_images_ && sample.example.encoded.empty() &&
      sample.example.packed.empty()) {
    RequireImageKey(payload, options_.image_key);
  }
  sample.views.Find(payload);
  sample.stage = stage;
  if (sample.example.label == kNoLabel && options_.require_labels) {
    sample.stage = BadRecordKind::kLabel;
    throw DataError(WhyNoLabel(payload, options_.label_key));
  }
}

void SampleLoader::Verify(Sample& sample,
                          std::optional<std::uint32_t> computed) const {
  const BadRecordKind stage =
      std::exchange(sample.stage, BadRecordKind::kFrame);
  store_.Verify(sample.record, sample.payload, computed);
  sample.stage = stage;
}

DataError SampleLoader::CauseOf(const DataError& error, Sample& sample) const {
  try {
    Verify(sample);
    return error;
  } catch (const DataError& damage) {
    return damage;
  }
}

std::span<const float> ReadSampleBoxes(const ObjectsSpec& objects,
                                       const ImageSize& source,
                                       Sample& sample) {
  const std::size_t keys = objects.boxes.size();
  const std::size_t fields = sample.specs.size() - keys;
  std::array<std::span<const float>, 4> columns;
  for (std::size_t i = 0; i < keys; ++i) {
    columns[i] = sample.fields[fields + i].floats;
  }
  ReadBoxes(std::span(columns).first(keys), objects.format,
            objects.is_normalized, source, sample.boxes);
  return sample.boxes;
}

void FollowObjects(const ObjectsSpec& objects, const Geometry& geometry,
                   const ImageSize& output, Sample& sample) {
  const std::size_t fields = sample.specs.size() - objects.boxes.size();
  ReadSampleBoxes(objects, geometry.source, sample);
  const std::size_t boxes = sample.boxes.size() / 4;
  FollowBoxes(geometry, output, objects.filter, sample.boxes, sample.kept);
  for (std::size_t i = 0; i < fields; ++i) {
    const FieldSpec& field = sample.specs[i];
    if (std::ranges::find(objects.lists, field.key, &FieldSpec::key) !=
        objects.lists.end()) {
      FieldColumn& column = sample.fields[i];
      CheckOnePerBox(field.key, static_cast<std::size_t>(column.values()),
                     boxes);
      column.Keep(sample.kept);
    }
  }
  sample.fields[fields].floats.swap(sample.boxes);
}

}  // namespace infeed
