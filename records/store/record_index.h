#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "records/example/imagenet_example.h"
#include "records/tfrecord/compression.h"

namespace infeed {

// How records lie in a file.
enum class RecordFormat {
  kTfrecord,  // frames (tfrecord/format.h)
  kTar,       // a sample is consecutive members of one key (tar_samples.h)
  kTarTree,   // an image is a member (archive_images.h)
  kZip,       // an image is an entry (zip_entry.h)
  kImage      // the file is one image (image_record.h)
};

// Whether records are the images of an archive's folders, which are classes.
[[nodiscard]] constexpr bool IsArchiveTree(RecordFormat format) {
  return format == RecordFormat::kTarTree || format == RecordFormat::kZip;
}

// The split to take from a file, "": all; and the split that the names of the
// file and its folder say, "": none, so it is train. The folders of a tree in
// an archive say more than its name. Files of TFRecords are taken whole.
struct ShardSplit {
  std::string wanted = {};
  std::string said = {};
};

// The location of one record: of its frame, its members in a tar, its entry in
// a zip, or of an image file.
struct RecordLocation {
  std::int32_t shard = 0;   // index into RecordIndex::shards()
  std::int64_t number = 0;  // from 0 within the shard
  // The first byte's; in the unpacked bytes if the shard is compressed.
  std::int64_t offset = 0;
  std::int64_t length = 0;    // without the overhead
  std::int64_t overhead = 0;  // of a TFRecord its frame's; else none

  [[nodiscard]] std::int64_t end() const { return offset + length + overhead; }
};

struct RecordIndexOptions {
  // Whether index files are read and written beside the shards.
  bool use_cache = true;
  // A longer record is a DataError.
  std::int64_t max_record_bytes = std::int64_t{1} << 30;
  std::vector<ShardSplit> splits = {};  // of each shard; empty: all of each
  std::vector<std::string> other_files = {};  // RecordIndex::other_files()
};

// An image file and its label.
struct LabelledImage {
  std::string path;
  std::int64_t label = kNoLabel;  // from 1, as image/class/label
  std::int64_t bytes = -1;        // its size; -1: not known yet
};

// Properties of image files that are one data set.
struct ImageFolderInfo {
  std::vector<std::string> classes = {};  // class i has the label i + 1
  // The folder, beside which found seek indexes are kept; "": they are not.
  std::string kept_root = {};
  std::vector<std::string> notes = {};  // RecordIndex::notes()
  std::set<std::string> splits = {};    // RecordIndex::splits()
};

// The records of a list of shards and their locations, for random access, a
// global shuffle and an exact resume. A shard is a file of TFRecords, a tar of
// samples (archives/tar_samples.h) or a zip of images, detected by content. An
// index is built by one pass over the headers (payloads are skipped, their
// checksums not read) and kept in SideFolder(), one file a shard, for the same
// size and modification time. A compressed shard is unpacked once for it.
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
  // written beside the files. Requires: at least one file. Throws UsageError if
  // one of them is a folder.
  [[nodiscard]] static RecordIndex OfImages(std::vector<LabelledImage> files,
                                            const ImageFolderInfo& info = {});

  [[nodiscard]] bool is_of_images() const {
    return !shards_of_.empty() && format(0) == RecordFormat::kImage;
  }
  // Whether a shard's labels are in its records, tf.train.Examples; those of
  // other formats are known to the index.
  [[nodiscard]] bool holds_examples(std::size_t shard) const {
    return format(shard) == RecordFormat::kTfrecord;
  }
  // A record's label; kNoLabel if it has none. Requires: its shard does not
  // hold Examples.
  [[nodiscard]] std::int64_t label(std::int64_t record) const {
    return labels_[static_cast<std::size_t>(record)];
  }
  // The names of the classes of image folders, and of archives of such, sorted;
  // else empty. Class i has the label i + 1.
  [[nodiscard]] const std::vector<std::string>& class_names() const {
    return classes_;
  }
  // Readable names of classes, by class, from archives of image folders.
  [[nodiscard]] const std::map<std::string, std::string>& class_texts() const {
    return class_texts_;
  }
  // ImageFolderInfo::kept_root.
  [[nodiscard]] const std::string& kept_root() const { return kept_root_; }
  // Sentences on what was left out, for the user.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  // The splits of its records, as the names of files and folders say; no word
  // is train.
  [[nodiscard]] const std::set<std::string>& splits() const { return splits_; }
  // Files that the user named as of the same data set, also of other splits.
  [[nodiscard]] const std::vector<std::string>& other_files() const {
    return other_files_;
  }

  // RecordIndexOptions::use_cache.
  [[nodiscard]] bool uses_cache() const { return uses_cache_; }

  // Records in all shards.
  [[nodiscard]] std::int64_t size() const { return starts_.back(); }
  // Requires: 0 <= record < size().
  [[nodiscard]] RecordLocation at(std::int64_t record) const;
  [[nodiscard]] const std::vector<std::string>& shards() const {
    return shards_;
  }
  [[nodiscard]] const std::string& shard_of(
      const RecordLocation& location) const {
    return shards_[static_cast<std::size_t>(location.shard)];
  }
  [[nodiscard]] std::int64_t shard_size(std::size_t shard) const {
    return starts_[shard + 1] - starts_[shard];
  }
  // The compression of a whole shard; a compressed one has no random access.
  [[nodiscard]] Compression compression(std::size_t shard) const {
    return shards_of_[shard].compression;
  }
  [[nodiscard]] RecordFormat format(std::size_t shard) const {
    return shards_of_[shard].format;
  }
  // The size of a shard's file, and its ByteSource::version(), when it was
  // indexed. The latter requires that it is no image file.
  [[nodiscard]] std::int64_t shard_bytes(std::size_t shard) const {
    return shards_of_[shard].bytes;
  }
  [[nodiscard]] std::int64_t shard_version(std::size_t shard) const {
    return shards_of_[shard].version;
  }
  [[nodiscard]] bool any_compressed() const;
  [[nodiscard]] bool any_examples() const;  // also true without shards
  // The longest payload, 0 when there is no record.
  [[nodiscard]] std::int64_t max_length() const { return max_length_; }
  // Identifies the data: a hash of the shards' base names and of all offsets
  // and lengths, in hex.
  [[nodiscard]] std::string identity() const;
  // The same of one shard, in eight digits.
  [[nodiscard]] std::string shard_identity(std::size_t shard) const;
  // Also identifies the labels that are not in the records, as those of image
  // folders: equal to identity() if there are none.
  [[nodiscard]] std::string identity_with_labels() const;

 private:
  std::vector<std::string> shards_;
  std::vector<std::string> other_files_;
  bool uses_cache_ = true;
  struct Shard {
    RecordFormat format = RecordFormat::kTfrecord;
    Compression compression = Compression::kNone;
    std::int64_t bytes = 0;
    std::int64_t version = 0;
  };
  std::vector<Shard> shards_of_;       // one for each of shards_
  std::vector<std::int64_t> starts_;   // first record of each shard, and size()
  std::vector<std::int64_t> offsets_;  // of each record
  std::vector<std::int64_t> lengths_;
  std::vector<std::int64_t> labels_;  // of each record, or empty
  std::vector<std::string> classes_;
  std::map<std::string, std::string> class_texts_;
  std::string kept_root_;
  std::vector<std::string> notes_;
  std::set<std::string> splits_;
  std::int64_t max_length_ = 0;
};

}  // namespace infeed
