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

// Files in which JPEGs are found, and how large they are together.
struct JpegFiles {
  struct File {
    std::string path;
    bool is_shard = false;  // else it is one JPEG
  };
  std::vector<File> files;  // sorted by path
  std::int64_t bytes = 0;
};

// Finds JPEGs in what a user names: a folder, with all folders in it, of JPEG
// files (by extension, whatever they hold) and shards; or one such file; or
// shards as ListShards() takes them. Throws IoError for what is missing, and
// UsageError where there is no such file.
[[nodiscard]] JpegFiles FindJpegFiles(const std::string& spec);

// A JPEG, or what is named so.
struct FoundJpeg {
  std::string name;         // "PATH" or "SHARD: record N"
  std::int64_t number = 0;  // of the source, from 0
  std::string bytes;
};

// Hands out one JPEG after the other. Records that hold another format or
// packed pixels are passed over.
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
  std::unique_ptr<TfrecordReader> shard_;  // that is being read
};

}  // namespace infeed
