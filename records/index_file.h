#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/byte_source.h"

// Where the records of one shard start, found by a pass over its frames or
// read from the index file that an earlier pass left. docs/formats.md has the
// file's format.
namespace infeed {

// Where the frames of a shard start, in order.
using FrameOffsets = std::vector<std::int64_t>;

// Walks the frame headers of a shard; payloads are skipped. Throws DataError,
// with file, record and byte offset, for a frame that is cut short, longer
// than max_record_bytes, or whose length fails its checksum; UsageError for a
// compressed stream, which has no random access.
[[nodiscard]] FrameOffsets ScanFrames(const ByteSource& shard,
                                      std::int64_t max_record_bytes);

// Returns what a shard's index file says: FOLDER/.infeed/NAME.index, or the
// one in SideFolder(). nullopt when there is none, when it is damaged, or when
// it is not for a shard of this size and modification time.
[[nodiscard]] std::optional<FrameOffsets> FindIndex(const ByteSource& shard);

// The same, whatever state of the shard it is for: after damage the index from
// before says what stood where.
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
std::string SaveIndex(const ByteSource& shard, const FrameOffsets& offsets);

// The same into FOLDER/.infeed/NAME.index, of an object in its store: whoever
// reads it there needs no pass over its frames. Throws IoError.
void PublishIndex(const ByteSource& shard, const FrameOffsets& offsets);

}  // namespace infeed
