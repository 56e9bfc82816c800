#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "records/example/record_payload.h"
#include "records/store/record_index.h"

// Samples of a tar and entries of a zip as records.
namespace infeed {

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
