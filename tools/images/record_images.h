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

// What a conversion must know of a record's image before it begins.
struct ListedRecord {
  // The image's name within its shard: of a tar's member with its folders, of a
  // zip's file with its class, of a TFRecord image/filename; where a record has
  // none, its number.
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
  // given: keys of the user (FindKeys()).
  explicit RecordImages(RecordIndex index, const RecordKeys& given = {});

  // Reads every record once, with several threads (0: one per core), and
  // returns them in the order of the index. Calls on_records(number of records
  // read so far), one call at a time; an exception ends the pass.
  [[nodiscard]] std::vector<ListedRecord> List(
      int threads, const std::function<void(std::int64_t)>& on_records);

  // Returns the bytes of a record's image as they are stored. Throws DataError
  // for a bad record, and for one that was bad when it was listed.
  [[nodiscard]] std::string Read(std::int64_t record) const;

  // Why a record without a label has none, for messages. Throws as Read().
  [[nodiscard]] std::string WhyNoLabel(std::int64_t record) const;

  // Announces that Read() will be called soon. Never fails.
  void WillRead(std::int64_t record) const;

  // The version of the file that holds a record; it changes with the file, and
  // with a key of the user for the image.
  [[nodiscard]] std::int64_t VersionOf(std::int64_t record) const;

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
  [[nodiscard]] const std::string& ShardOf(std::int64_t record) const;
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
