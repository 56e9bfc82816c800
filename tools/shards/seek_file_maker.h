#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "records/bytes/byte_source.h"
#include "records/tfrecord/index_file.h"
#include "tools/shards/seek_index_maker.h"

namespace infeed {

// The result of making a shard's seek file (records/store/seek_file.h).
struct MadeSeekFile {
  bool was_there = false;    // a valid one existed and was kept
  std::string path;          // written; empty: none
  std::int64_t indexed = 0;  // records with an entry in the file
  std::int64_t own = 0;      // records with an index of their own
};

struct SeekFileOptions {
  SeekEntries entries = SeekEntries::kNone;  // of each index; not kNone
  bool force = false;                        // replace even a valid file
  bool dry_run = false;                      // write nothing
  std::function<void()> on_record = [] {};   // may throw, which ends the work
};

// Makes the file unless a valid one exists. A damaged record, or one without a
// JPEG that can have an index, gets an empty entry. Throws IoError.
[[nodiscard]] MadeSeekFile MakeSeekFile(const ByteSource& shard,
                                        const FrameOffsets& offsets,
                                        const SeekFileOptions& options);

}  // namespace infeed
