#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "records/bytes/byte_source.h"
#include "records/tfrecord/index_file.h"
#include "tools/shards/seek_index_maker.h"

namespace infeed {

// What became of the seek file of a shard (records/store/seek_file.h).
struct MadeSeekFile {
  bool was_there = false;    // one that fits, and stayed
  std::string path;          // written; empty: none was
  std::int64_t indexed = 0;  // records that have an entry in it
  std::int64_t own = 0;      // that hold an index themselves, and need none
};

struct SeekFileOptions {
  SeekEntries entries = SeekEntries::kNone;  // of each index; not kNone
  bool force = false;    // make the file anew even when it is there and fits
  bool dry_run = false;  // write nothing
  std::function<void()> on_record = [] {};  // may throw, which ends it
};

// Makes the file unless it is there. A record that is damaged, or has no JPEG
// that can have an index, has an empty entry. Throws IoError.
[[nodiscard]] MadeSeekFile MakeSeekFile(const ByteSource& shard,
                                        const FrameOffsets& offsets,
                                        const SeekFileOptions& options);

}  // namespace infeed
