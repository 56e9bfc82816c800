#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "records/tfrecord/compression.h"

namespace infeed {

// Where one record's frame lies.
struct RecordLocation {
  std::int32_t shard = 0;   // index into RecordIndex::shards()
  std::int64_t number = 0;  // from 0 within the shard
  // Of the frame's first byte, in the unpacked bytes of a compressed shard.
  std::int64_t offset = 0;
  std::int64_t length = 0;  // of the payload, without the frame's 16 bytes
};

struct RecordIndexOptions {
  // Whether index files are read and written beside the shards.
  bool use_cache = true;
  // A longer record is a DataError.
  std::int64_t max_record_bytes = std::int64_t{1} << 30;
};

// An image as a file of its own.
struct LabelledImage {
  std::string path;
  std::int64_t label = -1;  // from 1, as image/class/label; -1: not known
};

// Which records a list of shards holds and where: what makes random access,
// a global shuffle and an exact resume possible. Built by one pass over the
// frame headers (payloads are skipped, their checksums not read) and kept in
// SideFolder(), one file a shard, tied to the shard's size and modification
// time; a file that does not fit is built anew. A compressed shard is unpacked
// for it, once.
//
// Const members may be called from several threads at once; others need one
// thread at a time. The constructor throws IoError, and DataError for a frame
// that is cut short or whose length fails its checksum.
class RecordIndex {
 public:
  explicit RecordIndex(std::vector<std::string> shards,
                       const RecordIndexOptions& options = {});

  // Has each image file stand for a shard of one record, the Example that a
  // converter would make of it, in the order given: what is read from shards is
  // so read from files. A file that cannot be read is a bad record, found when
  // it is read. Nothing is written beside the files. Requires: there is one.
  [[nodiscard]] static RecordIndex OfImages(
      const std::vector<LabelledImage>& files);

  // Whether it is of image files; then the label of one.
  [[nodiscard]] bool is_of_images() const { return !image_labels_.empty(); }
  [[nodiscard]] std::int64_t image_label(std::int64_t record) const {
    return image_labels_[static_cast<std::size_t>(record)];
  }

  // RecordIndexOptions::use_cache: whether other side files may be kept, too.
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
  // How a shard is packed as a whole: if it is, it has no random access.
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
