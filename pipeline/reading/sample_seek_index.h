#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "pipeline/stats/stats.h"
#include "preprocess/jpeg/jpeg.h"
#include "records/example/imagenet_example.h"
#include "records/example/record_payload.h"
#include "records/store/seek_feature.h"
#include "records/store/seek_file.h"

namespace infeed {

// A sample's seek index on its way to the decoder. The buffer is reused for the
// next sample.
struct SampleSeekIndex {
  std::vector<std::byte> buffer = {};  // read from the file beside the shard
  // The index, in the record or in buffer; nullopt: none.
  std::optional<OpenedSeekIndex> opened = {};
  // After the decode:
  std::string found = {};  // the index that it found, extended; empty: none
  int open_rows = 0;       // rows of MCUs that an index could still cover
  bool is_wrong = false;   // `opened` is not the JPEG's

  // After the decode, the index to use for further decodes of the JPEG; empty:
  // none.
  [[nodiscard]] std::span<const std::byte> best() const {
    return !found.empty() ? std::as_bytes(std::span(found))
           : opened       ? opened->body
                          : std::span<const std::byte>();
  }
};

// Whether a seek index from beside the record's shard is of use.
[[nodiscard]] bool NeedsIndexBeside(const ImagenetExampleView& example);

// Returns the sealed index that lies beside a record's shard, a view into
// buffer; empty: none there, or its Example does not need it.
[[nodiscard]] std::span<const std::byte> ReadIndexBeside(
    const ImagenetExampleView& example, std::int64_t record,
    const SeekStore& store, std::vector<std::byte>& buffer);

// Takes a record's index from its Example, else from beside its shard, and
// checks that it belongs to the JPEG. Does not fail: an index only saves time.
// Requires: payload and example are of the same record; all outlive the index.
void OpenIndex(const RecordPayload& payload, const ImagenetExampleView& example,
               std::span<const std::byte> beside, SampleSeekIndex& index);

// Counts a run's used, refused and missing seek indexes. Thread-safe.
class SeekIndexCounts {
 public:
  // Counts a decoded sample. use: how the decoder used the index. Returns why
  // the index was refused, for Refuse(); nullopt: not refused.
  [[nodiscard]] std::optional<DataError> Count(const SampleSeekIndex& index,
                                               JpegIndexUse use);
  // Counts the rows of MCUs of a JPEG that can have an index, and those covered
  // by it; is_found: by one that was found or extended.
  void CountRows(int rows, int covered_rows, bool is_found);
  // Counts a refused index, and keeps the error that is first in the order of
  // the stream. error: includes the record's place.
  void Refuse(const SampleKey& key, const DataError& error);
  [[nodiscard]] SeekIndexStats Read() const;

 private:
  std::atomic<std::int64_t> used_{0};
  std::atomic<std::int64_t> none_{0};
  std::atomic<std::int64_t> found_{0};
  std::atomic<std::int64_t> rows_{0};
  std::atomic<std::int64_t> covered_rows_{0};
  mutable std::mutex mutex_;  // of the members below
  std::int64_t refused_ = 0;
  SampleKey first_key_;
  std::string first_refused_;  // empty: none
};

}  // namespace infeed
