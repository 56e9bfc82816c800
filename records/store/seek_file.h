#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "records/bytes/byte_sink.h"
#include "records/bytes/byte_source.h"
#include "records/bytes/mapped_file.h"
#include "records/example/imagenet_example.h"
#include "records/store/record_index.h"

// Stores the seek indexes of a shard in a side file, without changing the
// shard: FOLDER/.infeed/NAME.seek, or, if that is not writable, a file in the
// user's cache; one for each key of the JPEGs. docs/formats.md has the format.
namespace infeed {

// The version of the shard that a seek file belongs to, and its contents.
struct SeekFileInfo {
  std::int64_t shard_size = 0;     // bytes
  std::int64_t shard_version = 0;  // ByteSource::version()
  std::int64_t records = 0;        // one entry each
  // MCUs between entries; 0: a row; kFoundRun: rows, of the JPEGs that were
  // decoded so far (AddToSeekFile()).
  int run = 0;

  friend bool operator==(const SeekFileInfo&, const SeekFileInfo&) = default;
};

inline constexpr int kFoundRun = -1;

// Reads one file's entries by record: from a mapping, or, where the file cannot
// be mapped, by two reads an entry. Holds no table in memory of its own. Const
// members may be called from several threads at once.
class SeekFile {
 public:
  // Returns the seek file for a shard of that size and, if known, that number
  // of records; null when there is none or it is damaged. The shard's version
  // may differ: each entry identifies its JPEG.
  [[nodiscard]] static std::unique_ptr<const SeekFile> Find(
      const std::string& shard, std::int64_t shard_size,
      std::optional<std::int64_t> records = {},
      std::string_view image_key = kImageKey);

  // The same for a shard of an index. The files of an image folder have one
  // seek file together, whatever the shard.
  [[nodiscard]] static std::unique_ptr<const SeekFile> Find(
      const RecordIndex& index, std::size_t shard,
      std::string_view image_key = kImageKey);

  [[nodiscard]] const SeekFileInfo& info() const { return info_; }
  // Its size in bytes.
  [[nodiscard]] std::int64_t size() const { return source_->size(); }

  // Returns a record's sealed index (seek_feature.h), a view into buffer, which
  // grows as needed; empty if the record has none, or one longer than
  // max_bytes, or the file cannot be read there. Requires: 0 <= record <
  // info().records.
  [[nodiscard]] std::span<const std::byte> Read(
      std::int64_t record, std::int64_t max_bytes,
      std::vector<std::byte>& buffer) const;

 private:
  SeekFile(std::unique_ptr<ByteSource> source, const SeekFileInfo& info);
  // The largest good file that fits; null: none.
  static std::unique_ptr<const SeekFile> Largest(
      const std::vector<std::string>& paths,
      const std::function<bool(const SeekFileInfo&)>& fits);
  static std::optional<SeekFile> Open(const std::string& path);
  // False: the file has no such bytes any more.
  [[nodiscard]] bool ReadAt(std::int64_t offset,
                            std::span<std::byte> destination) const;

  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<const MappedFile> mapped_;  // null: it is read
  SeekFileInfo info_;
  std::int64_t table_ = 0;  // its offset
};

// Writes the file of a shard, entry by entry; the file appears, complete, at
// Close(), or not at all. One thread at a time. Throws IoError.
class SeekFileWriter {
 public:
  SeekFileWriter(const ByteSource& shard, int run,
                 std::string_view image_key = kImageKey);
  // The file of an image folder's index. Requires: images.kept_root() is not
  // empty.
  SeekFileWriter(const RecordIndex& images, int run);
  // A file of that path. info.records is ignored.
  SeekFileWriter(std::string path, const SeekFileInfo& info);

  // Appends the next record's sealed index; empty: the record has none.
  void Append(std::string_view sealed);
  // Requires: called once, last.
  void Close();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  SeekFileInfo info_;
  std::unique_ptr<ByteSink> sink_;
  std::vector<std::int64_t> offsets_;  // of the entries
};

// A seek index to be added to a file.
struct AddedSeekIndex {
  std::string sealed = {};  // seek_feature.h; empty: none
  bool replaces = false;    // also a longer index in the file
};

// Adds indexes to the seek file of a shard, or of all images of a folder, which
// is made if there is none; found(number) returns the one of a record of the
// shard. The longer of an added index and the one in the file is kept, so that
// several programs can add theirs: one writes at a time, the others wait. The
// file is replaced whole; an image folder's is in the user's cache. Does
// nothing if the shard has changed since it was indexed. Throws IoError.
void AddToSeekFile(
    const RecordIndex& index, std::size_t shard, std::string_view image_key,
    const std::function<AddedSeekIndex(std::int64_t number)>& found);

// Limit in bytes of the seek index of a record's JPEG, so that a damaged file
// cannot cause large allocations. An index with every 4th MCU takes a third of
// it.
[[nodiscard]] constexpr std::int64_t LongestSeekIndex(
    std::int64_t payload_bytes) {
  return payload_bytes / 8 + 4096;
}

// The seek indexes in files beside an indexed set of shards, for records
// without their own. A shard's file is looked up when the first of its records
// is requested; at most max_open files are open at once. The files of an image
// folder have one seek file together.
//
// The index must outlive the store. Thread-safe. Does not fail: an unreadable
// index counts as absent.
class SeekStore {
 public:
  static constexpr std::size_t kMaxOpen = 256;

  // Requires: max_open > 0.
  explicit SeekStore(const RecordIndex& index, std::size_t max_open = kMaxOpen,
                     std::string_view image_key = kImageKey);

  // Returns a record's sealed index (seek_feature.h), a view into buffer, which
  // grows as needed; empty if there is none. Requires: 0 <= record <
  // index.size().
  [[nodiscard]] std::span<const std::byte> Read(
      std::int64_t record, std::vector<std::byte>& buffer) const;

  // The number of files that it may have: one for each shard, or one for all
  // images of a folder.
  [[nodiscard]] std::size_t place_count() const { return places_.size(); }
  // Looks for a place's file again, as it has been replaced.
  void Reopen(std::size_t place);

 private:
  struct Place {
    bool is_missing = false;               // looked up and not found
    std::shared_ptr<const SeekFile> file;  // while it is open
  };
  [[nodiscard]] std::shared_ptr<const SeekFile> Open(std::size_t place) const;

  const RecordIndex& index_;
  std::size_t max_open_;
  std::string image_key_;
  mutable std::mutex mutex_;
  mutable std::vector<Place> places_;     // one a shard; one for all images
  mutable std::deque<std::size_t> open_;  // places, in the order of opening
};

}  // namespace infeed
