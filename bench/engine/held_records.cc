#include "bench/engine/held_records.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace infeed {
namespace {

constexpr std::int64_t kMostRecords = 1024;

}  // namespace

StreamReader::StreamReader(const RecordIndex& index, const InputOptions& input)
    : order_(ShardSizes(index, input.max_records), input),
      store_(index, {.verify_checksums = input.verify_checksums,
                     .image_key = input.image_key}),
      seek_store_(index, SeekStore::kMaxOpen, input.image_key),
      image_key_(input.image_key),
      label_key_(input.label_key),
      use_seek_indexes_(input.seek_index != SeekIndexes::kOff) {}

void StreamReader::Read(std::int64_t place, const EpochOrder& epoch,
                        HeldRecord& held) const {
  const std::int64_t record = epoch.RecordAt(place % places());
  held.payload = store_.ReadPayload(record, held.buffer);
  held.example =
      ParseImagenetExample(held.payload.bytes, LabelList::kOne,
                           {.image = image_key_, .label = label_key_});
  held.seek_index.opened.reset();
  if (use_seek_indexes_) {
    const std::span<const std::byte> beside = ReadIndexBeside(
        held.example, record, seek_store_, held.seek_index.buffer);
    OpenIndex(held.payload, held.example, beside, held.seek_index);
  }
}

std::vector<std::unique_ptr<HeldRecord>> HoldRecords(
    const RecordIndex& index, const InputOptions& input) {
  const StreamReader reader(index, input);
  const EpochOrder epoch = reader.EpochOf(0);
  const std::int64_t most = std::min(kMostRecords, reader.places());
  std::int64_t bytes = input.memory_limit / 4;
  std::vector<std::unique_ptr<HeldRecord>> held;
  for (std::int64_t place = 0; place < most && bytes > 0; ++place) {
    auto record = std::make_unique<HeldRecord>();
    try {
      reader.Read(place, epoch, *record);
    } catch (const DataError&) {
      continue;  // The pipeline reports the error.
    }
    if (!record->example.encoded.empty() && record->example.packed.empty()) {
      bytes -= static_cast<std::int64_t>(record->buffer.size());
      held.push_back(std::move(record));
    }
  }
  if (held.empty()) {
    throw DataError(
        "none of the first records holds an encoded image: nothing to decode");
  }
  return held;
}

}  // namespace infeed
