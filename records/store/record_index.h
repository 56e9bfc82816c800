#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "records/tfrecord/compression.h"

namespace infeed {

// The location of one record's frame.
struct RecordLocation {
  std::int32_t shard = 0;   // index into RecordIndex::shards()
  std::int64_t number = 0;  // from 0 within the shard
  // Of the frame's first byte; in the unpacked bytes if the shard is
  // compressed.
  std::int64_t offset = 0;
  std::int64_t length = 0;  // of the payload, without the frame's 16 bytes
};

struct RecordIndexOptions {
  // Whether index files are read and written beside the shards.
  bool use_cache = true;
  // A longer record is a DataError.
  std::int64_t max_record_bytes = std::int64_t{1} << 30;
};

// An image file and its label.
struct LabelledImage {
  std::string path;
  std::int64_t label = -1;  // from 1, as image/class/label; -1: not known
};

// The records of a list of shards and their locations, for random access, a
// global shuffle and an exact resume. Built by one pass over the frame headers
// (payloads are skipped, their checksums not read) and kept in SideFolder(),
// one file a shard, tied to the shard's size and modification time; a file that
// does not match is built again. A compressed shard is unpacked once for its
// index file.
//
// Const members may be called from several threads at once; others need one
// thread at a time. The constructor throws IoError, and DataError for a frame
// that is cut short or whose length fails its checksum.
class RecordIndex {
 public:
  explicit RecordIndex(std::vector<std::string> shards,
                       const RecordIndexOptions& options = {});

  // An index of image files, in the order given: each file acts as a shard of
  // one record, the Example that a converter would make of it. A file that
  // cannot be read is a bad record, detected when it is read. Nothing is
  // written beside the files. Requires: at least one file.
  [[nodiscard]] static RecordIndex OfImages(
      const std::vector<LabelledImage>& files);

  // Whether the index is of image files, and, if so, the label of one.
  [[nodiscard]] bool is_of_images() const { return !image_labels_.empty(); }
  [[nodiscard]] std::int64_t image_label(std::int64_t record) const {
    return image_labels_[static_cast<std::size_t>(record)];
  }

  // RecordIndexOptions::use_cache: whether other side files may be written,
  // too.
  [[nodiscard]] bool uses_cache() const { return uses_cache_; }

  // Records in all shards.
  [[nodiscard]] std::int64_t size() const { return starts_.back(); }
  // Requires: 0 <= record < size().
  [[nodiscard]] RecordLocation at(std::int64_t record) const;
  [[nodiscard]] const std::vector<std::string>& shards() const {
    return shards_;
  }
  // Records in one shard.
  [[nodiscard]] std::int64_t shard_size(std::size_t shard) const {
    return starts_[shard + 1] - starts_[shard];
  }
  // The compression of a whole shard; a compressed one has no random access.
  [[nodiscard]] Compression compression(std::size_t shard) const {
    return compressions_[shard];
  }
  [[nodiscard]] bool any_compressed() const;
  // The longest payload, 0 when there is no record.
  [[nodiscard]] std::int64_t max_length() const { return max_length_; }
  // Identifies the data: a hash of the shards' base names and of all offsets
  // and lengths, in hex.
  [[nodiscard]] std::string identity() const;

 private:
  std::vector<std::string> shards_;
  bool uses_cache_ = true;
  std::vector<Compression> compressions_;
  std::vector<std::int64_t> starts_;   // first record of each shard, and size()
  std::vector<std::int64_t> offsets_;  // of each record
  std::vector<std::int64_t> lengths_;
  std::vector<std::int64_t> image_labels_;
  std::int64_t max_length_ = 0;
};

}  // namespace infeed
