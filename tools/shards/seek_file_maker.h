#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "records/bytes/byte_source.h"
#include "records/example/imagenet_example.h"
#include "records/store/record_index.h"
#include "tools/shards/seek_index_maker.h"

// Makes the seek files beside shards and image folders
// (records/store/seek_file.h).
namespace infeed {

struct SeekFileOptions {
  SeekEntries entries = SeekEntries::kRows;  // not kNone
  std::string image_key{kImageKey};          // of the JPEGs
  bool force = false;                        // replace a valid file
  bool dry_run = false;                      // write nothing
  // Called before each record; may throw, which ends the work.
  std::function<void()> on_record = [] {};
};

struct MadeSeekFile {
  bool was_there = false;    // a valid one existed and was kept
  std::string path = {};     // written; empty: none
  std::int64_t indexed = 0;  // records with an entry in the file
  std::int64_t own = 0;      // records with an index of their own
};

// Makes a shard's seek file unless a valid one exists. A damaged record, or one
// without a JPEG that can have an index, gets an empty entry. Throws IoError.
[[nodiscard]] MadeSeekFile MakeSeekFile(const ByteSource& shard,
                                        const SeekFileOptions& options);

// Makes the one seek file of an image folder. Requires: images.kept_root() is
// not empty.
[[nodiscard]] MadeSeekFile MakeSeekFileOfImages(const RecordIndex& images,
                                                const SeekFileOptions& options);

}  // namespace infeed
