#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/options/options.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/reading/sample_seek_index.h"
#include "records/example/imagenet_example.h"
#include "records/store/record_index.h"
#include "records/store/record_store.h"
#include "records/store/seek_file.h"

namespace infeed {

// A record after the pipeline's read stage.
struct HeldRecord {
  std::vector<std::byte> buffer = {};
  RecordPayload payload = {};        // a view into buffer
  ImagenetExampleView example = {};  // views into buffer
  SampleSeekIndex seek_index = {};
};

// Reads the records of a stream in stream order, as the pipeline's read stage
// does: bytes, checksums, the Example, the seek index. The index must outlive
// it. Thread-safe.
class StreamReader {
 public:
  StreamReader(const RecordIndex& index, const InputOptions& input);

  // The order of the epoch to which a place of the endless stream belongs.
  [[nodiscard]] EpochOrder EpochOf(std::int64_t place) const {
    return order_.Epoch(static_cast<std::uint32_t>(place / places()));
  }
  [[nodiscard]] std::int64_t places() const { return order_.places(); }

  // Reads the record at a place of the stream into `held`, whose buffers are
  // reused. Throws DataError, IoError. Requires: epoch is EpochOf(place).
  void Read(std::int64_t place, const EpochOrder& epoch,
            HeldRecord& held) const;

 private:
  SampleOrder order_;
  RecordStore store_;
  SeekStore seek_store_;
  std::string image_key_;
  std::string label_key_;
  bool use_seek_indexes_;
};

// The first records of a stream that hold JPEGs or other images, as many as
// fit: at most 1,024, in at most a quarter of the memory limit. Throws
// DataError if there are none.
[[nodiscard]] std::vector<std::unique_ptr<HeldRecord>> HoldRecords(
    const RecordIndex& index, const InputOptions& input);

}  // namespace infeed
