#include "pipeline/sample_seek_index.h"

#include <string>

namespace infeed {

void FindSeekIndex(const RecordPayload& payload,
                   const ImagenetExampleView& example, std::int64_t record,
                   const SeekStore& store, SampleSeekIndex& index) {
  index.opened.reset();
  if (!example.packed.empty()) {
    return;
  }
  std::span<const std::byte> sealed = example.seek_index;
  if (sealed.empty()) {
    sealed = store.Read(record, index.buffer);
  }
  if (!sealed.empty()) {
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

SeekIndexStats SeekIndexCounts::Read() const {
  return {.used = used_.load(std::memory_order_relaxed),
          .refused = refused_.count(),
          .none = none_.load(std::memory_order_relaxed),
          .first_refused = refused_.first()};
}

}  // namespace infeed
