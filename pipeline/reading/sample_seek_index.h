#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "pipeline/reading/counted_errors.h"
#include "pipeline/stats/stats.h"
#include "preprocess/jpeg/jpeg.h"
#include "records/example/imagenet_example.h"
#include "records/example/record_payload.h"
#include "records/store/seek_feature.h"
#include "records/store/seek_store.h"

namespace infeed {

// A sample's seek index on its way to the decoder. The buffer is used again for
// the next sample.
struct SampleSeekIndex {
  std::vector<std::byte> buffer = {};  // what was read from beside the shard
  // Of the index, in the record or in buffer; nullopt: there is none.
  std::optional<OpenedSeekIndex> opened = {};
};

// Returns the sealed index that lies beside a record's shard, a view into
// buffer; empty: there is none, or its Example needs none from there.
[[nodiscard]] std::span<const std::byte> ReadIndexBeside(
    const ImagenetExampleView& example, std::int64_t record,
    const SeekStore& store, std::vector<std::byte>& buffer);

// Takes the index of a record from its Example, else what lies beside its
// shard, and sees whether it is the JPEG's. Does not fail: an index only saves
// time. Requires: the payload is that of the example; all outlive the index.
void OpenIndex(const RecordPayload& payload, const ImagenetExampleView& example,
               std::span<const std::byte> beside, SampleSeekIndex& index);

// What became of the seek indexes in a run. Thread-safe.
class SeekIndexCounts {
 public:
  // Counts a decoded sample. use: what the decoder made of the index. Returns
  // why the index was refused, for Refuse(); nullopt: it was not.
  [[nodiscard]] std::optional<DataError> Count(const SampleSeekIndex& index,
                                               JpegIndexUse use);
  // Counts a refused one. error: with its place.
  void Refuse(const SampleKey& key, const DataError& error) {
    refused_.Count(key, error);
  }
  [[nodiscard]] SeekIndexStats Read() const;

 private:
  std::atomic<std::int64_t> used_{0};
  std::atomic<std::int64_t> none_{0};
  CountedErrors refused_;
};

}  // namespace infeed
