#pragma once

#include <cstdint>
#include <vector>

#include "records/bytes/byte_source.h"
#include "records/tfrecord/compression.h"

// Finds the offsets of a shard's records by a pass over its frames.
namespace infeed {

// The offsets of a shard's frames, in order.
using FrameOffsets = std::vector<std::int64_t>;

// The frames of a shard, compressed or not. Offsets refer to the unpacked
// bytes.
struct ShardFrames {
  Compression compression = Compression::kNone;
  std::int64_t stream_bytes = 0;  // unpacked: end of the last frame
  FrameOffsets offsets = {};

  friend bool operator==(const ShardFrames&, const ShardFrames&) = default;
};

// Detects a shard's compression by its first bytes.
[[nodiscard]] Compression ReadCompression(const ByteSource& shard);

// Walks the frame headers of a shard; payloads are skipped. Throws DataError,
// with file, record and byte offset, for a frame that is cut short, longer
// than max_record_bytes, or whose length fails its checksum; UsageError for a
// compressed stream, which has no random access.
[[nodiscard]] FrameOffsets ScanFrames(const ByteSource& shard,
                                      std::int64_t max_record_bytes);

// Scans any shard: a compressed one is unpacked completely, and a DataError is
// thrown if that fails.
[[nodiscard]] ShardFrames ScanShard(const ByteSource& shard,
                                    std::int64_t max_record_bytes);

}  // namespace infeed
