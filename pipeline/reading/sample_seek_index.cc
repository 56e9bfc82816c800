#include "pipeline/reading/sample_seek_index.h"

#include <tuple>

namespace infeed {

bool NeedsIndexBeside(const ImagenetExampleView& example) {
  return example.packed.empty() && example.seek_index.empty();
}

std::span<const std::byte> ReadIndexBeside(const ImagenetExampleView& example,
                                           std::int64_t record,
                                           const SeekStore& store,
                                           std::vector<std::byte>& buffer) {
  return NeedsIndexBeside(example) ? store.Read(record, buffer)
                                   : std::span<const std::byte>();
}

void OpenIndex(const RecordPayload& payload, const ImagenetExampleView& example,
               std::span<const std::byte> beside, SampleSeekIndex& index) {
  index.opened.reset();
  const std::span<const std::byte> sealed =
      example.seek_index.empty() ? beside : example.seek_index;
  if (example.packed.empty() && !sealed.empty()) {
    index.opened = OpenSeekIndex(sealed, example.encoded, payload);
  }
}

std::optional<DataError> SeekIndexCounts::Count(const SampleSeekIndex& index,
                                                JpegIndexUse use) {
  if (!index.opened) {
    none_.fetch_add(1, std::memory_order_relaxed);
    return std::nullopt;
  }
  if (index.opened->seal != SeekSeal::kGood) {
    return DataError("the seek index " +
                     std::string(SeekSealText(index.opened->seal)));
  }
  if (use != JpegIndexUse::kUsed) {
    return DataError("the seek index is not what the JPEG's scan says");
  }
  used_.fetch_add(1, std::memory_order_relaxed);
  return std::nullopt;
}

void SeekIndexCounts::CountRows(int rows, int covered_rows, bool is_found) {
  found_.fetch_add(is_found ? 1 : 0, std::memory_order_relaxed);
  rows_.fetch_add(rows, std::memory_order_relaxed);
  covered_rows_.fetch_add(covered_rows, std::memory_order_relaxed);
}

void SeekIndexCounts::Refuse(const SampleKey& key, const DataError& error) {
  const std::lock_guard lock(mutex_);
  ++refused_;
  if (first_refused_.empty() ||
      std::tie(key.epoch, key.position) <
          std::tie(first_key_.epoch, first_key_.position)) {
    first_key_ = key;
    first_refused_ = error.what();
  }
}

SeekIndexStats SeekIndexCounts::Read() const {
  const std::lock_guard lock(mutex_);
  return {.used = used_.load(std::memory_order_relaxed),
          .refused = refused_,
          .none = none_.load(std::memory_order_relaxed),
          .found = found_.load(std::memory_order_relaxed),
          .rows = rows_.load(std::memory_order_relaxed),
          .covered_rows = covered_rows_.load(std::memory_order_relaxed),
          .first_refused = first_refused_};
}

}  // namespace infeed
