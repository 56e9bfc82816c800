#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "pipeline/options/options.h"
#include "pipeline/reading/found_seek_indexes.h"
#include "pipeline/reading/sample_seek_index.h"
#include "pipeline/slots/sample.h"
#include "pipeline/stats/stats.h"
#include "preprocess/recipe/recipe.h"
#include "records/example/record_payload.h"
#include "records/store/record_store.h"
#include "records/store/seek_file.h"

namespace infeed {

// Decodes JPEGs with their seek indexes: finds a sample's index, passes it to
// the decoder, counts how it was used, and keeps the index that the decoder
// found.
//
// Everything passed to the constructor must outlive it. Thread-safe for
// different samples. An index only saves time, so only Decode() throws.
class SeekIndexUse {
 public:
  // found: keeps the indexes that are found; null: none are looked for.
  SeekIndexUse(SeekIndexes choice, const RecordStore& store,
               const SeekStore& seek_store, FoundSeekIndexes* found);

  // Returns the sealed index of the sample's JPEG that an earlier decode found
  // or that lies beside its shard, a view into the sample's buffer or `cached`;
  // empty: none. cached: the index that the cache has with the record; nullopt:
  // the record is not in the cache. Requires: sample.example is parsed.
  [[nodiscard]] std::span<const std::byte> Find(
      Sample& sample,
      std::optional<std::span<const std::byte>> cached = {}) const;

  // Takes the index in the sample's Example, else the sealed one from Find(),
  // and checks that it belongs to the JPEG.
  void Open(const RecordPayload& payload, std::span<const std::byte> sealed,
            Sample& sample) const;

  // Decodes the sample's image and resizes it into pixels. Throws DataError.
  FillCounts Decode(Sample& sample, std::span<std::uint32_t> pixels,
                    const BoxSource& boxes = {});

  // Completes the index of the sample's JPEG. Requires: Decode(sample) was the
  // preprocessor's last call, and left rows without an index.
  void Complete(Sample& sample) const;

  [[nodiscard]] SeekIndexStats stats() const { return counts_.Read(); }

 private:
  // Keeps what the decode found, and notes what it left.
  void NoteRows(const FillCounts& counts, Sample& sample);
  void Keep(const Sample& sample, std::string_view body, int new_rows) const;

  const SeekIndexes choice_;
  const RecordStore& store_;
  const SeekStore& seek_store_;
  FoundSeekIndexes* const found_;  // null: none
  SeekIndexCounts counts_;
};

}  // namespace infeed
