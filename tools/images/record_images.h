#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "records/store/image_tree.h"
#include "records/store/key_guess.h"
#include "records/store/record_index.h"
#include "records/store/record_store.h"

namespace infeed {

// Facts about a record's image that a conversion needs before it begins.
struct ListedRecord {
  // The image's name within its shard: the tar member's name with folders; the
  // zip file's name with its class; image/filename of a TFRecord; else the
  // record's number.
  std::string name;
  std::int64_t label = kNoLabel;  // as stored
  std::int64_t bytes = 0;         // of the image; 0 if it is bad
  bool is_bad = false;            // Read() will throw its DataError
};

// The images in the records of an index: TFRecords that others made, tars, zips
// (RecordStore).
//
// Const members may be called from several threads at once; others need one
// thread at a time. Throws IoError.
class RecordImages {
 public:
  // given: the user's keys (FindKeys()).
  explicit RecordImages(RecordIndex index, const RecordKeys& given = {});

  // Reads every record once, with several threads (0: one per core), and
  // returns them in the order of the index. Calls on_records(number of records
  // read so far), one call at a time; an exception ends the pass.
  [[nodiscard]] std::vector<ListedRecord> List(
      int threads, const std::function<void(std::int64_t)>& on_records);

  // Returns the bytes of a record's image as they are stored. Throws DataError
  // for a bad record, and for one that was bad when it was listed.
  [[nodiscard]] std::string Read(std::int64_t record) const;

  // The reason why a record has no label, for messages. Throws as Read().
  [[nodiscard]] std::string WhyNoLabel(std::int64_t record) const;

  // Announces that Read() will be called soon. Never fails.
  void WillRead(std::int64_t record) const {
    store_.WillRead(std::span(&record, 1));
  }

  // The version of a record's file; it changes with the file, and with the
  // user's key for the image.
  [[nodiscard]] std::int64_t VersionOf(std::int64_t record) const {
    return versions_[static_cast<std::size_t>(index_.at(record).shard)];
  }

  // "SHARD#NAME", the path of a record's image.
  [[nodiscard]] std::string PathOf(std::int64_t record,
                                   const std::string& name) const;
  // The NAME in an image's path, and the bytes of the path before the shard's
  // base name.
  [[nodiscard]] std::string NameIn(const ImageFile& image) const;
  [[nodiscard]] std::size_t FolderLength(const ImageFile& image) const;

  [[nodiscard]] const RecordIndex& index() const { return index_; }
  [[nodiscard]] const RecordKeys& keys() const { return keys_; }

 private:
  [[nodiscard]] const std::string& ShardOf(std::int64_t record) const {
    return index_.shards()[static_cast<std::size_t>(index_.at(record).shard)];
  }
  [[nodiscard]] ListedRecord Describe(std::int64_t record,
                                      std::span<const std::byte> payload) const;
  [[nodiscard]] std::string NumberOf(std::int64_t record) const;
  [[nodiscard]] ListedRecord DescribeBad(std::int64_t record) const;

  const RecordIndex index_;
  const RecordKeys keys_;
  const RecordStore store_;
  std::vector<std::int64_t> versions_;       // of each shard
  std::map<std::int64_t, std::string> bad_;  // reasons, by record
};

}  // namespace infeed
