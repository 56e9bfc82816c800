#include "pipeline/slots/seek_index_use.h"

#include <string>
#include <vector>

#include "base/error.h"
#include "records/store/seek_feature.h"

namespace infeed {

SeekIndexUse::SeekIndexUse(SeekIndexes choice, const RecordStore& store,
                           const SeekStore& seek_store, FoundSeekIndexes* found)
    : choice_(choice), store_(store), seek_store_(seek_store), found_(found) {}

std::span<const std::byte> SeekIndexUse::Find(
    Sample& sample, std::optional<std::span<const std::byte>> cached) const {
  if (cached && found_ == nullptr) {
    return *cached;  // No decode has found a better one.
  }
  if (choice_ == SeekIndexes::kOff || !NeedsIndexBeside(sample.example)) {
    return {};
  }
  std::vector<std::byte>& buffer = sample.seek_index.buffer;
  if (found_ != nullptr) {
    const std::span<const std::byte> found =
        found_->Find(sample.record, buffer);
    if (!found.empty()) {
      return found;
    }
  }
  return cached && !cached->empty() ? *cached
                                    : seek_store_.Read(sample.record, buffer);
}

void SeekIndexUse::Open(const RecordPayload& payload,
                        std::span<const std::byte> sealed,
                        Sample& sample) const {
  if (choice_ != SeekIndexes::kOff) {
    OpenIndex(payload, sample.example, sealed, sample.seek_index);
  }
}

FillCounts SeekIndexUse::Decode(Sample& sample, std::span<std::uint32_t> pixels,
                                const BoxSource& boxes) {
  SampleSeekIndex& index = sample.seek_index;
  const bool looks = found_ != nullptr && sample.example.seek_index.empty();
  FillCounts counts = sample.preprocessor.Fill(
      sample.example.encoded, sample.key, pixels,
      index.opened ? index.opened->body : std::span<const std::byte>(),
      looks ? &index.found : nullptr, boxes);
  if (looks) {
    NoteRows(counts, sample);
  }
  if (const std::optional<DataError> refused =
          counts_.Count(index, counts.index_use)) {
    counts_.Refuse(sample.key, refused->At(store_.OriginOf(sample.record)));
  }
  return counts;
}

void SeekIndexUse::NoteRows(const FillCounts& counts, Sample& sample) {
  SampleSeekIndex& index = sample.seek_index;
  index.open_rows = counts.index_rows - counts.covered_rows;
  index.is_wrong = index.opened && (index.opened->seal != SeekSeal::kGood ||
                                    counts.index_use == JpegIndexUse::kRefused);
  counts_.CountRows(counts.index_rows, counts.covered_rows,
                    !index.found.empty());
  if (!index.found.empty()) {
    Keep(sample, index.found, counts.found_rows);
  }
}

void SeekIndexUse::Complete(Sample& sample) const {
  const std::string body =
      sample.preprocessor.CompleteIndex(sample.example.encoded);
  if (!body.empty()) {
    Keep(sample, body, sample.seek_index.open_rows);
  }
}

void SeekIndexUse::Keep(const Sample& sample, std::string_view body,
                        int new_rows) const {
  const std::string sealed = SealSeekIndex(body, sample.example.encoded);
  found_->Keep(sample.record, {.sealed = sealed,
                               .new_rows = new_rows,
                               .replaces = sample.seek_index.is_wrong});
}

}  // namespace infeed
