#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "records/example/record_payload.h"
#include "records/store/record_index.h"

// Image files as records, for data without shards (RecordIndex::OfImages).
namespace infeed {

// Longer files are rejected.
inline constexpr std::int64_t kMaxImageFileBytes = std::int64_t{1} << 30;

// The largest record of a file of that size.
[[nodiscard]] constexpr std::int64_t ImageRecordBytes(std::int64_t file_bytes) {
  return file_bytes + 1024;  // more than name and keys take
}

// Reads an image file and returns its record's payload, a view into buffer,
// which grows as needed: an Example with the file's bytes, base name and label.
// Throws DataError when the file cannot be read, is larger than
// kMaxImageFileBytes, or has changed its length since it was listed. Requires:
// index.is_of_images().
[[nodiscard]] RecordPayload ReadImageRecord(const RecordIndex& index,
                                            std::int64_t record,
                                            std::vector<std::byte>& buffer);

}  // namespace infeed
