#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "records/example/record_payload.h"
#include "records/store/record_index.h"

// Image files (RecordIndex::OfImages), samples of tars and entries of zips as
// records.
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

// Returns the payload of a record that lies in an archive, a view into buffer,
// which grows as needed: an Example with the image, its file's base name, its
// label, and of a tar the sample's other members (tar_example.h). extent: the
// record's bytes in the archive. Throws DataError, without an origin, when the
// bytes are not such a record. image_key: of tars, as BuildTarExample() takes
// it. Requires: the record's shard is a tar or a zip.
[[nodiscard]] RecordPayload MakeArchiveExample(
    const RecordIndex& index, std::int64_t record,
    std::span<const std::byte> extent, std::string_view image_key,
    std::vector<std::byte>& buffer);

}  // namespace infeed
