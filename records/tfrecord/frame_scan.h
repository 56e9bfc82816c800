#pragma once

#include <cstdint>
#include <vector>

#include "records/bytes/byte_source.h"
#include "records/tfrecord/compression.h"

// Where the records of one shard start, found by a pass over its frames.
namespace infeed {

// Where the frames of a shard start, in order.
using FrameOffsets = std::vector<std::int64_t>;

// The frames of a shard of any kind. Offsets are those of the unpacked bytes.
struct ShardFrames {
  Compression compression = Compression::kNone;
  std::int64_t stream_bytes = 0;  // unpacked: where the last frame ends
  FrameOffsets offsets = {};

  friend bool operator==(const ShardFrames&, const ShardFrames&) = default;
};

// Tells by the first bytes of a shard.
[[nodiscard]] Compression CompressionOf(const ByteSource& shard);

// Walks the frame headers of a shard; payloads are skipped. Throws DataError,
// with file, record and byte offset, for a frame that is cut short, longer
// than max_record_bytes, or whose length fails its checksum; UsageError for a
// compressed stream, which has no random access.
[[nodiscard]] FrameOffsets ScanFrames(const ByteSource& shard,
                                      std::int64_t max_record_bytes);

// The same of a shard of any kind: a compressed one is unpacked whole, and is a
// DataError too where that cannot be done.
[[nodiscard]] ShardFrames ScanShard(const ByteSource& shard,
                                    std::int64_t max_record_bytes);

}  // namespace infeed
