#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/bytes/byte_source.h"
#include "records/tfrecord/frame_scan.h"

// The index file of one shard: where its records start, as an earlier pass over
// its frames (frame_scan.h) found it. docs/formats.md has the file's format.
namespace infeed {

// Returns what a shard's index file says: FOLDER/.infeed/NAME.index, or the
// one in SideFolder(). nullopt when there is none, when it is damaged, or when
// it is not for a shard of this size and modification time.
[[nodiscard]] std::optional<ShardFrames> FindFrames(const ByteSource& shard);

// The same of a shard with random access; nullopt too when it is compressed.
[[nodiscard]] std::optional<FrameOffsets> FindIndex(const ByteSource& shard);

// The same as FindIndex(), whatever state of the shard it is for: after damage
// the index from before says what stood where.
[[nodiscard]] std::optional<FrameOffsets> FindIndexHint(
    const ByteSource& shard);

// Some records of a shard, by their numbers from 0.
struct RecordRange {
  std::int64_t first = 0;
  std::int64_t count = 0;

  friend bool operator==(const RecordRange&, const RecordRange&) = default;
};

// Which records stood, by the index from before, where `bytes` from offset on
// are damaged; nullopt when these bytes do not begin and end where records
// did, so that the index says nothing.
[[nodiscard]] std::optional<RecordRange> LostRecords(const FrameOffsets& known,
                                                     std::int64_t offset,
                                                     std::int64_t bytes);

// Writes a shard's index file whole, in SideFolder(), and returns its path.
// Throws IoError.
std::string SaveFrames(const ByteSource& shard, const ShardFrames& frames);

// The same of a shard that is not compressed.
std::string SaveIndex(const ByteSource& shard, const FrameOffsets& offsets);

// The same into FOLDER/.infeed/NAME.index, of an object in its store: whoever
// reads it there needs no pass over its frames. Throws IoError.
void PublishIndex(const ByteSource& shard, const FrameOffsets& offsets);

}  // namespace infeed
