#include "records/store/seek_store.h"

#include "base/error.h"
#include "records/tfrecord/format.h"

namespace infeed {

SeekStore::SeekStore(const RecordIndex& index, std::size_t max_open)
    : index_(index), max_open_(max_open), places_(index.shards().size()) {
  Check(max_open > 0, "a file can be open");
}

std::span<const std::byte> SeekStore::Read(
    std::int64_t record, std::vector<std::byte>& buffer) const {
  if (index_.is_of_images()) {
    return {};
  }
  const RecordLocation location = index_.at(record);
  const std::shared_ptr<const SeekFile> file = Open(location, record);
  return file ? file->Read(location.number, LongestSeekIndex(location.length),
                           buffer)
              : std::span<const std::byte>();
}

std::shared_ptr<const SeekFile> SeekStore::Open(const RecordLocation& location,
                                                std::int64_t record) const {
  const auto shard = static_cast<std::size_t>(location.shard);
  {
    const std::lock_guard lock(mutex_);
    const Place& place = places_[shard];
    if (place.is_missing || place.file) {
      return place.file;
    }
  }
  // Opened without the lock, so that other threads can read meanwhile. Two
  // threads may open the same file at once; the first one's file is kept.
  const std::int64_t records = index_.shard_size(shard);
  const RecordLocation last = index_.at(record - location.number + records - 1);
  const std::int64_t shard_size =
      last.offset + last.length + std::int64_t{kFrameOverheadBytes};
  std::shared_ptr<const SeekFile> file =
      SeekFile::Find(index_.shards()[shard], shard_size, records);
  const std::lock_guard lock(mutex_);
  Place& place = places_[shard];
  if (!place.file) {
    place.is_missing = file == nullptr;
    place.file = file;
    if (file) {
      open_.push_back(shard);
    }
    if (open_.size() > max_open_) {
      places_[open_.front()].file = nullptr;  // Closed by its last reader.
      open_.pop_front();
    }
  }
  return file;
}

}  // namespace infeed
