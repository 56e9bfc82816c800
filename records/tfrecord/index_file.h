#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/bytes/byte_source.h"
#include "records/tfrecord/compression.h"
#include "records/tfrecord/reader.h"

// The offsets of a shard's records, found by a pass over its frames, and the
// index file that keeps them. docs/formats.md has the file's format.
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

// Reads a shard's index file, FOLDER/.infeed/NAME.index or the one in
// SideFolder(). nullopt when there is none, it is damaged, or it is for another
// size or modification time of the shard.
[[nodiscard]] std::optional<ShardFrames> FindFrames(const ByteSource& shard);

// As the function above, but also nullopt for a compressed shard.
[[nodiscard]] std::optional<FrameOffsets> FindIndex(const ByteSource& shard);

// As FindIndex(), but for any version of the shard: after damage, an older
// index has the places of the records.
[[nodiscard]] std::optional<FrameOffsets> FindIndexHint(
    const ByteSource& shard);

// Returns the records that an older index has in a damaged range, `bytes` from
// offset on; nullopt when the range does not begin and end at record boundaries
// of that index.
[[nodiscard]] std::optional<RecordRange> LostRecords(const FrameOffsets& known,
                                                     std::int64_t offset,
                                                     std::int64_t bytes);

// Writes a shard's index file atomically, in SideFolder(), and returns its
// path. Throws IoError.
std::string SaveFrames(const ByteSource& shard, const ShardFrames& frames);

// Saves the index of an uncompressed shard.
std::string SaveIndex(const ByteSource& shard, const FrameOffsets& offsets);

// Writes FOLDER/.infeed/NAME.index beside an object in its store, so that
// readers there need no pass over the frames. Throws IoError.
void PublishIndex(const ByteSource& shard, const FrameOffsets& offsets);

}  // namespace infeed
