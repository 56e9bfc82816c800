#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "records/example/record_payload.h"
#include "records/store/record_index.h"

// Image files as records, for whoever has no shards (RecordIndex::OfImages).
namespace infeed {

// A longer file is no image that anybody would decode.
inline constexpr std::int64_t kMaxImageFileBytes = std::int64_t{1} << 30;

// How long the record of such a file is at most.
[[nodiscard]] constexpr std::int64_t ImageRecordBytes(std::int64_t file_bytes) {
  return file_bytes + 1024;  // The name and the keys take less.
}

// Reads the file of an image and returns the payload that stands for it, a view
// into buffer, which grows as needed: an Example of its bytes, its base name
// and its label. Throws DataError when it cannot be read, is above
// kMaxImageFileBytes, or is not as long as it was when it was listed.
// Requires: index.is_of_images().
[[nodiscard]] RecordPayload ReadImageRecord(const RecordIndex& index,
                                            std::int64_t record,
                                            std::vector<std::byte>& buffer);

}  // namespace infeed
