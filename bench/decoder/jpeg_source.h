#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "records/tfrecord/reader.h"

namespace infeed {

// Files that contain JPEGs, and their total size.
struct JpegFiles {
  struct File {
    std::string path;
    bool is_shard = false;  // else a JPEG file
  };
  std::vector<File> files;  // sorted by path
  std::int64_t bytes = 0;
};

// Finds JPEGs at a place that the user names: a folder, searched recursively
// for JPEG files (by extension, whatever their content) and shards; or one such
// file; or shards in a form that ListShards() accepts. Throws IoError for a
// missing file, and UsageError when nothing is found.
[[nodiscard]] JpegFiles FindJpegFiles(const std::string& spec);

// A JPEG, or a file with a JPEG's extension.
struct FoundJpeg {
  std::string name;         // "PATH" or "SHARD: record N"
  std::int64_t number = 0;  // in the source, from 0
  std::string bytes;
};

// Returns one JPEG after the other. Skips records that hold another format or
// packed pixels.
//
// Thread-safe. Throws IoError for a file that cannot be read, DataError for a
// shard that is damaged.
class JpegSource {
 public:
  // files must outlive the source.
  explicit JpegSource(const JpegFiles& files) : files_(files.files) {}

  // Returns nullopt at the end.
  [[nodiscard]] std::optional<FoundJpeg> Next();

 private:
  [[nodiscard]] std::optional<FoundJpeg> NextRecord(const std::string& path);

  const std::vector<JpegFiles::File>& files_;
  std::mutex mutex_;
  std::size_t next_file_ = 0;
  std::int64_t next_number_ = 0;
  std::unique_ptr<TfrecordReader> shard_;  // being read
};

}  // namespace infeed
