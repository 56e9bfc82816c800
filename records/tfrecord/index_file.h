#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/bytes/byte_source.h"
#include "records/tfrecord/frame_scan.h"
#include "records/tfrecord/reader.h"

// The index file of one shard: the offsets of its records, as found by an
// earlier pass over its frames (frame_scan.h). docs/formats.md has the file's
// format.
namespace infeed {

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
